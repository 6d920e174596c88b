#include "dlc/ir/Collective.h"
#include "dlc/passes/Passes.h"

// Before:  module { … }
// After:   module { dl.mesh @mesh ["data" = 4] … }       // --dl-set-mesh=axes=data=4

namespace dlc::passes {
#define GEN_PASS_DEF_SETMESHPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

struct SetMeshPass : passes::impl::SetMeshPassBase<SetMeshPass> {
  using SetMeshPassBase::SetMeshPassBase;

  void runOnOperation() override {
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    SmallVector<StringRef> list;
    SmallVector<Attribute> names;
    SmallVector<int64_t> sizes;
    for (const std::string &item : axes) {
      auto [name, size] = StringRef(item).split('=');
      names.push_back(builder.getStringAttr(name));
      if (name.empty() || size.getAsInteger(10, sizes.emplace_back())) {
        getOperation().emitError("expects axes as data=4,model=2, got '") << item << "'";
        return signalPassFailure();
      }
    }
    if (names.empty())
      return;
    ArrayAttr axisNames = builder.getArrayAttr(names);
    if (dl::MeshOp mesh = dl::MeshOp::find(getOperation())) {
      if (mesh.getAxisNames() == axisNames && mesh.getAxisSizes() == ArrayRef(sizes))
        return;
      auto error = mesh.emitError("expects the mesh that was asked for, got another one; wanted ");
      llvm::interleaveComma(axes, error);
      return signalPassFailure();
    }
    SymbolTable symbols(getOperation());
    auto mesh = dl::MeshOp::create(builder, getOperation().getLoc(), "mesh", axisNames, sizes);
    symbols.insert(mesh, getOperation().getBody()->begin());
  }
};

} // namespace
