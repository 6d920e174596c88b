#include "FusionGraph.h"

#include "dlc/ir/Storage.h"
#include "dlc/ir/Widen.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

// Before:  %0 = dl.mul %x, %x : tensor<4x8xf32>
//          %1 = dl.reduce_sum %0 over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// After:   %1 = dl.group kind(row) [4, 8] (%a = %x : tensor<4x8xf32>) -> (tensor<4xf32>) {
//            %0 = dl.mul %a, %a : tensor<4x8xf32>
//            %2 = dl.reduce_sum %0 over [1] : (tensor<4x8xf32>) -> tensor<4xf32>
//            dl.yield %2 : tensor<4xf32>
//          }
// and of 16 bits:
//          %1 = dl.group kind(pointwise) [4] (%a = %x : tensor<4xbf16>) -> (tensor<4xbf16>) {
//            %0 = dl.cast %a : tensor<4xbf16> to tensor<4xf32>
//            %2 = dl.mul %0, %0 : tensor<4xf32>
//            %3 = dl.cast %2 : tensor<4xf32> to tensor<4xbf16>
//            dl.yield %3 : tensor<4xbf16>
//          }

namespace dlc::passes {
#define GEN_PASS_DEF_FUSEPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

namespace {

/// Two nodes whose groups might merge, and the bytes that saves.
struct Candidate {
  unsigned first, second;
  int64_t bytes;
};

/// Merges greedily: epilogues first, then edges and shared inputs by bytes saved.
struct FusionSearch {
  FusionGraph &graph;
  DenseMap<Value, SmallVector<unsigned, 2>> laneReaders; // nodes that read the value at their own index

  explicit FusionSearch(FusionGraph &graph) : graph(graph) {}

  void run() {
    growEpilogues();
    std::vector<Candidate> edges = listEdges(), siblings = listSiblings();
    // A refusal may end when another reader has joined; each round but the last merges, few are needed.
    for (bool changed = true; changed;) {
      changed = mergeAll(edges);
      changed |= mergeAll(siblings);
    }
  }

  void growEpilogues() {
    for (unsigned node = 0; node < graph.getNodes().size(); ++node) {
      if (graph.getGroup(graph.groupOf(node)).kind != dl::GroupKind::Contract ||
          !isa<dl::OwnKernelOpInterface>(graph.getNodes()[node].op))
        continue;
      for (bool grown = true; grown;)
        grown = mergeOneReader(graph.groupOf(node));
    }
  }

  bool mergeOneReader(unsigned group) {
    for (Value value : graph.getGroup(group).results)
      for (const Reader &reader : graph.readersOf(value))
        if (reader.node != FusionGraph::outside && graph.merge(group, graph.groupOf(reader.node)))
          return true;
    return false;
  }

  std::vector<Candidate> listEdges() const {
    std::vector<Candidate> edges;
    for (auto [index, node] : llvm::enumerate(graph.getNodes()))
      for (Value value : node.op->getResults()) {
        ArrayRef<Reader> readers = graph.readersOf(value);
        // A value with one reader need not be stored; with several, a merge saves one of the reads.
        int64_t bytes = dl::getStorageBytes(value.getType()) * (readers.size() == 1 ? 2 : 1);
        for (const Reader &reader : readers)
          if (reader.node != FusionGraph::outside && reader.map)
            edges.push_back({unsigned(index), reader.node, bytes});
      }
    return sorted(std::move(edges));
  }

  std::vector<Candidate> listSiblings() {
    std::vector<Candidate> siblings;
    llvm::SetVector<Value> values;
    for (auto [index, node] : llvm::enumerate(graph.getNodes()))
      for (const Read &read : node.reads)
        if (read.map && read.map.isIdentity()) {
          values.insert(read.value);
          laneReaders[read.value].push_back(index);
        }
    for (Value value : values) {
      ArrayRef<unsigned> nodes = laneReaders[value];
      for (auto [first, second] : llvm::zip(nodes, nodes.drop_front()))
        siblings.push_back({first, second, dl::getStorageBytes(value.getType())});
    }
    return sorted(std::move(siblings));
  }

  static std::vector<Candidate> sorted(std::vector<Candidate> candidates) {
    llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
      return std::tuple(-a.bytes, a.first, a.second) < std::tuple(-b.bytes, b.first, b.second);
    });
    return candidates;
  }

  /// Drops candidates that have become one group.
  bool mergeAll(std::vector<Candidate> &candidates) {
    bool changed = false;
    llvm::erase_if(candidates, [&](const Candidate &candidate) {
      unsigned a = graph.groupOf(candidate.first), b = graph.groupOf(candidate.second);
      bool merged = graph.merge(a, b);
      changed |= merged;
      return merged || a == b;
    });
    return changed;
  }
};

/// Writes the groups into the block.
struct GroupWriter {
  const FusionGraph &graph;
  OpBuilder builder;
  IRMapping stored; // results of old ops -> results of groups

  struct Body {
    unsigned group;
    Block *block;
    SmallVector<Value> inputs;
    IRMapping local;
  };

