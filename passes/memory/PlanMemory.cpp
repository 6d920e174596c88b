#include "Packing.h"
#include "Placement.h"

#include "dlc/ir/Constant.h"
#include "dlc/ir/Storage.h"
#include "dlc/passes/MemoryPlan.h"
#include "dlc/passes/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

// Before:  %y = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) { … }
// After:   %y = dl.group kind(pointwise) [4] (%a = %x : tensor<4xf32>) -> (tensor<4xf32>)
//            attributes {slots = [#dl.slot<"activation", 0, 16>], in_place = array<i64: -1>} { … }

namespace dlc::passes {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

namespace {

/// What one entry needs beside the state.
struct EntryMemory {
  int64_t activation = 0, bound = 0, workspace = 0, io = 0;
};

/// Gives the activations of one entry, or of a region inside it, their bytes.
class EntryPlanner {
public:
  EntryPlanner(Block &block, FixedSlots fixed, const WorkspaceBytes &workspaceOf)
      : context(block.getParentOp()->getContext()), fixed(std::move(fixed)), groups(block.getOps<dl::GroupOp>()),
        workspaceOf(workspaceOf) {}

  /// Memory for the whole run, to ask for before the plan; its offset is known after it.
  unsigned addLasting(int64_t bytes, Operation *owner) { return addBuffer(bytes, 0, int64_t(groups.size()), owner); }
  int64_t offsetOf(unsigned buffer) const { return packing.offsets[buffer]; }

  EntryMemory plan();
  /// Notes the values that are live where most bytes are, the largest ten.
  void explain(InFlightDiagnostic &error) const;
  /// Notes what would make them less.
  void advise(InFlightDiagnostic &error) const;

private:
  /// One interval for all operands of an in-place collective, one behind the other, where its results stay.
  void planBucket(dl::GroupOp collective);
  void planGroup(dl::GroupOp group, int64_t position);
  void placeResult(OpResult result, int64_t position, SmallVectorImpl<int64_t> &inPlace);
  std::optional<unsigned> findDyingInput(OpResult result, int64_t position, ArrayRef<int64_t> taken) const;
  int64_t lastUse(Value root) const;
  /// Buffers, the largest first, and where they are live together.
  SmallVector<unsigned> liveAtPeak(int64_t &peak) const;
  StringRef classOf(unsigned buffer, int64_t peak) const;
  unsigned addBuffer(int64_t bytes, int64_t start, int64_t end, Operation *owner);
  void setSlots();

