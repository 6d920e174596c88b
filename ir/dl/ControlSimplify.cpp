#include "dlc/ir/Constant.h"
#include "dlc/ir/Control.h"
#include "dlc/ir/Program.h"
#include "dlc/ir/Shape.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

// Canonical forms of scan and cond: nothing passed in or out that no one wants, constants inside, and no control flow
// where none is needed.

using namespace mlir;
using namespace dlc::dl;

/// Puts the ops of a block before `op`, its arguments replaced; returns what it yields.
static SmallVector<Value> inlineBlock(PatternRewriter &rewriter, Operation *op, Block &block, ValueRange arguments) {
  auto yield = cast<YieldOp>(block.getTerminator());
  rewriter.inlineBlockBefore(&block, op, arguments);
  SmallVector<Value> values(yield.getValues());
  rewriter.eraseOp(yield);
  return values;
}

static Value reshapeTo(OpBuilder &builder, Location location, Value value, RankedTensorType type) {
  return ReshapeOp::create(builder, location, type, value);
}

/// A copy inside each block of every constant that is passed in whole; true if there was one.
static bool sinkConstants(PatternRewriter &rewriter, Operation *op, unsigned firstOperand, unsigned firstArgument,
                          unsigned count) {
  bool changed = false;
  for (unsigned i = 0; i < count; ++i) {
    Operation *constant = op->getOperand(firstOperand + i).getDefiningOp();
    if (!constant || !matchPattern(constant, m_Constant()))
      continue;
    for (Region &region : op->getRegions()) {
      BlockArgument argument = region.getArgument(firstArgument + i);
      if (argument.use_empty())
        continue;
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(&region.front());
      rewriter.replaceAllUsesWith(argument, rewriter.clone(*constant)->getResult(0));
      changed = true;
    }
  }
  return changed;
}

/// Lets equal operands share one argument; true if there were some.
static bool shareEqual(PatternRewriter &rewriter, Operation *op, unsigned firstOperand, unsigned firstArgument,
                       unsigned count) {
  DenseMap<Value, unsigned> known;
  bool changed = false;
  for (unsigned i = 0; i < count; ++i) {
    auto [first, isNew] = known.try_emplace(op->getOperand(firstOperand + i), i);
    if (isNew)
      continue;
    for (Region &region : op->getRegions()) {
      BlockArgument argument = region.getArgument(firstArgument + i);
      changed |= !argument.use_empty();
      rewriter.replaceAllUsesWith(argument, region.getArgument(firstArgument + first->second));
    }
  }
  return changed;
}

namespace {

/// No steps: the first values. One step: the body itself.
struct UnrollShortScan : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp scan, PatternRewriter &rewriter) const override {
    if (scan.getTrips() > 1)
      return failure();
    Location location = scan.getLoc();
    SmallVector<Value> results(scan.getCarried());
    if (scan.getTrips() == 0) {
      for (Value stacked : scan.getStacked())
        results.push_back(ConstantOp::createSplat(rewriter, location, cast<RankedTensorType>(stacked.getType()), 0.0));
      rewriter.replaceOp(scan, results);
      return success();
    }
    SmallVector<Value> arguments(scan.getCarried());
    for (Value sliced : scan.getSliced())
      arguments.push_back(reshapeTo(rewriter, location, sliced, ScanOp::sliceType(sliced.getType())));
    llvm::append_range(arguments, scan.getWhole());
    unsigned carries = scan.getNumCarried();
    results = inlineBlock(rewriter, scan, scan.getBlock(), arguments);
    for (unsigned i = carries; i < results.size(); ++i)
      results[i] = reshapeTo(rewriter, location, results[i], ScanOp::stackedType(results[i].getType(), 1));
    rewriter.replaceOp(scan, results);
    return success();
  }
};

