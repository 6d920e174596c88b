#include "GroupCost.h"
#include "Placement.h"
#include "Recompute.h"

#include "dlc/ir/Control.h"
#include "dlc/ir/Storage.h"
#include "dlc/passes/MemoryPlan.h"
#include "dlc/passes/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"

// Before:  %y = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) { … }
//          …                                                                    // %y waits in memory meanwhile
//          %z = dl.group kind(pointwise) [4] (%a = %y : tensor<4xf32>, %b = %g : tensor<4xf32>) -> … { … }
// After:   %y = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) { … }
//          …
//          %v = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>, %b = %g : tensor<4xf32>) -> (tensor<4xf32>) {
//            %0 = dl.barrier_value %a : tensor<4xf32> after %b : tensor<4xf32>
//            dl.yield %0 : tensor<4xf32>
//          }
//          %w = dl.group kind(pointwise) [4] (%a = %v : tensor<4xf32>) -> (tensor<4xf32>) { … }
//          %z = dl.group kind(pointwise) [4] (%a = %w : tensor<4xf32>, %b = %g : tensor<4xf32>) -> … { … }

namespace dlc::passes {
#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

/// Plans and choices until the budget is met, or what comes nearest is taken.
static constexpr unsigned mostRounds = 6;
static constexpr llvm::StringLiteral numberAttribute = "dl.number";

namespace {

/// The planned program of one entry: its groups in the order in which they run.
class PlannedEntry {
public:
  PlannedEntry(func::FuncOp function) : block(function.getBody().front()) {
    for (auto group : block.getOps<dl::GroupOp>())
      addStep(group);
    for (auto [index, group] : llvm::enumerate(groups))
      addReads(index, group);
    limitAgain();
    for (KeptValue &value : program.values)
      if (value.uses.empty())
        value.uses.push_back(value.maker);
  }

  const KeptProgram &getProgram() const { return program; }
  /// The number a group had before the plan; none of a copy that the plan has added.
  std::optional<unsigned> numberOf(unsigned step) const {
    auto number = groups[step]->getAttrOfType<IntegerAttr>(numberAttribute);
    return number ? std::optional<unsigned>(number.getInt()) : std::nullopt;
  }
  /// Numbers of all groups, views too, in the order in which they run.
  SmallVector<unsigned> order() const {
    SmallVector<unsigned> numbers;
    for (auto group : block.getOps<dl::GroupOp>())
      if (auto number = group->getAttrOfType<IntegerAttr>(numberAttribute))
        numbers.push_back(number.getInt());
    return numbers;
  }

private:
  static bool isActivation(Value root) {
    dl::SlotAttr slot = root.getDefiningOp<dl::GroupOp>() ? slotOf(root) : dl::SlotAttr();
    return slot && slot.getArena() == activationArena;
  }

  void addStep(dl::GroupOp group) {
    positions[group] = groups.size();
    if (isView(group) && !group.isExchange())
      return;
    KernelStep step;
    step.seconds = group.isExchange() ? 0 : estimatedSeconds(group);
    if (dl::SlotAttr workspace = group.getWorkspaceAttr())
      step.workspace = llvm::alignTo(workspace.getBytes(), dl::slotAlignment);
    bool fixed = group.isExchange() || controlOf(group) || group.getInputs().empty() ||
                 !group->hasAttr(numberAttribute) ||
                 llvm::any_of(group.getResults(), [](Value result) { return !isActivation(rootOf(result)); });
    step.againUntil = fixed ? -1 : INT64_MAX;
    if (group.getKind() != dl::GroupKind::Wait)
      for (Value result : group.getResults())
        if (isActivation(result)) {
          values[result] = program.values.size();
          step.makes.push_back(program.values.size());
          step.takesOver.push_back(-1);
          program.values.push_back(
              {int64_t(dl::getSlotBytes(result.getType())), unsigned(groups.size()), {}, group.isExchange()});
        }
    groups.push_back(group);
    program.steps.push_back(std::move(step));
  }

