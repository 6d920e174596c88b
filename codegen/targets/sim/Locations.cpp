#include "targets/sim/Locations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"

using namespace mlir;

static FileLineColLoc lineOf(Location location) {
  FileLineColLoc found;
  location->walk([&](Location part) {
    found = dyn_cast<FileLineColLoc>(part);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

static LLVM::DIFileAttr fileOf(MLIRContext *context, FileLineColLoc line) {
  return LLVM::DIFileAttr::get(context, line ? line.getFilename().getValue() : "<unknown>", "");
}

void dlc::codegen::keepLocations(gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  auto distinct = [&] { return DistinctAttr::create(UnitAttr::get(context)); };
  auto unit = LLVM::DICompileUnitAttr::get(distinct(), llvm::dwarf::DW_LANG_C, fileOf(context, lineOf(module.getLoc())),
                                           StringAttr::get(context, "dlc"), /*isOptimized=*/true,
                                           LLVM::DIEmissionKind::LineTablesOnly);
  auto type = LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {});
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    FileLineColLoc line = lineOf(function.getLoc());
    LLVM::DIFileAttr file = fileOf(context, line);
    unsigned number = line ? line.getLine() : 0;
    auto scope = LLVM::DISubprogramAttr::get(
        context, distinct(), unit, file, function.getSymNameAttr(), function.getSymNameAttr(), file, number, number,
        LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized, type, {}, {});
    function->setLoc(FusedLoc::get(context, {function.getLoc()}, scope));
    function.getBody().walk([&](Operation *op) {
      FileLineColLoc at = lineOf(op->getLoc());
      if (!at)
        return;
      op->setLoc(at);
      if (!line || at.getFilename() != line.getFilename())
        op->setLoc(
            FusedLoc::get(context, {at}, LLVM::DILexicalBlockFileAttr::get(context, scope, fileOf(context, at), 0)));
    });
  }
}
