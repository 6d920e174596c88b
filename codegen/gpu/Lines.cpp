// Reductions along lines, a row of a row group or the reduced elements of an output of a column group.
//
// Lines of up to 512 elements are a warp's, longer ones a block's of 256 threads:
//   for each stage:  sums = combine over steps, lanes of a vector, threads;  results of the line = finish(sums)
//   for each step:   results of the domain
// Values of earlier passes stay in registers as far as there are few of them.
//
// Very long lines, when there are few: per stage a launch over (line, chunk) with partial sums in workspace and one
// over lines that combines them; then a launch for the results of the domain.
//
// Order of additions: element k of a line, or of a chunk, is in lane k mod V of vector k / V; vector v belongs to
// thread v mod T, which adds its vectors in order, then its lanes (LineWalk), then come the threads (combineTeam).
// Chunks are the elements of one more such line, V = 1.
#include "gpu/Lines.h"

#include "gpu/LineWalk.h"
#include "gpu/Overwritten.h"
#include "kernels/GroupAnalysis.h"
#include "kernels/Loops.h"

#include "dlc/ir/Dl.h"
#include "dlc/ir/ScalarBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {

constexpr int64_t blockThreads = 256, warpsOfBlock = blockThreads / warpSize;
// Of one thread; with them, everything evaluated is kept from pass to pass.
constexpr int64_t keptElements = 48;
constexpr int64_t longestWarpLine = 512, longestBlockLine = 16384, manyLines = 128, mostVector = 4;
constexpr int64_t chunkUnit = 4096, mostChunks = 1024;

class LinesEmitter {
public:
  LinesEmitter(GpuKernelBuilder &kernel, IndexSpace &space, const Lines &lines);

  void emit();

private:
  void emitWhole();
  void emitOneLine(ElementScope &scope, AffineExpr line, AffineExpr thread);
  void emitPartials(size_t stage);
  void emitCombine(size_t stage);
  void emitDomainResults();
  void storeLineResults(ElementScope &scope, AffineExpr line, Value thread);
  SmallVector<Value> lifted(Accumulators &accumulators, const LineWalk::Place &place, AffineExpr line, size_t stage);
  SmallVector<Value> domainElements(const LineWalk::Place &place, AffineExpr line);
  void provideOverwritten(const LineWalk::Place &place, AffineExpr line);
  void storeDomain(ElementScope &lanes, AffineExpr line, AffineExpr position, ValueRange elements);
  void provideFinished(ElementScope &scope, AffineExpr line, size_t stages);
  SmallVector<Memory> partials(Accumulators &accumulators);
  Memory finished(Operation *reduction);
  Value isFirst(Value thread);

  GpuKernelBuilder &kernel;
  IndexSpace &space;
  const Lines &lines;
  LineShape shape;
};

} // namespace

int64_t Lines::chunk() const {
  if (extent <= longestBlockLine || count >= manyLines)
    return 0;
  int64_t units = (extent + chunkUnit - 1) / chunkUnit;
  return (units + mostChunks - 1) / mostChunks * chunkUnit;
}

// Inputs with an element of their own for each of the domain.
static int64_t largeInputs(const Lines &lines) {
  dl::GroupOp group = lines.group;
  int64_t large = llvm::count_if(group.getInputs(), [&](Value input) { return product(shapeOf(input)) > lines.count; });
  return std::max<int64_t>(large, 1);
}

// All but `keep` decides the order of additions, so it follows from the shape, not from what else is in the group.
LinesEmitter::LinesEmitter(GpuKernelBuilder &kernel, IndexSpace &space, const Lines &lines)
    : kernel(kernel), space(space), lines(lines) {
  shape.threads = lines.extent <= longestWarpLine ? warpSize : blockThreads;
  shape.vector = mostVector;
  while (shape.vector > 1 && (lines.run % shape.vector || lines.extent < shape.vector * shape.threads))
    shape.vector /= 2;
  shape.vectors = lines.extent / shape.vector;
  shape.chunk = lines.chunk() / shape.vector;
  int64_t visited = shape.chunk ? shape.chunk : shape.vectors;
  int64_t steps = (visited + shape.threads - 1) / shape.threads;
  shape.keep = steps * shape.vector * largeInputs(lines) <= keptElements;
}

