#include "dlc/ir/Collective.h"
#include "dlc/ir/Rt.h"
#include "dlc/ir/Storage.h"
#include "dlc/passes/Passes.h"
#include "llvm/ADT/StringMap.h"
#include <map>

// Runs each program on byte ranges alone. Changes nothing.

namespace dlc::passes {
#define GEN_PASS_DEF_RTCHECKPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

/// A byte range of an arena, an argument ("argument 0") or a result.
struct Range {
  std::string memory;
  int64_t begin, end;
  bool operator==(const Range &other) const = default;
  bool overlaps(const Range &other) const { return memory == other.memory && begin < other.end && other.begin < end; }
};

/// Disjoint ranges that hold defined bytes.
class Defined {
public:
  void add(int64_t begin, int64_t end) {
    remove(begin, end);
    if (begin < end)
      ranges[begin] = end;
  }

  void remove(int64_t begin, int64_t end) {
    auto it = ranges.lower_bound(begin);
    if (it != ranges.begin() && std::prev(it)->second > begin)
      --it;
    while (it != ranges.end() && it->first < end) {
      auto [first, last] = *it;
      it = ranges.erase(it);
      if (first < begin)
        ranges[first] = begin;
      if (last > end)
        ranges[end] = last;
    }
  }

  /// As `covers`, but for what lies between a piece and the next multiple of the alignment.
  bool coversPieces(int64_t begin, int64_t end) const {
    while (begin < end) {
      auto it = ranges.upper_bound(begin);
      if (it != ranges.begin() && std::prev(it)->second > begin)
        begin = std::prev(it)->second;
      else if (int64_t next = llvm::alignTo(begin, dl::slotAlignment); next != begin)
        begin = next;
      else
        return false;
    }
    return true;
  }

  bool covers(int64_t begin, int64_t end) const {
    while (begin < end) {
      auto it = ranges.upper_bound(begin);
      if (it == ranges.begin() || std::prev(it)->second <= begin)
        return false;
      begin = std::prev(it)->second;
    }
    return true;
  }

  /// What both hold.
  Defined operator&(const Defined &other) const {
    Defined both;
    for (auto [begin, end] : ranges)
      for (auto [from, to] : other.ranges)
        both.add(std::max(begin, from), std::max(std::max(begin, from), std::min(end, to)));
    return both;
  }

private:
  std::map<int64_t, int64_t> ranges;
};

class ProgramCheck {
public:
  ProgramCheck(rt::ProgramOp program, ModuleOp module) : program(program), module(module), symbols(module) {
    for (auto variable : module.getOps<dl::VariableOp>())
      if (dl::SlotAttr slot = variable.getSlotAttr())
        defined[slot.getArena()].add(slot.getOffset(), slot.getOffset() + slot.getBytes());
    for (auto data : module.getOps<rt::DataOp>())
      defined[data.getArena()].add(data.getOffset(),
                                   data.getOffset() + dl::getStorageBytes(data.getValue().getShapedType()));
    for (auto [index, type] : llvm::enumerate(program.getArgumentTypes()))
      defined["argument " + std::to_string(index)].add(0, dl::getStorageBytes(cast<TypeAttr>(type).getValue()));
  }

  LogicalResult run() {
    if (failed(checkBlock(program.getBody().front())))
      return failure();
    for (Exchange &exchange : underWay)
      return exchange.start.emitOpError("expects a wait behind it in the same block");
    for (auto [index, type] : llvm::enumerate(program.getResultTypes()))
      if (!defined["result " + std::to_string(index)].covers(0, dl::getStorageBytes(cast<TypeAttr>(type).getValue())))
        return program.emitOpError("expects every result to be written, but result ") << index << " is not";
    return success();
  }

private:
  LogicalResult checkBlock(Block &block) {
    for (Operation &op : block) {
      LogicalResult checked = success();
      if (auto slice = dyn_cast<rt::SliceOp>(op))
        checked = checkSlice(slice);
      else if (auto launch = dyn_cast<rt::LaunchOp>(op))
        checked = checkLaunch(launch);
      else if (auto copy = dyn_cast<rt::CopyOp>(op))
        checked = checkCopy(copy);
      else if (auto loop = dyn_cast<rt::LoopOp>(op))
        checked = checkLoop(loop);
      else if (auto branch = dyn_cast<rt::IfOp>(op))
        checked = checkIf(branch);
      else if (auto start = dyn_cast<rt::CollectiveStartOp>(op))
        checked = checkStart(start);
      else if (auto wait = dyn_cast<rt::CollectiveWaitOp>(op))
        checked = checkWait(wait);
      if (failed(checked))
        return failure();
    }
    return success();
  }

