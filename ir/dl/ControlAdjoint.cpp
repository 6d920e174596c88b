#include "dlc/ir/Constant.h"
#include "dlc/ir/Control.h"
#include "dlc/ir/Elementwise.h"
#include "dlc/ir/Program.h"
#include "dlc/ir/Storage.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

// Adjoints of ops with regions. A block is differentiated into a second one that reads values of the first; those
// become results of the op itself (what is saved), and operands of the op that runs the second block.

using namespace mlir;
using namespace dlc::dl;

static Value zeros(OpBuilder &builder, Location location, Type type) {
  return ConstantOp::createSplat(builder, location, cast<RankedTensorType>(type), 0.0);
}

/// Ops that are cheaper to have again than to save: constants, and what only repeats elements.
static bool isCheapAgain(Operation *op) {
  if (!op || op->getNumRegions())
    return false;
  if (op->getNumOperands() == 0)
    return true;
  return isa<IndexMapOpInterface>(op) && op->getNumOperands() == 1 &&
         getStorageBytes(op->getOperand(0).getType()) < getStorageBytes(op->getResult(0).getType());
}

namespace {

/// The second block, and the values of the first that it reads.
class AdjointBlock {
public:
  explicit AdjointBlock(Block &forward) : forward(forward) {}

  Block &get() { return *block; }
  Value addArgument(Type type, Location location) { return block->addArgument(type, location); }
  LogicalResult differentiate(BlockAdjoint &engine, const llvm::BitVector &active, ArrayRef<Value> seeds) {
    FailureOr<SmallVector<Value>> found = engine.differentiate(forward, active, seeds, *block);
    if (succeeded(found))
      cotangents = std::move(*found);
    return found;
  }
  /// Of an active argument of the first block; zeros if nothing reaches it.
  Value cotangentOr(unsigned argument, function_ref<Value()> otherwise) const {
    return cotangents[argument] ? cotangents[argument] : otherwise();
  }
  Value cotangent(unsigned argument) const { return cotangents[argument]; }

  OpBuilder atEnd() {
    OpBuilder builder(forward.getParentOp()->getContext());
    builder.setInsertionPointToEnd(block.get());
    return builder;
  }

  /// The values of the first block that are read, in the order of their first use; cheap ones are copied instead.
  SmallVector<Value> collectReads();
  void replaceReads(Value value, Value by) {
    value.replaceUsesWithIf(by, [&](OpOperand &use) { return use.getOwner()->getBlock() == block.get(); });
  }
  /// Gives the block to a region.
  void moveTo(Region &region) { region.push_back(block.release()); }

private:
  bool isForward(Value value) const { return value.getParentBlock() == &forward; }
  Value copyOf(Value value);

  Block &forward;
  std::unique_ptr<Block> block = std::make_unique<Block>();
  SmallVector<Value> cotangents; // an argument of the first block; null: not active, or zero
  IRMapping copies;
  llvm::SetVector<Value> reads;
};

} // namespace

Value AdjointBlock::copyOf(Value value) {
  if (copies.contains(value))
    return copies.lookup(value);
  Operation *op = value.getDefiningOp();
  if (!isCheapAgain(op)) {
    reads.insert(value);
    return value;
  }
  for (Value operand : op->getOperands())
    copies.map(operand, copyOf(operand));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(block.get());
  Operation *copy = builder.clone(*op, copies);
  for (Value operand : copy->getOperands())
    if (Operation *before = operand.getDefiningOp(); before && before->getBlock() == block.get())
      copy->moveAfter(before);
  return copies.lookup(value);
}

SmallVector<Value> AdjointBlock::collectReads() {
  for (Operation &op : llvm::make_early_inc_range(*block))
    for (OpOperand &operand : op.getOpOperands())
      if (isForward(operand.get()))
        operand.set(copyOf(operand.get()));
  return reads.takeVector();
}

/// Arguments a derivative reaches, and with them the carried values it reaches in later steps.
static llvm::BitVector closeOverSteps(ScanOp scan, llvm::BitVector active) {
  Block &block = scan.getBlock();
  for (bool changed = true; changed;) {
    changed = false;
    DenseSet<Value> reached;
    for (BlockArgument argument : block.getArguments())
      if (active[argument.getArgNumber()])
        reached.insert(argument);
    for (Operation &op : block.without_terminator())
      if (llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
            return reached.contains(operand.get()) && carriesDerivative(&op, operand.getOperandNumber());
          }))
        reached.insert_range(op.getResults());
    for (unsigned i = 0; i < scan.getNumCarried(); ++i) {
      Value next = block.getTerminator()->getOperand(i);
      if (!active[i] && hasFloatElements(next.getType()) && reached.contains(next)) {
        active.set(i);
        changed = true;
      }
    }
  }
  return active;
}