Value LinesEmitter::isFirst(Value thread) {
  OpBuilder &b = kernel.getBuilder();
  Value zero = arith::ConstantOp::create(b, kernel.getLoc(), b.getI64IntegerAttr(0));
  return arith::CmpIOp::create(b, kernel.getLoc(), arith::CmpIPredicate::eq, thread, zero);
}

// What a result is written over is read by the thread that writes it alone: threads past the line's end, which
// otherwise read its last vector, would race with the stores.
void LinesEmitter::provideOverwritten(const LineWalk::Place &place, AffineExpr line) {
  if (!place.live)
    return;
  SmallVector<AffineExpr> index = lines.index(line, place.position);
  AffineExpr offset = space.simplify(line * lines.extent + place.position);
  forOverwritten(lines.group, lines.domainResults, [&](BlockArgument input) {
    place.lanes.provide(input, index, [this, input, offset, live = place.live](ElementScope &asking) {
      Memory memory = kernel.operand(input.getArgNumber(), getElementTypeOrSelf(input.getType()));
      dl::ScalarBuilder scalar(kernel.getBuilder(), kernel.getLoc(), asking.getLane().width);
      Value none = arith::ConstantOp::create(kernel.getBuilder(), kernel.getLoc(),
                                             kernel.getBuilder().getZeroAttr(scalar.shaped(memory.element)));
      return emitIf(asking, live, none,
                    [&] { return SmallVector<Value>{asking.load(memory, lines.count * lines.extent, offset)}; })[0];
    });
  });
}

SmallVector<Value> LinesEmitter::lifted(Accumulators &accumulators, const LineWalk::Place &place, AffineExpr line,
                                        size_t stage) {
  provideOverwritten(place, line);
  SmallVector<AffineExpr> index = lines.index(line, place.position);
  SmallVector<Value> elements;
  for (Value root : passRoots(lines.group, lines.stages, lines.domainResults, stage))
    elements.push_back(place.lanes.element(root, index));
  return accumulators.lift(place.lanes.getLane().width, elements, place.lanes.indexVector(place.position));
}

SmallVector<Value> LinesEmitter::domainElements(const LineWalk::Place &place, AffineExpr line) {
  provideOverwritten(place, line);
  SmallVector<AffineExpr> index = lines.index(line, place.position);
  SmallVector<Value> elements;
  for (Value root : passRoots(lines.group, lines.stages, lines.domainResults, lines.stages.size()))
    elements.push_back(place.lanes.element(root, index));
  return elements;
}

void LinesEmitter::storeDomain(ElementScope &lanes, AffineExpr line, AffineExpr position, ValueRange elements) {
  AffineExpr offset = space.simplify(line * lines.extent + position);
  for (auto [i, element] : llvm::zip(lines.domainResults, elements))
    lanes.store(resultMemory(kernel, lines.group, i), offset, element);
}

// By one thread, which alone reads what they are written over.
void LinesEmitter::storeLineResults(ElementScope &scope, AffineExpr line, Value thread) {
  if (lines.lineResults.empty())
    return;
  emitIf(scope, isFirst(thread), {}, [&]() -> SmallVector<Value> {
    ElementScope one(scope);
    provideOverwrittenAt(one, lines.group, lines.lineResults, lines.lineIndex(line));
    SmallVector<Value> scalars;
    for (unsigned i : lines.lineResults)
      scalars.push_back(one.element(resultsOf(lines.group)[i], lines.lineIndex(line)));
    for (auto [i, scalar] : llvm::zip(lines.lineResults, scalars))
      one.store(resultMemory(kernel, lines.group, i), line, scalar);
    return {};
  });
}

void LinesEmitter::emitOneLine(ElementScope &scope, AffineExpr line, AffineExpr thread) {
  LineWalk walk(kernel, scope, shape, thread);
  Value number = scope.index(thread);
  for (auto [stage, reductions] : llvm::enumerate(lines.stages)) {
    Accumulators accumulators(kernel, reductions);
    SmallVector<Value> own = walk.accumulate(
        accumulators, [&](const LineWalk::Place &place) { return lifted(accumulators, place, line, stage); });
    SmallVector<Value> sums = combineTeam(kernel, accumulators, own, shape.threads, number);
    SmallVector<Value> results = accumulators.finish(0, sums, lines.extent);
    for (auto [op, result] : llvm::zip(reductions, results))
      scope.provide(op->getResult(0), lines.lineIndex(line), result);
  }
  if (!lines.domainResults.empty())
    walk.forEach([&](const LineWalk::Place &place) { return domainElements(place, line); },
                 [&](const LineWalk::Place &place, ValueRange elements) {
                   storeDomain(place.lanes, line, place.position, elements);
                 });
  storeLineResults(scope, line, number);
}

