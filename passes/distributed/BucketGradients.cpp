#include "distributed/Buckets.h"

#include "dlc/ir/Collective.h"
#include "dlc/ir/Storage.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

// Before:  %r = dl.all_reduce sum(data) %dw : tensor<4x8xf32>     // becomes, in the end, what is written to @w
//          …
//          %s = dl.all_reduce sum(data) %db : tensor<8xf32>       // … to @b, the next parameter
// After:   %r:2 = dl.all_reduce sum(data) %dw, %db {dl.bucket = 0 : i64, tensors = ["w", "b"]} : …

namespace dlc::passes {
#define GEN_PASS_DEF_BUCKETGRADIENTSPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

/// Reductions of at most this many bytes, of no gradients, are joined where that delays none.
static constexpr int64_t smallBytes = 64 << 10;

static int64_t bytesOf(dl::AllReduceOp reduction) {
  int64_t bytes = 0;
  for (Type type : reduction.getResultTypes())
    bytes += dl::getSlotBytes(type);
  return bytes;
}

/// Whether reductions may become one: kind, axes and element type are equal.
static bool areAlike(dl::AllReduceOp a, dl::AllReduceOp b) {
  return a.getKind() == b.getKind() && a.getAxes() == b.getAxes() &&
         getElementTypeOrSelf(a.getResult(0).getType()) == getElementTypeOrSelf(b.getResult(0).getType());
}

namespace {

/// What comes from some values, kept up to date while a block is walked.
class Derived {
public:
  void add(Operation *op) { ops.insert(op); }
  /// Whether the op, or one in its regions, uses what comes from those added; then so does what it gives.
  bool visit(Operation *op) {
    bool uses = false;
    op->walk([&](Operation *inner) {
      uses |= llvm::any_of(inner->getOperands(), [&](Value value) { return ops.contains(value.getDefiningOp()); });
    });
    if (uses)
      ops.insert(op);
    return uses;
  }

private:
  DenseSet<Operation *> ops;
};

class BlockBuckets {
public:
  BlockBuckets(Block &block, const DenseMap<StringAttr, unsigned> &parameters, const Link &link)
      : block(block), parameters(parameters), link(link) {}

  /// In a loop or a branch nothing is the gradient of a step.
  void runInside() { joinSmall(); }

  void run(int64_t bucketBytes) {
    std::vector<Gradient> gradients = findGradients();
    while (!gradients.empty()) {
      dl::AllReduceOp first = gradients.front().reduction;
      auto rest = llvm::make_filter_range(gradients, [&](Gradient &g) { return areAlike(g.reduction, first); });
      std::vector<Gradient> alike(rest.begin(), rest.end());
      llvm::erase_if(gradients, [&](Gradient &g) { return areAlike(g.reduction, first); });
      bucket(std::move(alike), bucketBytes);
    }
    joinSmall();
  }

private:
  struct Gradient {
    dl::AllReduceOp reduction;
    SmallVector<Attribute, 1> parameters; ///< by result
    unsigned number;                      ///< of the last parameter in the module
    double ready;                         ///< seconds from the start of the block, by the model
  };

  /// The variable of role parameter that is written nearest behind the value; the first of those equally near.
  StringAttr parameterOf(Value gradient) const {
    DenseSet<Operation *> seen;
    SmallVector<Value> level{gradient};
    while (!level.empty()) {
      StringAttr found;
      SmallVector<Value> next;
      for (Value value : level)
        for (Operation *user : value.getUsers()) {
          user = block.findAncestorOpInBlock(*user);
          if (!user || !seen.insert(user).second)
            continue;
          auto write = dyn_cast<dl::WriteOp>(user);
          StringAttr name = write ? write.getVariableAttr().getAttr() : StringAttr();
          if (name && parameters.contains(name) && (!found || parameters.lookup(name) < parameters.lookup(found)))
            found = name;
          llvm::append_range(next, user->getResults());
        }
      if (found)
        return found;
      level = std::move(next);
    }
    return {};
  }

  /// Ops whose results another collective waits for: what they are themselves is needed at once, as batch_norm's sums
  /// in the backward pass.
  DenseSet<Operation *> findUrgent() const {
    DenseSet<Operation *> urgent;
    for (Operation &op : llvm::reverse(block)) {
      bool leads = llvm::any_of(op.getUsers(), [&](Operation *user) {
        user = block.findAncestorOpInBlock(*user);
        return isa<dl::CollectiveOpInterface>(user) || urgent.contains(user);
      });
      if (leads)
        urgent.insert(&op);
    }
    return urgent;
  }

  /// In the order of the block; none depends on another.
  std::vector<Gradient> findGradients() const {
    DenseSet<Operation *> urgent = findUrgent();
    std::vector<Gradient> gradients;
    double time = 0;
    for (Operation &op : block) {
      time += modelledSeconds(&op);
      auto reduction = dyn_cast<dl::AllReduceOp>(op);
      if (!reduction || urgent.contains(reduction) || reduction->hasAttr(bucketAttribute) ||
          reduction.getKind() != dl::ReduceKind::Sum)
        continue;
      Gradient gradient{reduction, {}, 0, time};
      for (Value result : reduction.getResults())
        if (StringAttr parameter = parameterOf(result)) {
          gradient.parameters.push_back(parameter);
          gradient.number = std::max(gradient.number, parameters.lookup(parameter));
        }
      if (gradient.parameters.size() == reduction.getNumResults())
        gradients.push_back(std::move(gradient));
    }
    return gradients;
  }