  void write(unsigned index) {
    const FusionGroup &group = graph.getGroup(index);
    Operation *first = graph.getNodes()[group.nodes.front()].op;
    if (isa<dl::GroupOp>(first)) {
      builder.clone(*first, stored);
      return;
    }
    Region region;
    Body body{index, &region.emplaceBlock(), {}, {}};
    if (group.kind == dl::GroupKind::Collective || group.kind == dl::GroupKind::Wait)
      addExchange(body, first);
    else
      for (unsigned node : group.nodes)
        addOp(body, graph.getNodes()[node].op);
    SmallVector<Value> yielded;
    for (Value value : group.results)
      yielded.push_back(body.local.lookup(value));
    OpBuilder inBody(builder.getContext());
    inBody.setInsertionPointToEnd(body.block);
    dl::YieldOp::create(inBody, anchorOf(group)->getLoc(), yielded);
    auto op = dl::GroupOp::create(builder, anchorOf(group)->getLoc(), ValueRange(yielded).getTypes(), body.inputs,
                                  group.kind, group.domain, ArrayAttr(), DenseI64ArrayAttr(), dl::SlotAttr());
    op.getBody().takeBody(region);
    stored.map(group.results, op.getResults());
  }

  /// The op whose line stands for the group: its contraction or window, else the last.
  Operation *anchorOf(const FusionGroup &group) const {
    for (unsigned node : group.nodes)
      if (isa<dl::OwnKernelOpInterface>(graph.getNodes()[node].op))
        return graph.getNodes()[node].op;
    return graph.getNodes()[group.nodes.back()].op;
  }

  /// An argument for each operand, also for one that is there twice: each has bytes of its own.
  void addExchange(Body &body, Operation *op) {
    for (Value operand : op->getOperands())
      body.inputs.push_back(stored.lookupOrDefault(operand));
    body.block->addArguments(op->getOperandTypes(),
                             llvm::map_to_vector(op->getOperands(), [](Value operand) { return operand.getLoc(); }));
    append(body, *op);
    body.block->back().setOperands(body.block->getArguments());
  }

  void addOp(Body &body, Operation *op) {
    if (body.local.contains(op->getResult(0)))
      return;
    ArrayRef<Read> reads = graph.getNodes()[graph.producerOf(op->getResult(0))].reads;
    for (Value operand : op->getOperands())
      addOperand(body, operand, reads);
    append(body, *op);
  }

  /// `reads` are those of the node.
  void addOperand(Body &body, Value value, ArrayRef<Read> reads) {
    if (body.local.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    bool whole = llvm::any_of(reads, [&](const Read &read) { return read.value == value && !read.map; });
    if (op && graph.isFree(op) && !whole)
      return addFree(body, op, reads);
    unsigned node = graph.producerOf(value);
    if (node != FusionGraph::outside && graph.groupOf(node) == body.group)
      return addOp(body, op);
    body.inputs.push_back(stored.lookupOrDefault(value));
    body.local.map(value, body.block->addArgument(value.getType(), value.getLoc()));
  }

  void append(Body &body, Operation &op) {
    OpBuilder inBody(builder.getContext()); // the block has no parent yet to ask
    inBody.setInsertionPointToEnd(body.block);
    inBody.clone(op, body.local);
  }

  void addFree(Body &body, Operation *op, ArrayRef<Read> reads) {
    for (Value operand : op->getOperands())
      addOperand(body, operand, reads);
    append(body, *op);
  }
};

struct FusePass : passes::impl::FusePassBase<FusePass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(fuse(function)))
        return signalPassFailure();
    getOperation().walk([](dl::GroupOp group) { widen(group.getBody().front()); });
  }

  /// Ops on 16-bit floats compute in f32 and round, each of them: what groups read and store stays as it is.
  static void widen(Block &body) {
    for (Operation &op : llvm::make_early_inc_range(body))
      if (dl::computesNarrowFloats(&op))
        dl::widen(&op);
  }

  static LogicalResult fuse(func::FuncOp function) {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError("expects an entry of one block, got ") << function.getBody().getBlocks().size();
    return fuse(function.getBody().front());
  }

  static LogicalResult fuse(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
    for (Operation &op : block)
      if (isa<dl::ControlOpInterface>(op))
        for (Region &region : op.getRegions())
          if (failed(fuse(region.front())))
            return failure();
    FailureOr<FusionGraph> graph = FusionGraph::build(block);
    if (failed(graph))
      return failure();
    FusionSearch(*graph).run();
    return rewrite(block, *graph);
  }

  static LogicalResult rewrite(Block &block, const FusionGraph &graph) {
    SmallVector<Operation *> old;
    SmallVector<dl::WriteOp> writes(block.getOps<dl::WriteOp>());
    for (Operation &op : block)
      if (graph.isFree(&op) || (op.getNumResults() && graph.producerOf(op.getResult(0)) != FusionGraph::outside))
        old.push_back(&op);
    Operation *end = block.getTerminator();
    for (dl::WriteOp write : writes) // every group precedes them; dl-forward-state left no read behind one
      write->moveBefore(end);
    OpBuilder builder(writes.empty() ? end : writes.front().getOperation());
    GroupWriter writer{graph, builder, {}};
    for (unsigned group : graph.getSchedule())
      writer.write(group);
    for (Operation &op : block)
      if (isa<dl::WriteOp>(op) || &op == end)
        for (OpOperand &operand : op.getOpOperands())
          operand.set(writer.stored.lookupOrDefault(operand.get()));
    for (Operation *op : llvm::reverse(old))
      op->erase();
    return success();
  }
};

} // namespace
