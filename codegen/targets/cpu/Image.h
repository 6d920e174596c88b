#pragma once

#include "dlc/runtime/Status.h"
#include "targets/cpu/CpuTarget.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace dlc::codegen {

/// Bytes that become a section of an image, aligned to 64.
struct DataSection {
  std::string name;      ///< ".dlc.const", …
  std::string symbol;    ///< hidden symbol of the first byte, for code to refer to; empty: none
  llvm::StringRef bytes; ///< not copied
  bool mapped = true;    ///< false: only in the file, never in memory (".dlc.module")
};

/// The one function an image exports, a DlcImageFunction.
inline constexpr const char kImageSymbol[] = "dlc_image_v1";
inline constexpr const char kManifestSymbol[] = "dlc_manifest", kInitialSymbol[] = "dlc_initial";
/// Where kernels for the simulated device find their services: a `const DlcSimApi *`.
inline constexpr const char kSimApiSymbol[] = "dlc_sim_api";

/// Kernels for one kind of device, a section of the image.
struct DeviceCode {
  std::string target, format; ///< "sm_90"; "ptx" or "cubin"
  std::string bytes;
  /// ".dlc.gpu.sm_90.ptx", and the symbol of its first byte.
  std::string section() const { return ".dlc.gpu." + target + "." + format; }
  std::string symbol() const { return "dlc_gpu_" + target + "_" + format; }
};

/// A relocatable ELF object with that section and nothing else.
void writeDataObject(llvm::raw_ostream &out, const DataSection &section);

/// What `kImageSymbol` of an image returns (runtime/Abi.h).
struct ImageTable {
  std::vector<std::string> entrySymbols;       ///< by index of the manifest's "entries"; empty: not for the cpu
  uint64_t manifestBytes = 0;                  ///< at `kManifestSymbol`
  uint64_t initialBytes = 0;                   ///< at `kInitialSymbol`; 0: there is none
  std::vector<std::string> deviceEntrySymbols; ///< likewise, for devices with kernels of their own
  std::vector<std::string> simKernelSymbols;   ///< by index of the manifest's "kernels"
  llvm::ArrayRef<DeviceCode> deviceCode;
};

/// The object that defines `kImageSymbol`; for an artifact and for JitCode alike.
StatusOr<std::string> emitImageObject(const ImageTable &table, const CpuTarget &target);

} // namespace dlc::codegen
