#include "dlc/ir/Collective.h"

#include "reference/Registry.h"

#include <cmath>

using namespace mlir;
using namespace dlc::dl;

static SmallVector<int64_t> groupOf(CollectiveOpInterface op, const ReferenceMember &member) {
  SmallVector<StringAttr> axes = llvm::to_vector(op.getAxes().getAsRange<StringAttr>());
  return MeshOp::find(op).group(member.number(), axes);
}

static double combine(ReduceKind kind, double a, double b) {
  if (kind == ReduceKind::Sum)
    return a + b;
  if (std::isnan(a) || std::isnan(b))
    return std::nan("");
  return kind == ReduceKind::Max ? std::max(a, b) : std::min(a, b);
}

static int64_t combine(ReduceKind kind, int64_t a, int64_t b) {
  if (kind == ReduceKind::Sum)
    return int64_t(uint64_t(a) + uint64_t(b));
  return kind == ReduceKind::Max ? std::max(a, b) : std::min(a, b);
}

static void combineInto(ReduceKind kind, ReferenceTensor &sum, const ReferenceTensor &other) {
  for (size_t i = 0; i < sum.floats.size(); ++i)
    sum.floats[i] = combine(kind, sum.floats[i], other.floats[i]);
  for (size_t i = 0; i < sum.integers.size(); ++i)
    sum.integers[i] = combine(kind, sum.integers[i], other.integers[i]);
}

/// What operand `index` of the members becomes, combined in the order of their numbers.
static ReferenceTensor combined(ReduceKind kind, const std::vector<std::vector<ReferenceTensor>> &operands,
                                ArrayRef<int64_t> members, size_t index) {
  ReferenceTensor sum = operands[members.front()][index];
  for (int64_t member : members.drop_front())
    combineInto(kind, sum, operands[member][index]);
  return sum;
}

/// Copies between a tensor and rows [first, first + part's) of `whole` along dim.
template <class From, class To>
static void copyPart(From &part, To &whole, int64_t dim, int64_t first, bool intoPart) {
  SmallVector<int64_t> strides = rowMajorStrides(whole.shape());
  forEachIndex(part.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    int64_t at = first * strides[dim];
    for (auto [position, stride] : llvm::zip_equal(index, strides))
      at += position * stride;
    auto copy = [&](auto &in, auto &out) {
      if (!in.empty())
        intoPart ? in[i] = out[at] : out[at] = in[i];
    };
    copy(part.floats, whole.floats);
    copy(part.integers, whole.integers);
  });
}

/// `function(operands of all members, this member's group, results)`.
template <class Op, class F>
static void addCollective(ReferenceRegistry &registry, F function) {
  registry.addWithContext<Op>([function](Op op, ReferenceOperands operands, ReferenceResults results,
                                         ReferenceContext context) -> LogicalResult {
    if (!context.member)
      return op.emitOpError("expects to be evaluated by all members together");
    FailureOr<std::vector<std::vector<ReferenceTensor>>> all = context.member->exchange(op, operands);
    if (failed(all))
      return failure();
    function(op, *all, groupOf(op, *context.member), context.member->number(), results);
    return success();
  });
}

using Operands = std::vector<std::vector<ReferenceTensor>>;

void dlc::dl::registerReferenceCollective(ReferenceRegistry &registry) {
  registry.add<ReshardOp>([](ReshardOp, ReferenceOperands x, ReferenceResults y) { y[0] = x[0]; });
  registry.add<WaitOp>([](WaitOp, ReferenceOperands x, ReferenceResults y) { llvm::copy(x, y.begin()); });
  addCollective<AllReduceOp>(
      registry, [](AllReduceOp op, const Operands &all, ArrayRef<int64_t> group, int64_t, ReferenceResults y) {
        for (size_t i = 0; i < y.size(); ++i)
          y[i] = combined(op.getKind(), all, group, i);
      });
  addCollective<AllGatherOp>(
      registry, [](AllGatherOp op, const Operands &all, ArrayRef<int64_t> group, int64_t, ReferenceResults y) {
        int64_t dim = op.getDim(), rows = all[group.front()][0].shape()[dim];
        for (auto [i, member] : llvm::enumerate(group)) {
          ReferenceTensor part = all[member][0];
          copyPart(part, y[0], dim, int64_t(i) * rows, false);
        }
      });
  addCollective<ReduceScatterOp>(registry, [](ReduceScatterOp op, const Operands &all, ArrayRef<int64_t> group,
                                              int64_t member, ReferenceResults y) {
    ReferenceTensor sum = combined(op.getKind(), all, group, 0);
    int64_t number = llvm::find(group, member) - group.begin();
    copyPart(y[0], sum, op.getDim(), number * y[0].shape()[op.getDim()], true);
  });
  addCollective<AllToAllOp>(
      registry, [](AllToAllOp op, const Operands &all, ArrayRef<int64_t> group, int64_t member, ReferenceResults y) {
        RankedTensorType type = op.getType();
        SmallVector<int64_t> shape(type.getShape());
        int64_t dim = op.getDim(), rows = shape[dim] /= int64_t(group.size());
        ReferenceTensor part(type.clone(shape));
        int64_t number = llvm::find(group, member) - group.begin();
        for (auto [i, from] : llvm::enumerate(group)) {
          ReferenceTensor whole = all[from][0];
          copyPart(part, whole, dim, number * rows, true);
          copyPart(part, y[0], dim, int64_t(i) * rows, false);
        }
      });
}
