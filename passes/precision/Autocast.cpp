#include "precision/ValueForms.h"

#include "dlc/ir/Precision.h"
#include "dlc/ir/Program.h"
#include "dlc/passes/PrecisionPasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

// Before:  %h = dl.dot_general %x, %w … {dl.autocast = bf16} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
//          %r = dl.relu %h {dl.autocast = bf16} : tensor<4x2xf32>
//          %s = dl.reduce_sum %r over [0, 1] {dl.autocast = bf16} : (tensor<4x2xf32>) -> tensor<f32>
// After:   %0 = dl.cast %x {dl.reason = "operand of dl.dot_general, policy low"} : tensor<4x8xf32> to tensor<4x8xbf16>
//          %1 = dl.cast %w {dl.reason = "operand of dl.dot_general, policy low"} : tensor<8x2xf32> to tensor<8x2xbf16>
//          %h = dl.dot_general %0, %1 … : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
//          %r = dl.relu %h : tensor<4x2xbf16>
//          %2 = dl.cast %r {dl.reason = "operand of dl.reduce_sum, policy full"} : tensor<4x2xbf16> to tensor<4x2xf32>
//          %s = dl.reduce_sum %2 over [0, 1] : (tensor<4x2xf32>) -> tensor<f32>
// (marks stay for dl-check-autocast, which takes them away)

namespace dlc::passes {
#define GEN_PASS_DEF_AUTOCASTPASS
#include "dlc/passes/PrecisionPasses.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

static bool isFloatTensor(Value value) { return dl::hasFloatElements(value.getType()); }

/// Whether the floats among the operands are of types that satisfy `test`.
template <typename Test>
static bool anyFloatOperand(Operation *op, Test test) {
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isFloatTensor(operand) && test(elementOf(operand)); });
}

static bool hasGivenLow(Operation *op) {
  return anyFloatOperand(op, [](FloatType type) { return type.getWidth() == 16; });
}

static bool isSingle(Operation *op) {
  return anyFloatOperand(op, [](FloatType) { return true; }) &&
         !anyFloatOperand(op, [](FloatType type) { return !type.isF32(); });
}

/// Result types of the op on operands of other element types.
static SmallVector<Type> typesOf(Operation *op, FloatType element) {
  if (auto rule = dyn_cast<InferTypeOpInterface>(op)) {
    SmallVector<Type> types;
    if (succeeded(rule.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(), op->getAttrDictionary(),
                                        op->getPropertiesStorage(), op->getRegions(), types)))
      return types;
  }
  return llvm::map_to_vector(op->getResultTypes(), [&](Type type) {
    return dl::hasFloatElements(type) ? Type(cast<RankedTensorType>(type).clone(element)) : type;
  });
}