void LinesEmitter::emitWhole() {
  int64_t teams = shape.threads == warpSize ? std::min(warpsOfBlock, lines.count) : 1;
  kernel.launch(blocksFor(lines.count, teams), {shape.threads, teams, 1}, [&] {
    ElementScope root(kernel, space);
    AffineExpr block = root.bind(kernel.blockId(), 0, (lines.count - 1) / teams);
    AffineExpr team = root.bind(kernel.threadId(1), 0, teams - 1);
    Value line = root.index(space.simplify(block * teams + team)), live;
    if (lines.count % teams)
      live = arith::CmpIOp::create(kernel.getBuilder(), kernel.getLoc(), arith::CmpIPredicate::slt, line,
                                   root.i64(lines.count));
    emitIf(root, live, {}, [&]() -> SmallVector<Value> {
      ElementScope scope(root);
      AffineExpr thread = scope.bind(kernel.threadId(0), 0, shape.threads - 1);
      emitOneLine(scope, space.simplify(scope.bind(line, 0, lines.count - 1)), thread);
      return {};
    });
  });
}

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// First the finished values of every reduction, 8 bytes each at most, then the partials of the stage at work.
static int64_t finishedBytes(const Lines &lines) {
  int64_t reductions = 0;
  for (auto &stage : lines.stages)
    reductions += stage.size();
  return reductions * aligned(lines.count * 8);
}

Memory LinesEmitter::finished(Operation *reduction) {
  int64_t number = 0;
  for (auto &stage : lines.stages)
    for (Operation *op : stage) {
      if (op == reduction)
        return kernel.workspace(number * aligned(lines.count * 8), getElementTypeOrSelf(op->getResult(0).getType()));
      ++number;
    }
  return {};
}

SmallVector<Memory> LinesEmitter::partials(Accumulators &accumulators) {
  SmallVector<Memory> memories;
  int64_t offset = finishedBytes(lines);
  for (Type type : accumulators.getTypes()) {
    memories.push_back(kernel.workspace(offset, type));
    offset += aligned(lines.count * lines.chunks() * bytesOf(type));
  }
  return memories;
}

void LinesEmitter::provideFinished(ElementScope &scope, AffineExpr line, size_t stages) {
  for (size_t stage = 0; stage < stages; ++stage)
    for (Operation *op : lines.stages[stage])
      scope.provide(op->getResult(0), lines.lineIndex(line),
                    [this, op, line](ElementScope &asking) { return asking.load(finished(op), lines.count, line); });
}

// partial[line][chunk]
void LinesEmitter::emitPartials(size_t stage) {
  int64_t chunks = lines.chunks(), blocks = lines.count * chunks;
  kernel.launch({blocks, 1, 1}, {shape.threads, 1, 1}, [&] {
    ElementScope root(kernel, space), scope(root);
    AffineExpr block = scope.bind(kernel.blockId(), 0, blocks - 1);
    AffineExpr thread = scope.bind(kernel.threadId(), 0, shape.threads - 1);
    AffineExpr line = space.simplify(block.floorDiv(chunks)), chunk = space.simplify(block % chunks);
    provideFinished(scope, line, stage);
    Accumulators accumulators(kernel, lines.stages[stage]);
    LineWalk walk(kernel, scope, shape, thread, chunk * shape.chunk);
    SmallVector<Value> own = walk.accumulate(
        accumulators, [&](const LineWalk::Place &place) { return lifted(accumulators, place, line, stage); });
    SmallVector<Value> sums = combineTeam(kernel, accumulators, own, shape.threads, kernel.threadId());
    emitIf(scope, isFirst(kernel.threadId()), {}, [&]() -> SmallVector<Value> {
      for (auto [memory, sum] : llvm::zip(partials(accumulators), sums))
        scope.store(memory, block, sum);
      return {};
    });
  });
}