namespace {

/// The scan that runs the other way: it carries the cotangents of carried values and the sums of those of whole
/// operands, and stacks those of slices.
class ScanAdjoint {
public:
  ScanAdjoint(ScanOp scan, AdjointBuilder &b)
      : scan(scan), b(b), location(scan.getLoc()), carries(scan.getNumCarried()), slices(scan.getSliced().size()),
        adjoint(scan.getBlock()) {}

  LogicalResult build() {
    chooseActive();
    SmallVector<Value> seeds = addSeeds();
    if (failed(adjoint.differentiate(b.getBlocks(), active, seeds)))
      return failure();
    yieldCotangents();
    scan = passReads(adjoint.collectReads());
    finish();
    return success();
  }

private:
  bool isSlice(unsigned argument) const { return argument >= carries && argument < carries + slices; }

  void chooseActive() {
    llvm::BitVector needs(scan.getNumOperands());
    for (unsigned i = 0; i < scan.getNumOperands(); ++i)
      needs[i] = b.needs(i);
    active = closeOverSteps(scan, needs);
    // A carried value no derivative comes from still passes on what reaches it in later steps.
    for (unsigned i = 0; i < active.size(); ++i)
      if (active[i])
        (i < carries ? activeCarried : isSlice(i) ? activeSliced : activeWhole).push_back(i);
  }

  // Arguments: cotangents of carried values, sums for whole operands, cotangents of stacked results.
  SmallVector<Value> addSeeds() {
    SmallVector<Value> seeds(scan.getNumResults());
    for (unsigned i : activeCarried) {
      Type type = scan.getOperand(i).getType();
      seeds[i] = adjoint.addArgument(type, location);
      Value cotangent = b.cotangent(i).value;
      carried.push_back(cotangent ? cotangent : zeros(b.getBuilder(), location, type));
    }
    for (unsigned i : activeWhole) {
      Type type = scan.getOperand(i).getType();
      sums.push_back(adjoint.addArgument(type, location));
      carried.push_back(zeros(b.getBuilder(), location, type));
    }
    for (unsigned i = carries; i < scan.getNumResults(); ++i)
      if (Value cotangent = b.cotangent(i).value) {
        seeds[i] = adjoint.addArgument(ScanOp::sliceType(cotangent.getType()), location);
        sliced.push_back(cotangent);
      }
    return seeds;
  }

  void yieldCotangents() {
    OpBuilder builder = adjoint.atEnd();
    SmallVector<Value> yielded;
    auto cotangentOf = [&](unsigned argument) {
      return adjoint.cotangentOr(
          argument, [&] { return zeros(builder, location, scan.getBlock().getArgument(argument).getType()); });
    };
    for (unsigned i : activeCarried)
      yielded.push_back(cotangentOf(i));
    for (auto [sum, argument] : llvm::zip_equal(sums, activeWhole)) {
      Value cotangent = adjoint.cotangent(argument);
      yielded.push_back(cotangent ? Value(AddOp::create(builder, location, sum, cotangent)) : sum);
    }
    for (unsigned i : activeSliced)
      yielded.push_back(cotangentOf(i));
    YieldOp::create(builder, location, yielded);
  }

  // Slices and whole operands are passed again; everything else is stacked by the scan, unless it is already.
  ScanOp passReads(ArrayRef<Value> reads) {
    Operation *yield = scan.getBlock().getTerminator();
    SmallVector<Value> yielded(yield->getOperands()), passedWhole;
    SmallVector<Type> types(scan.getResultTypes());
    SmallVector<std::pair<Value, unsigned>> saved; // read -> result
    for (Value read : reads) {
      auto argument = dyn_cast<BlockArgument>(read);
      if (argument && isSlice(argument.getArgNumber())) {
        adjoint.replaceReads(read, adjoint.addArgument(read.getType(), location));
        sliced.push_back(scan.getOperand(argument.getArgNumber()));
        continue;
      }
      if (argument && argument.getArgNumber() >= carries) {
        passedWhole.push_back(read);
        continue;
      }
      auto known = std::find(yielded.begin() + carries, yielded.end(), read);
      saved.push_back({read, unsigned(known - yielded.begin())});
      if (known == yielded.end()) {
        yielded.push_back(read);
        types.push_back(ScanOp::stackedType(read.getType(), scan.getTrips()));
      }
    }
    OpBuilder builder(scan);
    auto made = ScanOp::create(builder, location, types, scan.getCarried(), scan.getSliced(), scan.getWhole(),
                               scan.getTrips(), scan.getBackwards(), DenseI64ArrayAttr());
    yield->setOperands(yielded);
    made.getBody().takeBody(scan.getBody());
    for (auto [read, result] : saved) {
      adjoint.replaceReads(read, adjoint.addArgument(read.getType(), location));
      sliced.push_back(made.getResult(result));
    }
    for (Value read : passedWhole) {
      adjoint.replaceReads(read, adjoint.addArgument(read.getType(), location));
      whole.push_back(made.getOperand(cast<BlockArgument>(read).getArgNumber()));
    }
    b.replaceOp(made);
    return made;
  }