  /// One step stands for all; what the body's arguments name is memory of its own, which nothing else may write.
  LogicalResult checkLoop(rt::LoopOp loop) {
    auto arguments = loop.getBody().getArguments();
    auto slices = arguments.take_front(loop.getSlices().size()), carried = arguments.drop_front(slices.size());
    for (auto [argument, buffer] : llvm::zip(slices, loop.getSlices())) {
      Range range = rangeOf(buffer);
      if (defined[range.memory].covers(range.begin, range.end))
        define(argument);
    }
    for (auto [index, first] : llvm::enumerate(loop.getFirst())) {
      if (failed(checkRead(loop, first)))
        return failure();
      define(carried[2 * index]);
    }
    size_t outer = handed.size();
    for (Value operand : loop.getOperands())
      handed.push_back(rangeOf(operand));
    if (failed(checkBlock(loop.getBody().front())))
      return failure();
    handed.resize(outer);
    SmallVector<Value> targets;
    for (auto [argument, buffer] : llvm::zip(slices, loop.getSlices()))
      if (written.contains(argument)) {
        if (failed(checkRead(loop, argument)))
          return failure();
        targets.push_back(buffer);
      }
    for (auto [index, last] : llvm::enumerate(loop.getLast())) {
      if (failed(checkRead(loop, carried[2 * index + 1])))
        return failure();
      targets.append({last, loop.getOther()[index]});
    }
    return checkTargets(loop, targets);
  }

  LogicalResult checkTargets(rt::LoopOp loop, ArrayRef<Value> targets) {
    for (Value target : targets) {
      unsigned overlapping =
          llvm::count_if(loop.getOperands(), [&](Value operand) { return rangeOf(operand).overlaps(rangeOf(target)); });
      if (overlapping > 1)
        return loop.emitOpError("expects what its steps write apart from all else it is given, got ")
               << rangeOf(target).memory << " twice";
      if (failed(checkWrite(loop, target)))
        return failure();
    }
    for (Value other : loop.getOther()) {
      Range range = rangeOf(other);
      defined[range.memory].remove(range.begin, range.end);
    }
    return success();
  }

  LogicalResult checkIf(rt::IfOp branch) {
    if (failed(checkRead(branch, branch.getPredicate())))
      return failure();
    llvm::StringMap<Defined> before = defined;
    if (failed(checkBlock(branch.getTaken().front())))
      return failure();
    llvm::StringMap<Defined> taken = std::exchange(defined, before);
    if (failed(checkBlock(branch.getOtherwise().front())))
      return failure();
    for (auto &entry : defined)
      entry.second = entry.second & taken[entry.first()];
    return success();
  }

  void define(Value buffer) {
    Range range = rangeOf(buffer);
    defined[range.memory].add(range.begin, range.end);
  }

  Range rangeOf(Value buffer) {
    if (isa<BlockArgument>(buffer)) {
      unsigned number = stepBuffers.try_emplace(buffer, stepBuffers.size()).first->second;
      return {"step buffer " + std::to_string(number), 0, rt::getBufferBytes(buffer)};
    }
    Operation *op = buffer.getDefiningOp();
    if (auto slice = dyn_cast<rt::SliceOp>(op))
      return {slice.getArena().str(), int64_t(slice.getOffset()), int64_t(slice.getOffset() + slice.getBytes())};
    if (auto argument = dyn_cast<rt::ArgumentOp>(op))
      return {"argument " + std::to_string(argument.getIndex()), 0, rt::getBufferBytes(buffer)};
    return {"result " + std::to_string(cast<rt::ResultOp>(op).getIndex()), 0, rt::getBufferBytes(buffer)};
  }