  MLIRContext *context;
  FixedSlots fixed;
  SmallVector<dl::GroupOp> groups;
  const WorkspaceBytes &workspaceOf;
  DenseMap<Operation *, int64_t> positions;
  llvm::MapVector<Value, unsigned> buffers; // of roots in the activation arena
  struct Piece {
    unsigned buffer;
    int64_t offset;
  };
  DenseMap<Value, Piece> pieces; // of roots that share a buffer with others
  DenseMap<Operation *, unsigned> workspaces;
  std::vector<Interval> intervals;
  std::vector<Operation *> owners;
  Packing packing;
};

int64_t EntryPlanner::lastUse(Value root) const {
  int64_t last = positions.lookup(root.getDefiningOp());
  for (dl::GroupOp reader : readersOfBytes(root))
    last = std::max(last, positions.lookup(reader));
  if (auto group = root.getDefiningOp<dl::GroupOp>(); group && group.isExchange()) // written until the wait
    for (dl::GroupOp wait : waitsOf(group))
      last = std::max(last, positions.lookup(wait));
  return last;
}

void EntryPlanner::planBucket(dl::GroupOp collective) {
  int64_t bytes = 0, start = positions.lookup(collective), end = start;
  unsigned buffer = intervals.size();
  for (auto [operand, result] : llvm::zip(collective.getInputs(), collective.getResults())) {
    Value root = rootOf(operand);
    bytes = llvm::alignTo(bytes, dl::slotAlignment);
    for (Value value : {root, Value(result)})
      pieces[value] = {buffer, bytes};
    bytes += dl::getStorageBytes(operand.getType());
    start = std::min(start, positions.lookup(root.getDefiningOp()));
    end = std::max({end, lastUse(root), lastUse(result)});
  }
  addBuffer(bytes, start, end, collective);
  auto inPlace = llvm::to_vector(llvm::seq<int64_t>(0, collective.getNumResults()));
  collective.setInPlace(inPlace);
}

unsigned EntryPlanner::addBuffer(int64_t bytes, int64_t start, int64_t end, Operation *owner) {
  intervals.push_back({bytes, start, end});
  owners.push_back(owner);
  return intervals.size() - 1;
}

std::optional<unsigned> EntryPlanner::findDyingInput(OpResult result, int64_t position, ArrayRef<int64_t> taken) const {
  auto group = cast<dl::GroupOp>(result.getOwner());
  for (auto [index, input] : llvm::enumerate(group.getInputs())) {
    Value root = rootOf(input);
    auto buffer = buffers.find(root);
    if (buffer == buffers.end() || intervals[buffer->second].end != position ||
        llvm::is_contained(taken, int64_t(index)))
      continue;
    unsigned uses = llvm::count_if(group.getInputs(), [&](Value other) { return rootOf(other) == root; });
    if (uses == 1 && canTakeOver(group, result.getResultNumber(), index))
      return index;
  }
  return std::nullopt;
}

void EntryPlanner::placeResult(OpResult result, int64_t position, SmallVectorImpl<int64_t> &inPlace) {
  auto group = cast<dl::GroupOp>(result.getOwner());
  if (dl::SlotAttr slot = fixed.lookup(result)) {
    for (auto [index, input] : llvm::enumerate(group.getInputs()))
      if (Value root = rootOf(input);
          (isa<BlockArgument>(root) || root.getDefiningOp<dl::ReadOp>()) && slotOf(root) == slot)
        inPlace[result.getResultNumber()] = index;
    return;
  }
  if (pieces.contains(result))
    return;
  if (std::optional<unsigned> input = findDyingInput(result, position, inPlace)) {
    inPlace[result.getResultNumber()] = *input;
    unsigned buffer = buffers.lookup(rootOf(group.getInputs()[*input]));
    intervals[buffer].end = lastUse(result);
    buffers[result] = buffer;
    return;
  }
  buffers[result] = addBuffer(dl::getStorageBytes(result.getType()), position, lastUse(result), group);
}

void EntryPlanner::planGroup(dl::GroupOp group, int64_t position) {
  if (isInPlaceCollective(group))
    return;
  SmallVector<int64_t> inPlace(group.getNumResults(), -1);
  for (OpResult result : group->getOpResults())
    placeResult(result, position, inPlace);
  if (llvm::any_of(inPlace, [](int64_t input) { return input >= 0; }))
    group.setInPlace(inPlace);
  if (int64_t bytes = isCopy(group) || group.isExchange() ? 0 : workspaceOf(group))
    workspaces[group] = addBuffer(bytes, position, position, group);
}

void EntryPlanner::setSlots() {
  auto activation = [&](unsigned buffer, int64_t bytes, int64_t offset = 0) {
    return dl::SlotAttr::get(context, activationArena, packing.offsets[buffer] + offset, bytes);
  };
  for (dl::GroupOp group : groups) {
    SmallVector<Attribute> slots;
    for (Value result : group.getResults()) {
      Value root = rootOf(result);
      if (auto slot = fixed.lookup(root))
        slots.push_back(slot);
      else if (auto piece = pieces.find(root); piece != pieces.end())
        slots.push_back(activation(piece->second.buffer, dl::getStorageBytes(result.getType()), piece->second.offset));
      else if (auto buffer = buffers.find(root); buffer != buffers.end())
        slots.push_back(activation(buffer->second, dl::getStorageBytes(result.getType())));
      else
        slots.push_back(slotOf(root));
    }
    group.setSlotsAttr(ArrayAttr::get(context, slots));
    if (auto workspace = workspaces.find(group); workspace != workspaces.end())
      group.setWorkspaceAttr(activation(workspace->second, intervals[workspace->second].bytes));
  }
}

EntryMemory EntryPlanner::plan() {
  for (auto [position, group] : llvm::enumerate(groups))
    positions[group] = position;
  for (dl::GroupOp group : groups)
    if (isInPlaceCollective(group))
      planBucket(group);
  for (auto [position, group] : llvm::enumerate(groups))
    if (!isView(group))
      planGroup(group, position);
  packing = pack(intervals);
  setSlots();
  EntryMemory memory{packing.bytes, liveBound(intervals), 0, 0};
  for (auto [group, buffer] : workspaces)
    if (!controlOf(cast<dl::GroupOp>(group)))
      memory.workspace = std::max(memory.workspace, intervals[buffer].bytes);
  return memory;
}

SmallVector<unsigned> EntryPlanner::liveAtPeak(int64_t &peak) const {
  peak = 0;
  liveBound(intervals, &peak);
  SmallVector<unsigned> live;
  for (unsigned buffer = 0; buffer < intervals.size(); ++buffer)
    if (intervals[buffer].start <= peak && peak <= intervals[buffer].end)
      live.push_back(buffer);
  llvm::sort(live, [&](unsigned a, unsigned b) {
    return std::pair(-intervals[a].bytes, a) < std::pair(-intervals[b].bytes, b);
  });
  return live;
}

/// What the bytes are to the group that runs at the peak.
StringRef EntryPlanner::classOf(unsigned buffer, int64_t peak) const {
  auto workspace = workspaces.find(owners[buffer]);
  if (workspace != workspaces.end() && workspace->second == buffer)
    return "workspace";
  bool isUsed = intervals[buffer].start == peak || intervals[buffer].end == peak;
  for (auto [value, other] : buffers)
    if (other == buffer && peak < int64_t(groups.size()))
      isUsed |= llvm::is_contained(readersOfBytes(value), groups[peak]);
  return isUsed ? "in use there" : "kept for later";
}

void EntryPlanner::explain(InFlightDiagnostic &error) const {
  int64_t peak;
  SmallVector<unsigned> live = liveAtPeak(peak);
  for (unsigned buffer : ArrayRef(live).take_front(10))
    error.attachNote(owners[buffer]->getLoc())
        << intervals[buffer].bytes << " bytes live at the peak, " << classOf(buffer, peak);
}

void EntryPlanner::advise(InFlightDiagnostic &error) const {
  int64_t peak;
  SmallVector<unsigned> live = liveAtPeak(peak);
  // Gradients have the types of parameters; other values grow with the batch.
  DenseSet<Type> parameters;
  int64_t wide = 0, batch = 0;
  bool isMixed = false;
  if (groups.empty())
    return;
  dl::GroupOp first = groups.front();
  for (auto variable : first->getParentOfType<ModuleOp>().getOps<dl::VariableOp>())
    parameters.insert(variable.getType());
  for (unsigned buffer : live) {
    auto of = llvm::find_if(buffers, [&](auto &entry) { return entry.second == buffer; });
    if (of == buffers.end())
      continue;
    auto type = cast<RankedTensorType>(of->first.getType());
    wide += type.getElementType().isF32() ? intervals[buffer].bytes : 0;
    isMixed |= type.getElementType().isF16() || type.getElementType().isBF16();
    batch += parameters.contains(type) ? 0 : intervals[buffer].bytes;
  }
  if (wide && !isMixed)
    error.attachNote() << "16 bit instead of 32 would save about " << wide / 2 << " bytes (--amp=bf16)";
  if (batch)
    error.attachNote() << "half the batch would save about " << batch / 2 << " bytes";
}

static LogicalResult checkGrouped(Block &block) {
  for (Operation &op : block)
    if (!isa<dl::ReadOp, dl::WriteOp, dl::GroupOp>(op) && !op.hasTrait<OpTrait::IsTerminator>() &&
        !op.hasAttr("dl.slot"))
      return op.emitOpError("expects to be in a dl.group; run dl-fuse");
  return success();
}

/// Plans the regions of control ops before the block they are in: each once, whatever the number of its runs. What a
/// region needs is the workspace of its group; the regions of one op share it.
class RegionPlanner {
public:
  RegionPlanner(const WorkspaceBytes &kernelWorkspace, int64_t alignment)
      : kernelWorkspace(kernelWorkspace), alignment(alignment) {}