void LinesEmitter::emitCombine(size_t stage) {
  int64_t chunks = lines.chunks();
  LineShape over{blockThreads, 1, chunks, 0, false};
  kernel.launch({lines.count, 1, 1}, {blockThreads, 1, 1}, [&] {
    ElementScope root(kernel, space), scope(root);
    AffineExpr line = space.simplify(scope.bind(kernel.blockId(), 0, lines.count - 1));
    AffineExpr thread = scope.bind(kernel.threadId(), 0, blockThreads - 1);
    provideFinished(scope, line, stage);
    Accumulators accumulators(kernel, lines.stages[stage]);
    LineWalk walk(kernel, scope, over, thread);
    SmallVector<Memory> memories = partials(accumulators);
    SmallVector<Value> own = walk.accumulate(accumulators, [&](const LineWalk::Place &place) {
      SmallVector<Value> values;
      for (const Memory &memory : memories)
        values.push_back(
            place.lanes.load(memory, lines.count * chunks, space.simplify(line * chunks + place.position)));
      return values;
    });
    SmallVector<Value> sums = combineTeam(kernel, accumulators, own, blockThreads, kernel.threadId());
    SmallVector<Value> results = accumulators.finish(0, sums, lines.extent);
    for (auto [op, result] : llvm::zip(lines.stages[stage], results))
      scope.provide(op->getResult(0), lines.lineIndex(line), result);
    emitIf(scope, isFirst(kernel.threadId()), {}, [&]() -> SmallVector<Value> {
      for (auto [op, result] : llvm::zip(lines.stages[stage], results))
        scope.store(finished(op), line, result);
      return {};
    });
    if (stage + 1 == lines.stages.size())
      storeLineResults(scope, line, kernel.threadId());
  });
}

void LinesEmitter::emitDomainResults() {
  int64_t count = lines.count * shape.vectors;
  kernel.launch(blocksFor(count, blockThreads), {blockThreads, 1, 1}, [&] {
    ElementScope root(kernel, space);
    AffineExpr number = root.bind(kernel.blockId(), 0, (count - 1) / blockThreads) * blockThreads +
                        root.bind(kernel.threadId(), 0, blockThreads - 1);
    Value at = root.index(space.simplify(number)), live;
    if (count % blockThreads)
      live =
          arith::CmpIOp::create(kernel.getBuilder(), kernel.getLoc(), arith::CmpIPredicate::slt, at, root.i64(count));
    emitIf(root, live, {}, [&]() -> SmallVector<Value> {
      ElementScope scope(root);
      AffineExpr vector = scope.bind(at, 0, count - 1), line = space.simplify(vector.floorDiv(shape.vectors));
      provideFinished(scope, line, lines.stages.size());
      ElementScope lanes(scope, Lane{shape.vector > 1 ? shape.vector : 0});
      AffineExpr position = vector % shape.vectors * shape.vector;
      if (shape.vector > 1)
        position = position + lanes.getLaneDim();
      position = space.simplify(position);
      storeDomain(lanes, line, position, domainElements({lanes, position, {}}, line));
      return {};
    });
  });
}

void LinesEmitter::emit() {
  if (!lines.chunk())
    return emitWhole();
  for (size_t stage = 0; stage < lines.stages.size(); ++stage) {
    emitPartials(stage);
    emitCombine(stage);
  }
  if (!lines.domainResults.empty())
    emitDomainResults();
}

void codegen::emitLines(GpuKernelBuilder &kernel, IndexSpace &space, const Lines &lines) {
  if (lines.count)
    LinesEmitter(kernel, space, lines).emit();
}

int64_t codegen::linesWorkspaceBytes(const Lines &lines) {
  if (!lines.count || !lines.chunk())
    return 0;
  int64_t most = 0;
  for (auto &stage : lines.stages) {
    int64_t bytes = 0;
    for (Operation *op : stage)
      for (Type type : cast<dl::ReductionOpInterface>(op).getAccumulatorTypes())
        bytes += aligned(lines.count * lines.chunks() * bytesOf(type));
    most = std::max(most, bytes);
  }
  return finishedBytes(lines) + most;
}