  LogicalResult checkSlice(rt::SliceOp slice) {
    auto arena = symbols.lookup<rt::ArenaOp>(slice.getArena());
    if (!arena)
      return slice.emitOpError("expects an arena, got @") << slice.getArena() << ", which is none";
    int64_t offset = slice.getOffset(), bytes = slice.getBytes(), all = arena.getBytes();
    if (offset < 0 || bytes < 0 || offset % dl::slotAlignment || offset > all || bytes > all - offset)
      return slice.emitOpError("expects bytes inside the arena's ")
             << all << ", from a multiple of " << dl::slotAlignment << ", got [" << offset << ", " << offset + bytes
             << ")";
    return success();
  }

  LogicalResult checkRead(Operation *op, Value buffer) {
    Range range = rangeOf(buffer);
    for (const Exchange &exchange : underWay)
      if (range.overlaps(exchange.to))
        return touches(op, range, exchange);
    if (!defined[range.memory].covers(range.begin, range.end))
      return op->emitOpError("expects to read written bytes, got ")
             << range.memory << " [" << range.begin << ", " << range.end << "), not all of which are";
    return success();
  }

  LogicalResult checkWrite(Operation *op, Value buffer) {
    Range range = rangeOf(buffer);
    for (const Exchange &exchange : underWay)
      if (range.overlaps(exchange.from) || range.overlaps(exchange.to))
        return touches(op, range, exchange);
    auto arena = symbols.lookup<rt::ArenaOp>(range.memory);
    if (buffer.getDefiningOp<rt::ArgumentOp>() || (arena && arena.getArenaClass() == rt::ArenaClass::Constant))
      return op->emitOpError("expects not to write ") << range.memory;
    for (const Range &other : handed)
      if (range.overlaps(other))
        return op->emitOpError("expects not to write ")
               << range.memory << ", which a loop around it hands to its steps";
    written.insert(buffer);
    defined[range.memory].add(range.begin, range.end);
    return success();
  }

  LogicalResult checkSize(Operation *op, Value buffer, Type type) {
    if (rt::getBufferBytes(buffer) != dl::getStorageBytes(type))
      return op->emitOpError("expects a buffer of ")
             << dl::getStorageBytes(type) << " bytes for " << type << ", got " << rt::getBufferBytes(buffer);
    return success();
  }

  LogicalResult checkLaunch(rt::LaunchOp launch) {
    auto kernel = symbols.lookup<rt::KernelOp>(launch.getKernel());
    if (!kernel)
      return launch.emitOpError("expects a kernel, got @") << launch.getKernel() << ", which is none";
    dl::GroupOp group = kernel.getGroup();
    if (launch.getReads().size() != group.getInputs().size() || launch.getWrites().size() != group.getNumResults())
      return launch.emitOpError("expects ")
             << group.getInputs().size() << " reads and " << group.getNumResults() << " writes";
    for (auto [buffer, input] : llvm::zip(launch.getReads(), group.getInputs()))
      if (failed(checkSize(launch, buffer, input.getType())) || failed(checkRead(launch, buffer)))
        return failure();
    if (failed(checkApart(launch, group)))
      return failure();
    if (Value workspace = launch.getWorkspace()) {
      Range range = rangeOf(workspace);
      if (range.end - range.begin < int64_t(kernel.getWorkspace()))
        return launch.emitOpError("expects a workspace of ") << kernel.getWorkspace() << " bytes";
      defined[range.memory].remove(range.begin, range.end);
    } else if (kernel.getWorkspace()) {
      return launch.emitOpError("expects a workspace of ") << kernel.getWorkspace() << " bytes";
    }
    for (auto [buffer, result] : llvm::zip(launch.getWrites(), group.getResults()))
      if (failed(checkSize(launch, buffer, result.getType())) || failed(checkWrite(launch, buffer)))
        return failure();
    return success();
  }