  LogicalResult plan(Block &block) {
    for (auto group : block.getOps<dl::GroupOp>())
      if (dl::ControlOpInterface control = controlOf(group))
        for (Region &region : control->getRegions())
          if (failed(planRegion(group, control, region.front())))
            return failure();
    return success();
  }

  /// Of a group in a planned block.
  int64_t workspaceOf(dl::GroupOp group) const {
    auto found = regionBytes.find(group);
    return found == regionBytes.end() ? kernelWorkspace(group) : found->second;
  }
  /// The most scratch memory of a kernel in a region.
  int64_t mostWorkspace() const { return most; }

private:
  LogicalResult planRegion(dl::GroupOp group, dl::ControlOpInterface control, Block &body) {
    if (failed(checkGrouped(body)) || failed(plan(body)))
      return failure();
    copyUnaligned(control, body);
    unsigned carried = control.getNumCarried();
    FailureOr<FixedSlots> fixed = placeState(body, carried);
    if (failed(fixed))
      return failure();
    WorkspaceBytes workspace = [this](dl::GroupOp inner) { return workspaceOf(inner); };
    SmallVector<int64_t> offsets;
    EntryPlanner planner(body, *fixed, workspace);
    for (BlockArgument argument : body.getArguments().take_front(carried)) {
      Value next = rootOf(body.getTerminator()->getOperand(argument.getArgNumber()));
      bool inPlace = fixed->lookup(next) == slotOf(argument);
      offsets.push_back(inPlace ? -1 : int64_t(planner.addLasting(dl::getStorageBytes(argument.getType()), control)));
    }
    EntryMemory memory = planner.plan();
    for (int64_t &offset : offsets)
      if (offset >= 0)
        offset = planner.offsetOf(offset);
    if (carried)
      control.setBufferOffsets(offsets);
    int64_t &bytes = regionBytes[group];
    bytes = std::max(bytes, memory.activation);
    most = std::max(most, memory.workspace);
    return success();
  }