/// Makes a scan again without what no one reads. Carried values that every step yields unchanged become whole operands.
struct DropUnusedOfScan : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  struct Kept {
    SmallVector<unsigned> carried, fixed, sliced, whole, stacked;
  };

  static bool isFixed(ScanOp scan, unsigned carried) {
    return scan.getBlock().getTerminator()->getOperand(carried) == scan.getBlock().getArgument(carried);
  }

  /// Yielded values that a result, or a later step that matters, needs.
  static llvm::BitVector liveYields(ScanOp scan) {
    Operation *yield = scan.getBlock().getTerminator();
    llvm::BitVector live(yield->getNumOperands());
    SmallVector<Value> open;
    DenseSet<Value> seen;
    auto add = [&](unsigned index) {
      live.set(index);
      open.push_back(yield->getOperand(index));
    };
    for (OpResult result : scan->getOpResults())
      if (!result.use_empty())
        add(result.getResultNumber());
    while (!open.empty()) {
      Value value = open.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      if (Operation *op = value.getDefiningOp())
        llvm::append_range(open, op->getOperands());
      else if (unsigned index = cast<BlockArgument>(value).getArgNumber();
               index < scan.getNumCarried() && !live.test(index))
        add(index);
    }
    return live;
  }

  static Kept keep(ScanOp scan) {
    llvm::BitVector live = liveYields(scan);
    unsigned carries = scan.getNumCarried(), slices = scan.getSliced().size();
    Kept kept;
    for (unsigned i = 0; i < carries; ++i)
      if (live.test(i))
        (isFixed(scan, i) ? kept.fixed : kept.carried).push_back(i);
    for (unsigned i = 0; i < scan.getStacked().size(); ++i)
      if (live.test(carries + i))
        kept.stacked.push_back(carries + i);
    // Ops that only dead yields need still use arguments; they go first, as canonicalization drops them.
    for (unsigned i = carries; i < scan.getBlock().getNumArguments(); ++i)
      if (!scan.getBlock().getArgument(i).use_empty())
        (i < carries + slices ? kept.sliced : kept.whole).push_back(i);
    return kept;
  }

  LogicalResult matchAndRewrite(ScanOp scan, PatternRewriter &rewriter) const override {
    unsigned carries = scan.getNumCarried(), slices = scan.getSliced().size();
    bool changed = sinkConstants(rewriter, scan, carries + slices, carries + slices, scan.getWhole().size());
    changed |= shareEqual(rewriter, scan, carries + slices, carries + slices, scan.getWhole().size());
    changed |= shareEqual(rewriter, scan, carries, carries, slices);
    Kept kept = keep(scan);
    if (kept.carried.size() == carries && kept.sliced.size() == slices && kept.whole.size() == scan.getWhole().size() &&
        kept.stacked.size() == scan.getStacked().size())
      return success(changed);
    rebuild(scan, kept, rewriter);
    return success();
  }

  static void rebuild(ScanOp scan, const Kept &kept, PatternRewriter &rewriter) {
    auto operands = [&](std::initializer_list<ArrayRef<unsigned>> lists) {
      SmallVector<Value> values;
      for (ArrayRef<unsigned> list : lists)
        for (unsigned index : list)
          values.push_back(scan.getOperand(index));
      return values;
    };
    SmallVector<Type> types;
    for (ArrayRef<unsigned> list : {ArrayRef<unsigned>(kept.carried), ArrayRef<unsigned>(kept.stacked)})
      for (unsigned index : list)
        types.push_back(scan.getResult(index).getType());
    auto made =
        ScanOp::create(rewriter, scan.getLoc(), types, operands({kept.carried}), operands({kept.sliced}),
                       operands({kept.fixed, kept.whole}), scan.getTrips(), scan.getBackwards(), DenseI64ArrayAttr());
    Block &from = scan.getBlock();
    Block *to = rewriter.createBlock(&made.getBody());
    IRMapping mapping;
    for (ArrayRef<unsigned> list : {ArrayRef<unsigned>(kept.carried), ArrayRef<unsigned>(kept.sliced),
                                    ArrayRef<unsigned>(kept.fixed), ArrayRef<unsigned>(kept.whole)})
      for (unsigned index : list) {
        BlockArgument argument = from.getArgument(index);
        mapping.map(argument, to->addArgument(argument.getType(), argument.getLoc()));
      }
    // What is dead is not copied; its uses of dropped arguments would have no meaning.
    DenseSet<Operation *> needed;
    SmallVector<Value> open;
    SmallVector<Value> yielded;
    for (ArrayRef<unsigned> list : {ArrayRef<unsigned>(kept.carried), ArrayRef<unsigned>(kept.stacked)})
      for (unsigned index : list)
        open.push_back(from.getTerminator()->getOperand(index));
    SmallVector<Value> roots = open;
    while (!open.empty())
      if (Operation *op = open.pop_back_val().getDefiningOp(); op && needed.insert(op).second)
        llvm::append_range(open, op->getOperands());
    rewriter.setInsertionPointToEnd(to);
    for (Operation &op : from.without_terminator())
      if (needed.contains(&op))
        rewriter.clone(op, mapping);
    for (Value root : roots)
      yielded.push_back(mapping.lookup(root));
    YieldOp::create(rewriter, from.getTerminator()->getLoc(), yielded);
    SmallVector<Value> results(scan.getNumResults());
    for (unsigned index : kept.fixed)
      results[index] = scan.getOperand(index);
    unsigned next = 0;
    for (ArrayRef<unsigned> list : {ArrayRef<unsigned>(kept.carried), ArrayRef<unsigned>(kept.stacked)})
      for (unsigned index : list)
        results[index] = made.getResult(next++);
    for (auto [old, value] : llvm::zip(scan.getResults(), results))
      if (value)
        rewriter.replaceAllUsesWith(old, value);
    rewriter.eraseOp(scan);
  }
};