  void addReads(unsigned index, dl::GroupOp group) {
    KernelStep &step = program.steps[index];
    for (Value root : rootsReadBy(group)) {
      auto value = values.find(root);
      if (value == values.end())
        continue;
      step.reads.push_back(value->second);
      program.values[value->second].uses.push_back(index);
      program.values[value->second].pinned |= group.isExchange();
    }
    for (auto [made, result] : llvm::enumerate(group.getResults())) {
      int64_t input = group.getInPlace() ? (*group.getInPlace())[made] : -1;
      auto value = values.find(result);
      if (input < 0 || value == values.end())
        continue;
      auto over = values.find(rootOf(group.getInputs()[input]));
      if (over != values.end())
        step.takesOver[llvm::find(step.makes, value->second) - step.makes.begin()] = over->second;
    }
  }

  /// What reads a variable runs again only before the variable gets its new value.
  void limitAgain() {
    DenseMap<StringAttr, int64_t> writers;
    for (auto write : block.getOps<dl::WriteOp>())
      if (auto writer = rootOf(write.getValue()).getDefiningOp<dl::GroupOp>())
        writers[write.getVariableAttr().getAttr()] = positions.lookup(writer);
    for (auto [index, group] : llvm::enumerate(groups))
      for (Value root : rootsReadBy(group))
        if (auto read = root.getDefiningOp<dl::ReadOp>())
          if (auto writer = writers.find(read.getVariableAttr().getAttr()); writer != writers.end())
            program.steps[index].againUntil = std::min(program.steps[index].againUntil, writer->second);
  }

  Block &block;
  SmallVector<dl::GroupOp> groups; // by step
  DenseMap<Operation *, int64_t> positions;
  DenseMap<Value, unsigned> values;
  KeptProgram program;
};

/// Writes a program in which groups run again.
class RecomputingWriter {
public:
  explicit RecomputingWriter(func::FuncOp function)
      : block(function.getBody().front()), groups(block.getOps<dl::GroupOp>()), builder(function.getContext()) {
    end = groups.back()->getNextNode();
  }

  /// Steps of the plan are numbered as its groups are here.
  void write(const PlannedEntry &planned, ArrayRef<KernelRun> runs) {
    SmallVector<unsigned> order = planned.order();
    auto next = order.begin();
    for (const KernelRun &run : runs) {
      std::optional<unsigned> number = planned.numberOf(run.step);
      if (!number)
        continue;
      if (run.again) {
        runAgain(groups[*number]);
        continue;
      }
      // Views in between go where they were.
      do
        place(groups[*next]);
      while (*next++ != *number);
    }
    for (; next != order.end(); ++next)
      place(groups[*next]);
    for (dl::GroupOp group : llvm::reverse(groups))
      if (isView(group) && !group.isExchange() && group->use_empty())
        group.erase();
  }

  ArrayRef<dl::GroupOp> getCopies() const { return copies; }

private:
  void place(dl::GroupOp group) {
    group->moveBefore(end);
    if (isView(group) && !group.isExchange())
      return;
    for (OpOperand &operand : group->getOpOperands())
      operand.set(current(operand.get()));
    last = group.getNumResults() ? group.getResult(0) : last;
  }

  /// What stands for the value now: a view of a value that was made again is a view of the new one.
  Value current(Value value) {
    if (Value known = now.lookup(value))
      return known;
    auto view = value.getDefiningOp<dl::GroupOp>();
    if (!view || view.isExchange() || !isView(view))
      return value;
    Value base = view.getInputs()[0], moved = current(base);
    if (moved == base)
      return value;
    Value &known = views[{value, moved}];
    if (!known) {
      builder.setInsertionPoint(end);
      auto copy = cast<dl::GroupOp>(builder.clone(*view));
      copy->removeAttr(numberAttribute);
      copy->setOperand(0, moved);
      known = copy.getResult(0);
    }
    return known;
  }