  // A slice lies at a multiple of its size, where a device's vectors may not reach it.
  void copyUnaligned(dl::ControlOpInterface control, Block &body) {
    auto isUnaligned = [&](Type type) { return dl::getStorageBytes(type) % alignment != 0; };
    Operation *yield = body.getTerminator();
    for (BlockArgument argument : body.getArguments())
      if (control.isSlice(argument.getArgNumber()) && isUnaligned(argument.getType())) {
        OpBuilder builder = OpBuilder::atBlockBegin(&body);
        Value copy = createCopy(builder, argument, control.getLoc());
        argument.replaceAllUsesExcept(copy, copy.getDefiningOp());
      }
    for (OpOperand &operand : yield->getOpOperands())
      if (control.isStacked(operand.getOperandNumber()) && isUnaligned(operand.get().getType())) {
        OpBuilder builder(yield);
        operand.set(createCopy(builder, operand.get(), control.getLoc()));
      }
  }

  const WorkspaceBytes &kernelWorkspace;
  int64_t alignment, most = 0;
  DenseMap<Operation *, int64_t> regionBytes;
};

struct PlanMemoryPass : passes::impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;
  WorkspaceBytes workspaceOf;

  void runOnOperation() override {
    constantBytes = 0;
    placeConstants();
    SmallVector<NamedAttribute> entries;
    EntryMemory most;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(planEntry(function, most, entries)))
        return signalPassFailure();
    Builder builder(&getContext());
    SmallVector<NamedAttribute> memory;
    for (auto &[name, bytes] : stateBytes())
      memory.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(bytes)));
    memory.push_back(builder.getNamedAttr(activationArena, builder.getI64IntegerAttr(most.activation)));
    memory.push_back(builder.getNamedAttr("workspace", builder.getI64IntegerAttr(most.workspace)));
    memory.push_back(builder.getNamedAttr(constantArena, builder.getI64IntegerAttr(constantBytes)));
    memory.push_back(builder.getNamedAttr("io", builder.getI64IntegerAttr(most.io)));
    memory.push_back(builder.getNamedAttr("entries", builder.getDictionaryAttr(entries)));
    getOperation()->setAttr("dl.memory", builder.getDictionaryAttr(memory));
  }

  LogicalResult planEntry(func::FuncOp function, EntryMemory &most, SmallVectorImpl<NamedAttribute> &entries) {
    Block &block = function.getBody().front();
    WorkspaceBytes always = [this](dl::GroupOp) { return int64_t(workspaceBytes); };
    RegionPlanner regions(workspaceOf ? workspaceOf : always, sliceAlignment);
    if (failed(checkGrouped(block)) || failed(regions.plan(block)))
      return failure();
    FailureOr<FixedSlots> fixed = placeState(block);
    if (failed(fixed))
      return failure();
    WorkspaceBytes workspace = [&](dl::GroupOp group) { return regions.workspaceOf(group); };
    EntryPlanner planner(block, std::move(*fixed), workspace);
    EntryMemory entry = planner.plan();
    entry.workspace = std::max(entry.workspace, regions.mostWorkspace());
    for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
      entry.io += dl::getSlotBytes(type);
    int64_t peak = entry.activation + entry.io + constantBytes;
    for (auto &[name, bytes] : stateBytes())
      peak += bytes;
    if (failed(checkLimits(function, planner, entry.activation, peak, entry.io)))
      return failure();
    most.activation = std::max(most.activation, entry.activation);
    most.workspace = std::max(most.workspace, entry.workspace);
    most.io = std::max(most.io, entry.io);
    Builder builder(&getContext());
    auto number = [&](StringRef name, int64_t bytes) {
      return builder.getNamedAttr(name, builder.getI64IntegerAttr(bytes));
    };
    SmallVector<NamedAttribute> numbers{number("activation", entry.activation), number("bound", entry.bound),
                                        number("io", entry.io), number("peak", peak)};
    for (StringRef name : {"kept", "recomputed"})
      if (Attribute known = function->removeAttr(("dl." + name).str()))
        numbers.push_back(builder.getNamedAttr(name, known));
    entries.push_back(builder.getNamedAttr(function.getName(), builder.getDictionaryAttr(numbers)));
    return success();
  }

  static void explainActivations(InFlightDiagnostic &error, func::FuncOp function, const EntryPlanner &planner,
                                 int64_t activation) {
    planner.explain(error);
    planner.advise(error);
    auto again = function->getAttrOfType<ArrayAttr>("dl.recomputed");
    if (!again)
      return;
    double milliseconds = 0;
    for (auto group : again.getAsRange<DictionaryAttr>())
      milliseconds += group.getAs<FloatAttr>("milliseconds").getValueAsDouble();
    std::string time = llvm::formatv("{0:f3}", milliseconds).str();
    error.attachNote() << "computing " << again.size() << (again.size() == 1 ? " group" : " groups")
                       << " a second time has brought " << function->getAttrOfType<IntegerAttr>("dl.kept").getInt()
                       << " bytes of activations down to " << activation << ", at about " << time << " ms more";
  }

  LogicalResult checkLimits(func::FuncOp function, const EntryPlanner &planner, int64_t activation, int64_t peak,
                            int64_t io) {
    MemoryLimits limits = MemoryLimits{memoryLimit, activationBudget}.of(function);
    bool fits = !limits.all || peak <= limits.all, fitsBudget = !limits.activation || activation <= limits.activation;
    if (fits && fitsBudget)
      return success();
    InFlightDiagnostic error = function.emitError("entry '") << function.getName() << "' expects to need at most ";
    if (fits)
      error << limits.activation << " bytes of activations, got " << activation;
    else
      error << limits.all << " bytes, got " << peak;
    if (!fits && peak - activation > limits.all)
      error.attachNote() << "what is not an activation needs " << peak - activation << " bytes alone";
    else
      explainActivations(error, function, planner, activation);
    std::string rest;
    llvm::raw_string_ostream stream(rest);
    stream << "activations " << activation << ", arguments and results " << io << ", constants " << constantBytes;
    for (auto &[name, bytes] : stateBytes())
      stream << ", " << name << " " << bytes;
    error.attachNote() << "bytes by class: " << rest;
    return error;
  }

  /// Constants that no kernel holds lie in their own arena, equal ones once.
  void placeConstants() {
    llvm::MapVector<Attribute, dl::SlotAttr> known;
    getOperation().walk([&](dl::ConstantOp constant) {
      if (isa<dl::GroupOp>(constant->getParentOp()))
        return;
      dl::SlotAttr &slot = known[constant.getValueAttr()];
      if (!slot) {
        slot = dl::SlotAttr::get(&getContext(), constantArena, constantBytes, dl::getStorageBytes(constant.getType()));
        constantBytes += dl::getSlotBytes(constant.getType());
      }
      constant->setAttr("dl.slot", slot);
    });
  }

  /// Bytes of the state arenas by role.
  llvm::MapVector<StringRef, int64_t> stateBytes() {
    llvm::StringMap<int64_t> ends;
    llvm::MapVector<StringRef, int64_t> bytes;
    for (auto variable : getOperation().getOps<dl::VariableOp>()) {
      dl::SlotAttr slot = variable.getSlotAttr();
      if (!slot)
        continue;
      int64_t &end = ends[slot.getArena()];
      int64_t grown = std::max<int64_t>(end, llvm::alignTo(slot.getOffset() + slot.getBytes(), dl::slotAlignment));
      bytes[dl::stringifyRole(variable.getRole())] += grown - end;
      end = grown;
    }
    return bytes;
  }

  int64_t constantBytes = 0;
};

} // namespace

static constexpr llvm::StringLiteral limitAttribute = "dl.memory_limit", budgetAttribute = "dl.activation_budget";

MemoryLimits MemoryLimits::of(Operation *entry) const {
  MemoryLimits own = *this;
  if (auto limit = entry->getAttrOfType<IntegerAttr>(limitAttribute))
    own.all = limit.getInt();
  if (auto budget = entry->getAttrOfType<IntegerAttr>(budgetAttribute))
    own.activation = budget.getInt();
  return own;
}

void MemoryLimits::removeFrom(Operation *entry) {
  entry->removeAttr(limitAttribute);
  entry->removeAttr(budgetAttribute);
}

std::unique_ptr<Pass> dlc::passes::createPlanMemoryPass(WorkspaceBytes workspaceOf, MemoryLimits limits,
                                                        int64_t sliceAlignment) {
  auto pass = std::make_unique<PlanMemoryPass>(PlanMemoryPassOptions{limits.all, limits.activation, 0, sliceAlignment});
  pass->workspaceOf = std::move(workspaceOf);
  return pass;
}