  void finish() {
    SmallVector<Type> types;
    for (Value value : carried)
      types.push_back(value.getType());
    for (unsigned i : activeSliced)
      types.push_back(scan.getOperand(i).getType());
    auto back = ScanOp::create(b.getBuilder(), location, types, carried, sliced, whole, scan.getTrips(),
                               !scan.getBackwards(), DenseI64ArrayAttr());
    adjoint.moveTo(back.getBody());
    unsigned next = 0;
    for (ArrayRef<unsigned> list :
         {ArrayRef<unsigned>(activeCarried), ArrayRef<unsigned>(activeWhole), ArrayRef<unsigned>(activeSliced)})
      for (unsigned operand : list)
        b.addTo(operand, back.getResult(next++));
  }

  ScanOp scan;
  AdjointBuilder &b;
  Location location;
  unsigned carries, slices;
  AdjointBlock adjoint;
  llvm::BitVector active;
  SmallVector<unsigned> activeCarried, activeWhole, activeSliced;
  SmallVector<Value> sums;                   // arguments of the adjoint block
  SmallVector<Value> carried, sliced, whole; // operands of the scan back
};

/// A cond on the same predicate. A value only one region saves is zeros from the other.
class CondAdjoint {
public:
  CondAdjoint(CondOp cond, AdjointBuilder &b)
      : cond(cond), b(b), location(cond.getLoc()), active(cond.getCaptured().size()) {
    for (Region *region : cond.getRegions())
      adjoints.emplace_back(region->front());
    for (unsigned i = 0; i < active.size(); ++i)
      active[i] = b.needs(i + 1);
  }

  LogicalResult build() {
    for (OpResult result : cond->getOpResults())
      if (Value cotangent = b.cotangent(result.getResultNumber()).value)
        operands.push_back(cotangent);
    for (AdjointBlock &adjoint : adjoints)
      if (failed(differentiate(adjoint)))
        return failure();
    std::array<SmallVector<Value>, 2> reads{adjoints[0].collectReads(), adjoints[1].collectReads()};
    passReads(reads);
    SmallVector<Type> types;
    for (unsigned i : active.set_bits())
      types.push_back(cond.getCaptured()[i].getType());
    auto back = CondOp::create(b.getBuilder(), location, types, cond.getPredicate(), operands);
    for (auto [adjoint, region] : llvm::zip(adjoints, back->getRegions()))
      adjoint.moveTo(region);
    for (auto [result, argument] : llvm::zip_equal(back.getResults(), active.set_bits()))
      b.addTo(argument + 1, result);
    return success();
  }

private:
  LogicalResult differentiate(AdjointBlock &adjoint) {
    SmallVector<Value> seeds(cond.getNumResults());
    for (auto [index, seed] : llvm::enumerate(seeds))
      if (b.cotangent(index))
        seed = adjoint.addArgument(cond.getResult(index).getType(), location);
    if (failed(adjoint.differentiate(b.getBlocks(), active, seeds)))
      return failure();
    OpBuilder builder = adjoint.atEnd();
    SmallVector<Value> yielded;
    for (unsigned i : active.set_bits())
      yielded.push_back(
          adjoint.cotangentOr(i, [&] { return zeros(builder, location, cond.getCaptured()[i].getType()); }));
    YieldOp::create(builder, location, yielded);
    return success();
  }