namespace {

struct AutocastPass : passes::impl::AutocastPassBase<AutocastPass> {
  void runOnOperation() override {
    WalkResult marks = getOperation().walk([&](Operation *op) {
      FailureOr<FloatType> type = dl::autocastTypeOf(op);
      if (failed(type))
        return WalkResult::interrupt();
      anyMark |= bool(*type);
      return WalkResult::advance();
    });
    if (marks.wasInterrupted())
      return signalPassFailure();
    if (!anyMark)
      return;
    values.learn(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        for (Block &block : function.getBody()) {
          run(block);
          noteExact(function);
        }
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
  }

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto gradient = dyn_cast<dl::GradientOp>(op)) {
        differentiate(gradient);
        continue;
      }
      FloatType low = *dl::autocastTypeOf(&op);
      dl::Precision precision = low ? dl::precisionOf(&op) : dl::Precision::Keeps;
      if (precision == dl::Precision::Low && isSingle(&op))
        rebuild(&op, low, reasonOf(&op, precision));
      else if (precision == dl::Precision::Full && hasGivenLow(&op))
        rebuild(&op, Float32Type::get(&getContext()), reasonOf(&op, precision));
      else if (precision == dl::Precision::Follow && isSingle(&op))
        follow(&op, low);
      else
        keep(&op, low ? reasonOf(&op, precision) : (op.getName().getStringRef() + " is outside of autocast").str());
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          values.enter(&op, inner);
          run(inner);
        }
    }
  }

  /// Who calls the entry piece by piece gives it its own results again.
  void noteExact(func::FuncOp entry) {
    for (OpOperand &result : entry.getBody().back().getTerminator()->getOpOperands())
      for (FloatType low : {FloatType(BFloat16Type::get(&getContext())), FloatType(Float16Type::get(&getContext()))})
        if (isFloatTensor(result.get()) && elementOf(result.get()).isF32() && values.existsIn(result.get(), low))
          entry.setResultAttr(result.getOperandNumber(), dl::kExactAttr, TypeAttr::get(low));
  }

  static std::string reasonOf(Operation *op, dl::Precision precision) {
    return ("operand of " + op->getName().getStringRef() + ", policy " + dl::name(precision)).str();
  }

  /// The op as it is, on operands of the types that were written.
  void keep(Operation *op, const std::string &reason) {
    for (OpOperand &operand : op->getOpOperands())
      if (isFloatTensor(operand.get()))
        operand.set(values.as(operand.get(), elementOf(operand.get()), op, reason));
      else
        operand.set(values.current(operand.get()));
  }

  /// The op on floats of another type; f64 stays.
  void rebuild(Operation *op, FloatType element, const std::string &reason) {
    OpBuilder builder(op);
    Operation *copy = builder.clone(*op);
    for (OpOperand &operand : copy->getOpOperands()) {
      Value value = operand.get();
      if (!isFloatTensor(value))
        operand.set(values.current(value));
      else
        operand.set(values.as(value, elementOf(value).isF64() ? elementOf(value) : element, copy, reason));
    }
    for (auto [result, before, type] : llvm::zip_equal(copy->getResults(), op->getResults(), typesOf(copy, element))) {
      result.setType(type);
      values.replace(before, result);
    }
    replaced.push_back(op);
  }

  /// In 16 bits where all operands are; also where the others are numbers, scalars or vectors of parameters: then in
  /// f32, rounded once.
  void follow(Operation *op, FloatType low) {
    bool any = false, all = true, others = true;
    int64_t rank = op->getNumResults() ? cast<RankedTensorType>(op->getResult(0).getType()).getRank() : 0;
    for (Value operand : op->getOperands()) {
      if (!isFloatTensor(operand))
        continue;
      bool exists = values.existsIn(operand, low);
      any |= exists;
      all &= exists;
      others &= exists || values.isSpread(operand, rank);
    }
    std::string reason = reasonOf(op, dl::Precision::Follow);
    if (!any || !others)
      return keep(op, reason + ", with others in f32");
    if (all || isa<dl::IndexMapOpInterface>(op))
      return rebuild(op, low, reason);
    keep(op, reason + ", rounded once");
    for (Value result : op->getResults())
      if (isFloatTensor(result))
        values.narrow(result, low, ("result of " + op->getName().getStringRef() + ", policy follow").str());
  }

  /// By what values are now, so that all of their readers are on the way.
  void differentiate(dl::GradientOp gradient) {
    OpBuilder builder(gradient);
    Value loss = values.as(gradient.getLoss(), elementOf(gradient.getLoss()), gradient, "the loss");
    SmallVector<Value> wrt = llvm::map_to_vector(gradient.getWrt(), [&](Value value) { return values.current(value); });
    auto now = dl::GradientOp::create(builder, gradient.getLoc(), loss, wrt, gradient.getAllowUnused());
    for (auto [before, result] : llvm::zip_equal(gradient.getResults(), now.getResults()))
      values.replace(before, result);
    replaced.push_back(gradient);
  }

  bool anyMark = false;
  ValueForms values;
  SmallVector<Operation *> replaced;
};

} // namespace