struct TakeConstantBranch : OpRewritePattern<CondOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CondOp cond, PatternRewriter &rewriter) const override {
    DenseElementsAttr predicate;
    if (!matchPattern(cond.getPredicate(), m_Constant(&predicate)))
      return failure();
    Region &region = predicate.getSplatValue<bool>() ? cond.getTaken() : cond.getOtherwise();
    rewriter.replaceOp(cond, inlineBlock(rewriter, cond, region.front(), cond.getCaptured()));
    return success();
  }
};

/// Drops results no one reads and operands no region reads.
struct DropUnusedOfCond : OpRewritePattern<CondOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CondOp cond, PatternRewriter &rewriter) const override {
    unsigned count = cond.getCaptured().size();
    bool changed = sinkConstants(rewriter, cond, 1, 0, count);
    changed |= shareEqual(rewriter, cond, 1, 0, count);
    llvm::BitVector deadResults(cond.getNumResults()), deadArguments(count);
    for (OpResult result : cond->getOpResults())
      deadResults[result.getResultNumber()] = result.use_empty();
    for (unsigned i = 0; i < count; ++i)
      deadArguments[i] =
          llvm::all_of(cond.getRegions(), [&](Region *region) { return region->getArgument(i).use_empty(); });
    if (deadResults.none() && deadArguments.none())
      return success(changed);
    SmallVector<Type> types;
    SmallVector<Value> operands;
    for (OpResult result : cond->getOpResults())
      if (!deadResults[result.getResultNumber()])
        types.push_back(result.getType());
    for (auto [index, value] : llvm::enumerate(cond.getCaptured()))
      if (!deadArguments[index])
        operands.push_back(value);
    auto made = CondOp::create(rewriter, cond.getLoc(), types, cond.getPredicate(), operands);
    for (auto [from, to] : llvm::zip(cond->getRegions(), made->getRegions())) {
      rewriter.inlineRegionBefore(from, to, to.end());
      rewriter.modifyOpInPlace(made, [&to = to, &deadArguments] { to.front().eraseArguments(deadArguments); });
      Operation *yield = to.front().getTerminator();
      rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(deadResults); });
    }
    unsigned next = 0;
    for (OpResult result : cond->getOpResults())
      if (!deadResults[result.getResultNumber()])
        rewriter.replaceAllUsesWith(result, made.getResult(next++));
    rewriter.eraseOp(cond);
    return success();
  }
};

} // namespace

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<UnrollShortScan, DropUnusedOfScan>(context);
}

void CondOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<TakeConstantBranch, DropUnusedOfCond>(context);
}

// Its body stays apart until derivatives are taken.
void CheckpointOp::getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) {}
