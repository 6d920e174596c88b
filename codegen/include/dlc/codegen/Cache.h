#pragma once

#include "dlc/codegen/CompileModule.h"

namespace dlc::codegen {

/// The module's executable: from `folder` if it has been compiled before by the same compiler for the same processor,
/// else compiled (in place, as compileModule does) and kept there. One process compiles, others that want the same
/// meanwhile wait for it. The folder is made if need be; it must belong to this user and let nobody else write, since
/// what is in it runs.
StatusOr<std::shared_ptr<const Executable>> loadCached(mlir::ModuleOp module, const CompileOptions &options,
                                                       const std::string &folder);

} // namespace dlc::codegen