  /// What is written overlaps nothing else, but an input in place.
  LogicalResult checkApart(rt::LaunchOp launch, dl::GroupOp group) {
    SmallVector<Value> written(launch.getWrites());
    if (launch.getWorkspace())
      written.push_back(launch.getWorkspace());
    for (auto [index, buffer] : llvm::enumerate(written)) {
      Range range = rangeOf(buffer);
      for (Value other : ArrayRef(written).drop_front(index + 1))
        if (range.overlaps(rangeOf(other)))
          return launch.emitOpError("expects results and workspace apart");
      int64_t inPlace = group.getInPlace() && index < group.getNumResults() ? (*group.getInPlace())[index] : -1;
      for (auto [input, read] : llvm::enumerate(launch.getReads())) {
        Range from = rangeOf(read);
        bool allowed = int64_t(input) == inPlace && from == range;
        if (range.overlaps(from) && !allowed)
          return launch.emitOpError("expects write ") << index << " and read " << input << " apart, or in place";
      }
    }
    return success();
  }

  LogicalResult checkCopy(rt::CopyOp copy) {
    int64_t bytes = copy.getBytes();
    if (bytes > rt::getBufferBytes(copy.getFrom()) || bytes > rt::getBufferBytes(copy.getTo()))
      return copy.emitOpError("expects buffers of at least ") << bytes << " bytes";
    if (rangeOf(copy.getFrom()).overlaps(rangeOf(copy.getTo())))
      return copy.emitOpError("expects buffers that do not overlap");
    return success(succeeded(checkRead(copy, copy.getFrom())) && succeeded(checkWrite(copy, copy.getTo())));
  }

  /// A collective that was started and not waited for.
  struct Exchange {
    rt::CollectiveStartOp start;
    Range from, to;
  };

  static LogicalResult touches(Operation *op, const Range &range, Exchange exchange) {
    return op->emitOpError("expects not to touch ")
           << range.memory << " [" << range.begin << ", " << range.end << ") between the start and the wait of "
           << exchange.start.getCollectiveAttr();
  }

  LogicalResult checkStart(rt::CollectiveStartOp start) {
    auto collective = symbols.lookup<rt::CollectiveOp>(start.getCollective());
    if (!collective)
      return start.emitOpError("expects a collective, got ") << start.getCollectiveAttr() << ", which is none";
    dl::MeshOp mesh = dl::MeshOp::find(module);
    int64_t members = mesh ? mesh.size(collective.getAxes()) : 0;
    if (!members)
      return collective.emitOpError("expects a dl.mesh with the axes ") << collective.getAxes();
    if (!started.insert(collective).second)
      return start.emitOpError("expects to be the only start of ") << start.getCollectiveAttr();
    Range from = rangeOf(start.getFrom()), to = rangeOf(start.getTo());
    if (from.end - from.begin != collective.getFromBytes(members) ||
        to.end - to.begin != collective.getToBytes(members))
      return start.emitOpError("expects buffers of ")
             << collective.getFromBytes(members) << " and " << collective.getToBytes(members) << " bytes, got "
             << from.end - from.begin << " and " << to.end - to.begin;
    bool inPlace = collective.getKind() == dl::CollectiveKind::AllReduce;
    if (inPlace ? !(from == to) : from.overlaps(to))
      return start.emitOpError(inPlace ? "expects one buffer" : "expects buffers that do not overlap");
    if (inPlace ? !defined[from.memory].coversPieces(from.begin, from.end) : failed(checkRead(start, start.getFrom())))
      return start.emitOpError("expects to read written bytes");
    if (failed(checkWrite(start, start.getTo())))
      return failure();
    underWay.push_back({start, from, to});
    return success();
  }

  LogicalResult checkWait(rt::CollectiveWaitOp wait) {
    auto ended = llvm::find_if(
        underWay, [&](Exchange &exchange) { return exchange.start.getCollectiveAttr() == wait.getCollectiveAttr(); });
    if (ended == underWay.end())
      return wait.emitOpError("expects a start of ") << wait.getCollectiveAttr() << " in front of it";
    underWay.erase(ended);
    return success();
  }

  rt::ProgramOp program;
  ModuleOp module;
  SymbolTable symbols;
  llvm::StringMap<Defined> defined;
  SmallVector<Exchange> underWay;
  DenseSet<Operation *> started;
  DenseSet<Value> written;
  DenseMap<Value, unsigned> stepBuffers;
  std::vector<Range> handed; // to the bodies of the loops around an op
};

struct RtCheckPass : passes::impl::RtCheckPassBase<RtCheckPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<rt::ProgramOp>())
      if (failed(ProgramCheck(program, getOperation()).run()))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