  void runAgain(dl::GroupOp group) {
    builder.setInsertionPoint(end);
    SmallVector<Value> inputs = llvm::map_to_vector(group.getInputs(), [&](Value input) { return current(input); });
    builder.setInsertionPoint(end);
    inputs[0] = addBarrier(inputs[0], group.getLoc());
    auto copy = cast<dl::GroupOp>(builder.clone(*group));
    copy->removeAttr(numberAttribute);
    copy->setOperands(inputs);
    for (auto [old, made] : llvm::zip(group.getResults(), copy.getResults()))
      now[old] = made;
    copies.push_back(copy);
    last = copy.getResult(0);
  }

  /// The value, not before the group placed last has run.
  Value addBarrier(Value value, Location location) {
    SmallVector<Value> inputs{value};
    if (last && last != value)
      inputs.push_back(last);
    auto type = cast<RankedTensorType>(value.getType());
    auto barrier = dl::GroupOp::create(builder, location, TypeRange(type), inputs, dl::GroupKind::Pointwise,
                                       type.getShape(), ArrayAttr(), DenseI64ArrayAttr(), dl::SlotAttr());
    Block &body = barrier.getBody().emplaceBlock();
    for (Value input : inputs)
      body.addArgument(input.getType(), location);
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    Value same = dl::BarrierValueOp::create(inside, location, type, body.getArgument(0),
                                            ValueRange(body.getArguments()).drop_front());
    dl::YieldOp::create(inside, location, same);
    return barrier.getResult(0);
  }

  Block &block;
  SmallVector<dl::GroupOp> groups; // by number
  OpBuilder builder;
  Operation *end;
  Value last; // a result of the group placed last
  DenseMap<Value, Value> now;
  DenseMap<std::pair<Value, Value>, Value> views;
  SmallVector<dl::GroupOp> copies;
};

/// What a plan of an entry needs.
struct Need {
  int64_t activation, peak;
};

struct RematerializePass : passes::impl::RematerializePassBase<RematerializePass> {
  using RematerializePassBase::RematerializePassBase;
  WorkspaceBytes workspaceOf;

  void runOnOperation() override {
    auto isLimited = [&](func::FuncOp function) {
      MemoryLimits limits = limitsOf(function);
      return !function.isExternal() && (limits.all || limits.activation);
    };
    auto limited = llvm::to_vector(llvm::make_filter_range(getOperation().getOps<func::FuncOp>(), isLimited));
    if (limited.empty())
      return;
    number();
    OwningOpRef<ModuleOp> planned = plan(getOperation());
    if (!planned)
      return signalPassFailure();
    for (func::FuncOp function : limited)
      rematerialize(function, *planned);
    getOperation().walk([](dl::GroupOp group) { group->removeAttr(numberAttribute); });
  }

