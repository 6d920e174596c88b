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

inline constexpr const char kManifestSymbol[] = "dlc_manifest", kInitialSymbol[] = "dlc_initial";

/// A relocatable ELF object with that section and nothing else.
void writeDataObject(llvm::raw_ostream &out, const DataSection &section);

/// What `dlc_image_v1` of an image returns (runtime/Abi.h).
struct ImageTable {
  std::vector<std::string> entrySymbols; ///< by index of the manifest's "entries"
  uint64_t manifestBytes = 0;            ///< at `kManifestSymbol`
  uint64_t initialBytes = 0;             ///< at `kInitialSymbol`; 0: there is none
};

/// The object that defines `dlc_image_v1`; for an artifact and for JitCode alike.
StatusOr<std::string> emitImageObject(const ImageTable &table, const CpuTarget &target);

} // namespace dlc::codegen