  void bucket(std::vector<Gradient> gradients, int64_t bucketBytes) {
    // From the end of the module: there backward passes begin.
    llvm::sort(gradients, [](const Gradient &a, const Gradient &b) {
      return std::tuple(b.number, a.ready) < std::tuple(a.number, b.ready);
    });
    std::vector<BucketItem> items;
    items.reserve(gradients.size());
    for (Gradient &gradient : gradients)
      items.push_back({bytesOf(gradient.reduction), gradient.ready});
    size_t begin = 0;
    for (size_t end : bucketBytes ? cutBySize(items, bucketBytes) : cutByModel(items, link)) {
      // Within a bucket in module order.
      std::vector<Gradient> members(gradients.rend() - end, gradients.rend() - begin);
      SmallVector<Attribute> names;
      SmallVector<dl::AllReduceOp> parts;
      for (Gradient &member : members) {
        llvm::append_range(names, member.parameters);
        parts.push_back(member.reduction);
      }
      dl::AllReduceOp joined = join(parts);
      Builder builder(joined.getContext());
      joined.setTensorsAttr(builder.getArrayAttr(names));
      joined->setAttr(bucketAttribute, builder.getI64IntegerAttr(buckets++));
      begin = end;
    }
  }

  /// One reduction in place of several, none of which depends on another, where the last one is.
  dl::AllReduceOp join(ArrayRef<dl::AllReduceOp> parts) {
    if (parts.size() == 1)
      return parts[0];
    auto [first, last] = std::minmax_element(
        parts.begin(), parts.end(), [](dl::AllReduceOp a, dl::AllReduceOp b) { return a->isBeforeInBlock(b); });
    SmallVector<Value> values;
    SmallVector<Location> lines;
    SmallVector<Attribute> names;
    for (dl::AllReduceOp part : parts) {
      llvm::append_range(values, part.getValues());
      lines.push_back(part.getLoc());
      if (ArrayAttr known = part.getTensorsAttr())
        llvm::append_range(names, known);
    }
    moveUsersBehind(parts, *first, *last);
    OpBuilder builder(*last);
    dl::AllReduceOp one = parts[0];
    auto joined = dl::AllReduceOp::create(builder, builder.getFusedLoc(lines), values, one.getKind(), one.getAxes(),
                                          names.empty() ? ArrayAttr() : builder.getArrayAttr(names));
    unsigned next = 0;
    for (dl::AllReduceOp part : parts)
      for (Value result : part.getResults())
        result.replaceAllUsesWith(joined.getResult(next++));
    for (dl::AllReduceOp part : parts)
      part.erase();
    return joined;
  }

  static void moveUsersBehind(ArrayRef<dl::AllReduceOp> parts, dl::AllReduceOp first, dl::AllReduceOp last) {
    Derived reduced;
    for (dl::AllReduceOp part : parts)
      reduced.add(part);
    SmallVector<Operation *> users;
    for (Operation *op = first; op != last; op = op->getNextNode())
      if (reduced.visit(op))
        users.push_back(op);
    Operation *place = last;
    for (Operation *user : users) {
      user->moveAfter(place);
      place = user;
    }
  }

  /// When each op is done if all run as soon as they can.
  DenseMap<Operation *, double> findReadyTimes() const {
    DenseMap<Operation *, double> ready;
    for (Operation &op : block) {
      double start = 0;
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          start = std::max(start, ready.lookup(operand.getDefiningOp()));
      });
      ready[&op] = start + (isa<dl::CollectiveOpInterface>(op) ? link.startSeconds : modelledSeconds(&op));
    }
    return ready;
  }

  /// Small reductions of anything else become one where that delays none: nothing between them reads the first, and
  /// they are urgent at about the same time, or both not.
  void joinSmall() {
    DenseSet<Operation *> urgent = findUrgent();
    DenseMap<Operation *, double> ready = findReadyTimes();
    auto canJoin = [&](dl::AllReduceOp first, dl::AllReduceOp second) {
      bool together = std::abs(ready.lookup(first) - ready.lookup(second)) <= link.startSeconds;
      return areAlike(first, second) && urgent.contains(first) == urgent.contains(second) &&
             (together || !urgent.contains(first));
    };
    SmallVector<dl::AllReduceOp> parts;
    Derived reduced;
    auto flush = [&] {
      if (!parts.empty())
        join(parts);
      parts.clear();
      reduced = Derived();
    };
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (reduced.visit(&op))
        flush();
      auto reduction = dyn_cast<dl::AllReduceOp>(op);
      if (!reduction || reduction->hasAttr(bucketAttribute) || bytesOf(reduction) > smallBytes)
        continue;
      if (!parts.empty() && !canJoin(parts.front(), reduction))
        flush();
      parts.push_back(reduction);
      reduced.add(reduction);
    }
    flush();
  }

  Block &block;
  const DenseMap<StringAttr, unsigned> &parameters;
  const Link link;
  int64_t buckets = 0;
};

struct BucketGradientsPass : passes::impl::BucketGradientsPassBase<BucketGradientsPass> {
  using BucketGradientsPassBase::BucketGradientsPassBase;

  void runOnOperation() override {
    if (!dl::MeshOp::find(getOperation()))
      return;
    DenseMap<StringAttr, unsigned> parameters;
    for (auto variable : getOperation().getOps<dl::VariableOp>())
      if (variable.getRole() == dl::Role::Parameter)
        parameters.try_emplace(variable.getSymNameAttr(), parameters.size());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        bucket(function, parameters);
  }

  void bucket(func::FuncOp function, const DenseMap<StringAttr, unsigned> &parameters) {
    Link link{linkSeconds, linkBandwidth};
    BlockBuckets(function.getBody().front(), parameters, link).run(bucketBytes);
    function.walk([&](dl::ControlOpInterface op) {
      for (Region &region : op->getRegions())
        BlockBuckets(region.front(), parameters, link).runInside();
    });
  }
};

} // namespace