  void number() {
    Builder builder(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        for (auto [index, group] : llvm::enumerate(function.getBody().front().getOps<dl::GroupOp>()))
          group->setAttr(numberAttribute, builder.getI64IntegerAttr(int64_t(index)));
  }

  /// The module as dl-plan-memory makes it; null after an error.
  OwningOpRef<ModuleOp> plan(ModuleOp module) {
    OwningOpRef<ModuleOp> trial = module.clone();
    for (auto function : trial->getOps<func::FuncOp>())
      MemoryLimits::removeFrom(function);
    WorkspaceBytes always = [this](dl::GroupOp) { return int64_t(workspaceBytes); };
    PassManager manager(&getContext(), ModuleOp::getOperationName());
    manager.enableVerifier(false);
    manager.addPass(createPlanMemoryPass(workspaceOf ? workspaceOf : always, {}, sliceAlignment));
    return succeeded(manager.run(*trial)) ? std::move(trial) : OwningOpRef<ModuleOp>();
  }

  static Need needOf(ModuleOp planned, StringRef entry) {
    auto entries = planned->getAttrOfType<DictionaryAttr>("dl.memory").getAs<DictionaryAttr>("entries");
    auto numbers = entries.getAs<DictionaryAttr>(entry);
    return {numbers.getAs<IntegerAttr>("activation").getInt(), numbers.getAs<IntegerAttr>("peak").getInt()};
  }

  MemoryLimits limitsOf(func::FuncOp function) const {
    return MemoryLimits{memoryLimit, activationBudget}.of(function);
  }

  int64_t budgetOf(func::FuncOp function, Need need) const {
    MemoryLimits limits = limitsOf(function);
    int64_t budget = limits.activation ? limits.activation : INT64_MAX;
    return limits.all ? std::min(budget, limits.all - (need.peak - need.activation)) : budget;
  }

  void rematerialize(func::FuncOp function, ModuleOp planned) {
    Need before = needOf(planned, function.getName());
    int64_t budget = budgetOf(function, before);
    if (before.activation <= budget || budget < 0) // below 0 no activation is few enough
      return;
    PlannedEntry entry(planned.lookupSymbol<func::FuncOp>(function.getName()));
    if (entry.getProgram().steps.empty())
      return;
    // The plan may need more than what is live at once; the next round aims lower by as much.
    auto aim = double(std::max(budget, leastBytes(entry.getProgram())));
    std::optional<Recomputation> best;
    int64_t least = before.activation;
    for (unsigned round = 0; round < mostRounds && least > budget; ++round) {
      std::optional<Recomputation> choice = choose(entry.getProgram(), int64_t(aim));
      if (!choice) { // out of reach: as near as half the way
        aim = (aim + double(least)) / 2;
        continue;
      }
      OwningOpRef<ModuleOp> trial = getOperation().clone();
      for (auto other : llvm::make_early_inc_range(trial->getOps<func::FuncOp>()))
        if (other.getName() != function.getName())
          other.erase();
      RecomputingWriter(trial->lookupSymbol<func::FuncOp>(function.getName())).write(entry, choice->runs);
      trial = plan(*trial);
      if (!trial)
        break;
      int64_t activation = needOf(*trial, function.getName()).activation;
      if (activation < least) {
        least = activation;
        best = std::move(choice);
      }
      aim *= std::min(0.97, double(budget) / double(activation));
    }
    if (best)
      apply(function, entry, *best, before.activation);
  }

  static std::optional<Recomputation> choose(const KeptProgram &program, int64_t budget) {
    std::optional<Recomputation> general = recomputeUnder(program, budget), chain = recomputeChain(program, budget);
    if (!general || !chain)
      return chain ? chain : general;
    auto rank = [&](const Recomputation &choice) {
      return std::tuple(std::max<int64_t>(choice.peak - budget, 0), choice.seconds);
    };
    return rank(*chain) <= rank(*general) ? chain : general;
  }

  void apply(func::FuncOp function, const PlannedEntry &entry, const Recomputation &choice, int64_t before) {
    RecomputingWriter writer(function);
    writer.write(entry, choice.runs);
    Builder builder(&getContext());
    SmallVector<Attribute> list;
    for (dl::GroupOp copy : writer.getCopies()) {
      int64_t bytes = 0;
      for (Type type : copy.getResultTypes())
        bytes += dl::getSlotBytes(type);
      list.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("bytes", builder.getI64IntegerAttr(bytes)),
           builder.getNamedAttr("milliseconds", builder.getF64FloatAttr(estimatedSeconds(copy) * 1e3)),
           builder.getNamedAttr("place", LocationAttr(copy.getLoc()))}));
    }
    function->setAttr("dl.kept", builder.getI64IntegerAttr(before));
    function->setAttr("dl.recomputed", builder.getArrayAttr(list));
  }
};

} // namespace

std::unique_ptr<Pass> dlc::passes::createRematerializePass(WorkspaceBytes workspaceOf, MemoryLimits limits,
                                                           int64_t sliceAlignment) {
  auto pass =
      std::make_unique<RematerializePass>(RematerializePassOptions{limits.all, limits.activation, 0, sliceAlignment});
  pass->workspaceOf = std::move(workspaceOf);
  return pass;
}
