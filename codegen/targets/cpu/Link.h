#pragma once

#include "dlc/runtime/Status.h"
#include "targets/cpu/Image.h"

#include <string>
#include <vector>

namespace dlc::codegen {

/// The parts of an artifact.
struct LinkInput {
  std::vector<std::string> objects;
  std::vector<std::string> entrySymbols; ///< by index of the manifest's "entries"
  std::string manifest;                  ///< JSON, becomes ".dlc.manifest"
  llvm::StringRef initial;               ///< becomes ".dlc.init" when not empty; not copied
  std::vector<DataSection> sections;     ///< further ones: ".dlc.const", ".dlc.module"
};

/// Links a shared object that exports `dlc_image_v1` alone and needs nothing, by LLVM's ld.lld, and moves it to `path`
/// in one step: a failure leaves what was there.
Status linkArtifact(const LinkInput &input, const CpuTarget &target, const std::string &path);

} // namespace dlc::codegen
