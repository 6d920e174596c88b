#pragma once

#include "dlc/runtime/Status.h"
#include "targets/cpu/Image.h"

#include <string>
#include <vector>

namespace dlc::codegen {

/// The parts of an artifact.
struct LinkInput {
  std::vector<std::string> objects;
  std::vector<std::string> entrySymbols;            ///< by index of the manifest's "entries"; empty: not for the cpu
  std::string manifest;                             ///< JSON, becomes ".dlc.manifest"
  llvm::StringRef initial;                          ///< becomes ".dlc.init" when not empty; not copied
  std::vector<DataSection> sections;                ///< further ones: ".dlc.const", ".dlc.module"
  std::vector<std::string> deviceEntrySymbols = {}; ///< by index of the manifest's "entries"
  std::vector<std::string> simKernelSymbols = {};   ///< by index of the manifest's "kernels"
  std::vector<DeviceCode> deviceCode = {};          ///< sections of their own
};

/// All objects of the image, for this process: the given ones, the table of `kImageSymbol`, and the data it points to.
StatusOr<std::vector<std::string>> imageObjects(const LinkInput &input, const CpuTarget &target);

/// Links a shared object that exports `kImageSymbol` alone and needs nothing, by LLVM's ld.lld, and moves it to `path`
/// in one step: a failure leaves what was there.
Status linkArtifact(const LinkInput &input, const CpuTarget &target, const std::string &path);

} // namespace dlc::codegen
