#pragma once

#include "dlc/runtime/Manifest.h"

#include "mlir/IR/BuiltinOps.h"

namespace dlc::codegen {

/// The runtime's name of an element type.
DType dtypeOf(mlir::Type element);

/// Adds to the manifest, whose entries are there already, the mesh of an outlined module, its collectives, the wholes
/// its arguments and results are parts of, and the fingerprint. Nothing for a module without a mesh.
void describeMesh(mlir::ModuleOp module, Manifest &manifest);

} // namespace dlc::codegen