  // Operands are passed again, results too; the rest are new results, of which a region without the value yields zeros.
  void passReads(const std::array<SmallVector<Value>, 2> &reads) {
    llvm::SetVector<unsigned> captured, results;
    std::array<DenseMap<unsigned, Value>, 2> readResults;
    std::array<SmallVector<Value>, 2> yielded;
    SmallVector<Type> types(cond.getResultTypes());
    for (unsigned side : {0u, 1u}) {
      llvm::append_range(yielded[side], adjointsYield(side)->getOperands());
      for (Value read : reads[side])
        if (auto argument = dyn_cast<BlockArgument>(read))
          captured.insert(argument.getArgNumber());
    }
    for (unsigned side : {0u, 1u})
      for (Value read : reads[side]) {
        if (isa<BlockArgument>(read))
          continue;
        unsigned result = resultFor(read, side, types, yielded);
        readResults[side][result] = read;
        results.insert(result);
      }
    for (unsigned side : {0u, 1u})
      fillWithZeros(side, types, yielded[side]);
    OpBuilder builder(cond);
    auto made = CondOp::create(builder, location, types, cond.getPredicate(), cond.getCaptured());
    for (auto [from, to] : llvm::zip(cond->getRegions(), made->getRegions()))
      to.takeBody(from);
    for (unsigned index : captured) {
      operands.push_back(made.getCaptured()[index]);
      for (auto [adjoint, region] : llvm::zip(adjoints, made->getRegions()))
        adjoint.replaceReads(region.getArgument(index), adjoint.addArgument(operands.back().getType(), location));
    }
    for (unsigned index : results) {
      operands.push_back(made.getResult(index));
      for (unsigned side : {0u, 1u}) {
        Value argument = adjoints[side].addArgument(types[index], location);
        if (Value read = readResults[side].lookup(index))
          adjoints[side].replaceReads(read, argument);
      }
    }
    b.replaceOp(made);
    cond = made;
  }

  Operation *adjointsYield(unsigned side) { return cond->getRegion(side).front().getTerminator(); }

  /// The number of the result that holds the value if that side is taken: one it has, or a free one of its type.
  unsigned resultFor(Value read, unsigned side, SmallVectorImpl<Type> &types,
                     std::array<SmallVector<Value>, 2> &yielded) {
    SmallVector<Value> &own = yielded[side];
    own.resize(types.size());
    for (auto [index, value] : llvm::enumerate(own))
      if (value == read)
        return index;
    for (auto [index, value] : llvm::enumerate(own))
      if (!value && types[index] == read.getType()) {
        value = read;
        return index;
      }
    types.push_back(read.getType());
    own.push_back(read);
    return types.size() - 1;
  }

  void fillWithZeros(unsigned side, ArrayRef<Type> types, SmallVectorImpl<Value> &values) {
    Operation *yield = adjointsYield(side);
    OpBuilder builder(yield);
    values.resize(types.size());
    for (auto [type, value] : llvm::zip(types, values))
      if (!value)
        value = zeros(builder, location, type);
    yield->setOperands(values);
  }

  CondOp cond;
  AdjointBuilder &b;
  Location location;
  llvm::BitVector active;
  SmallVector<AdjointBlock> adjoints;
  SmallVector<Value> operands; // of the cond back
};

} // namespace

LogicalResult ScanOp::buildAdjoint(AdjointBuilder &b) { return ScanAdjoint(*this, b).build(); }

LogicalResult CondOp::buildAdjoint(AdjointBuilder &b) { return CondAdjoint(*this, b).build(); }

// What the results depend on besides is read where it is; only what the body computes is there twice.
LogicalResult CheckpointOp::buildAdjoint(AdjointBuilder &b) {
  OpBuilder &builder = b.getBuilder();
  SmallVector<Value> seeds(getNumResults()), after, operands;
  for (auto [index, seed] : llvm::enumerate(seeds)) {
    seed = b.cotangent(index).value;
    if (seed && !matchPattern(seed, m_Constant()))
      after.push_back(seed);
  }
  if (after.empty()) // the loss itself
    llvm::append_range(after, getResults());
  for (Value operand : getCaptured())
    operands.push_back(BarrierValueOp::create(builder, getLoc(), operand, after));
  auto again = cast<CheckpointOp>(builder.clone(*getOperation()));
  again->setOperands(operands);
  llvm::BitVector active(getNumOperands());
  for (unsigned i = 0; i < active.size(); ++i)
    active[i] = b.needs(i);
  Block adjoint;
  FailureOr<SmallVector<Value>> cotangents = b.getBlocks().differentiate(again.getBlock(), active, seeds, adjoint);
  if (failed(cotangents))
    return failure();
  Block &block = *again->getBlock();
  for (auto [argument, operand] : llvm::zip_equal(again.getBlock().getArguments(), operands))
    argument.replaceAllUsesWith(operand);
  again.getBlock().getTerminator()->erase();
  block.getOperations().splice(Block::iterator(again), again.getBlock().getOperations());
  block.getOperations().splice(Block::iterator(again), adjoint.getOperations());
  again.erase();
  for (unsigned i : active.set_bits())
    if (Value cotangent = (*cotangents)[i])
      b.addTo(i, cotangent);
  return success();
}
