#include "dlc/ir/Program.h"
#include "dlc/ir/Storage.h"
#include "dlc/passes/Passes.h"
#include "llvm/ADT/MapVector.h"

// Before:  dl.variable @w : tensor<20xf32> role(parameter) init(#dl.zeros)
//          dl.variable @w.momentum : tensor<20xf32> role(optimizer_state) init(#dl.zeros)
// After:   dl.variable @w : … slot(#dl.slot<"parameter.f32", 0, 80>)
//          dl.variable @w.momentum : … slot(#dl.slot<"optimizer_state.momentum.f32", 0, 80>)

namespace dlc::passes {
#define GEN_PASS_DEF_LAYOUTSTATEPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

struct LayoutStatePass : passes::impl::LayoutStatePassBase<LayoutStatePass> {
  void runOnOperation() override {
    llvm::StringMap<int64_t> ends; // by arena: where the next slot starts
    SmallVector<dl::VariableOp> variables(getOperation().getOps<dl::VariableOp>());
    if (failed(keepGiven(variables, ends)))
      return signalPassFailure();
    SmallVector<std::pair<dl::VariableOp, std::pair<dl::VariableOp, StringRef>>> companions;
    for (dl::VariableOp variable : variables) {
      if (variable.getSlot())
        continue;
      if (auto companion = findParameter(variable); companion.first)
        companions.push_back({variable, companion});
      else
        place(variable, arenaName(variable), ends[arenaName(variable)]);
    }
    for (auto [variable, companion] : companions) {
      auto [parameter, kind] = companion;
      dl::SlotAttr slot = parameter.getSlotAttr();
      int64_t offset = slot.getOffset();
      place(variable, companionArena(variable, slot.getArena(), kind), offset);
    }
  }

  static LogicalResult keepGiven(ArrayRef<dl::VariableOp> variables, llvm::StringMap<int64_t> &ends) {
    llvm::StringMap<SmallVector<dl::VariableOp>> byArena;
    for (dl::VariableOp variable : variables) {
      dl::SlotAttr slot = variable.getSlotAttr();
      if (!slot)
        continue;
      int64_t bytes = dl::getStorageBytes(variable.getType());
      if (slot.getBytes() != bytes || slot.getOffset() % dl::slotAlignment || slot.getOffset() < 0)
        return variable.emitOpError("expects a slot of ")
               << bytes << " bytes at a multiple of " << dl::slotAlignment << ", got " << slot;
      byArena[slot.getArena()].push_back(variable);
      int64_t &end = ends[slot.getArena()];
      end = std::max<int64_t>(end, llvm::alignTo(slot.getOffset() + bytes, dl::slotAlignment));
    }
    for (auto &entry : byArena) {
      SmallVector<dl::VariableOp> &list = entry.second;
      llvm::sort(list, [](dl::VariableOp a, dl::VariableOp b) {
        return a.getSlotAttr().getOffset() < b.getSlotAttr().getOffset();
      });
      for (unsigned i = 1; i < list.size(); ++i) {
        dl::VariableOp a = list[i - 1], b = list[i];
        if (a.getSlotAttr().getOffset() + a.getSlotAttr().getBytes() > b.getSlotAttr().getOffset())
          return b.emitOpError("expects a slot disjoint from that of @")
                 << a.getSymName() << ", got " << b.getSlotAttr();
      }
    }
    return success();
  }

  static void place(dl::VariableOp variable, StringRef arena, int64_t &offset) {
    int64_t bytes = dl::getStorageBytes(variable.getType());
    variable.setSlotAttr(dl::SlotAttr::get(variable.getContext(), arena, offset, bytes));
    offset += llvm::alignTo(bytes, dl::slotAlignment);
  }

  static std::string elementName(dl::VariableOp variable) {
    std::string name;
    llvm::raw_string_ostream(name) << getElementTypeOrSelf(variable.getType());
    return name;
  }

  static std::string arenaName(dl::VariableOp variable) {
    return (dl::stringifyRole(variable.getRole()) + "." + elementName(variable)).str();
  }

  /// The parameter an optimizer state or gradient belongs to by its name, and the rest of the name: `fc1.weight.grad`,
  /// `momentum.fc1.weight` and dl-add-training's `opt.momentum.fc1.weight`.
  std::pair<dl::VariableOp, StringRef> findParameter(dl::VariableOp variable) {
    if (variable.getRole() != dl::Role::OptimizerState && variable.getRole() != dl::Role::Gradient)
      return {};
    StringRef name = variable.getSymName();
    for (size_t dot = name.find('.'); dot != StringRef::npos; dot = name.find('.', dot + 1)) {
      StringRef front = name.take_front(dot), back = name.drop_front(dot + 1);
      for (auto [parameter, kind] : {std::pair(back, front), std::pair(front, back)}) {
        auto found = getOperation().lookupSymbol<dl::VariableOp>(parameter);
        kind.consume_front("opt.");
        if (!kind.empty() && found && found.getRole() == dl::Role::Parameter && found.getType() == variable.getType())
          return {found, kind};
      }
    }
    return {};
  }

  /// "r3.parameter.f32" -> "r3.optimizer_state.momentum.f32".
  static std::string companionArena(dl::VariableOp variable, StringRef arena, StringRef kind) {
    std::string own = dl::stringifyRole(variable.getRole()).str();
    if (variable.getRole() == dl::Role::OptimizerState)
      own += "." + kind.str();
    StringRef parameter = dl::stringifyRole(dl::Role::Parameter);
    size_t at = arena.find(parameter);
    if (at == StringRef::npos)
      return own + "." + arena.str();
    return (arena.take_front(at) + own + arena.drop_front(at + parameter.size())).str();
  }
};

} // namespace
