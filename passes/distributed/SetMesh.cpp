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
    SmallVector<Attribute> names;
    SmallVector<int64_t> sizes;
    for (const std::string &item : axes) {
      FailureOr<std::pair<StringRef, int64_t>> axis = read(item);
      if (failed(axis))
        return signalPassFailure();
      names.push_back(builder.getStringAttr(axis->first));
      sizes.push_back(axis->second);
    }
    if (names.empty())
      return;
    SmallVector<int64_t> parts(leaves.empty() ? 0 : names.size(), 0);
    for (const std::string &item : leaves) {
      FailureOr<std::pair<StringRef, int64_t>> axis = read(item);
      if (failed(axis))
        return signalPassFailure();
      auto *name = llvm::find(names, builder.getStringAttr(axis->first));
      if (name == names.end()) {
        getOperation().emitError("expects leaves along an axis of the mesh, got '") << item << "'";
        return signalPassFailure();
      }
      parts[name - names.begin()] = axis->second;
    }
    ArrayAttr axisNames = builder.getArrayAttr(names);
    if (dl::MeshOp mesh = dl::MeshOp::find(getOperation())) {
      if (mesh.getAxisNames() == axisNames && mesh.getAxisSizes() == ArrayRef(sizes) &&
          mesh.getAxisLeaves() == ArrayRef(parts))
        return;
      auto error = mesh.emitError("expects the mesh that was asked for, got another one; wanted ");
      llvm::interleaveComma(axes, error);
      return signalPassFailure();
    }
    SymbolTable symbols(getOperation());
    auto mesh = dl::MeshOp::create(builder, getOperation().getLoc(), "mesh", axisNames, sizes, parts);
    symbols.insert(mesh, getOperation().getBody()->begin());
  }

  /// "data=4".
  FailureOr<std::pair<StringRef, int64_t>> read(StringRef item) {
    auto [name, number] = item.split('=');
    int64_t value;
    if (!name.empty() && !number.getAsInteger(10, value))
      return std::pair(name, value);
    return getOperation().emitError("expects axes as data=4,model=2, got '") << item << "'";
  }
};

} // namespace
