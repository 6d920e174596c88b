#pragma once

#include "dlc/ir/Program.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SetVector.h"

namespace dlc::passes {

/// How a node reads a value: the value's index as a map of the reader's index, or null when the reader needs the whole
/// value in memory (operands of an op with its own kernel, of a view).
struct Read {
  mlir::Value value;
  mlir::AffineMap map;
};

/// A reader of a value; `node` is `FusionGraph::outside` for program-level ops.
struct Reader {
  unsigned node;
  mlir::AffineMap map;
};

/// An op that is stored or belongs to exactly one group. Free ops (constants, iotas, broadcasts, cheap bodies of
/// those and of one value more) are no nodes: each group holds its own copies.
struct Node {
  mlir::Operation *op;
  unsigned group;
  llvm::SmallVector<Read, 4> reads;
  unsigned cost; ///< of one element, in additions, with the free ops it reads through
  bool moves;    ///< an index map that is no free op
  bool updates;  ///< its result becomes the new value of a variable, or only serves to compute such
  bool offLane;  ///< computed at other indices than the lane's, where a reader needs it
};

struct FusionGroup {
  dl::GroupKind kind;
  llvm::SmallVector<int64_t> domain;
  llvm::SmallVector<int64_t> axes;   ///< reduced axes of the domain
  llvm::SmallVector<unsigned> nodes; ///< in program order
  llvm::SmallSetVector<mlir::Value, 8> inputs;
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<unsigned, 0> feeds; ///< nodes of collectives, but for buckets of gradients, that read its results
  unsigned order;                       ///< position in a topological order of the groups
  unsigned cost;
  bool sealed;   ///< never merged
  bool plain;    ///< only scalar bodies of the domain's shape
  bool absorbed; ///< in a merger: the first group's nodes are computed off lane
};

/// The groups of one block while they are merged: nodes, who reads what, and a topological order kept up to date.
class FusionGraph {
public:
  static constexpr unsigned outside = ~0u;
  /// Operands and results of one kernel.
  static constexpr unsigned maxOperands = 16;

  /// One group a node. Fails, with an error at the op, when an op can be in no kernel.
  static mlir::FailureOr<FusionGraph> build(mlir::Block &block);

  /// Merges two groups when the rules, the number of operands and the order allow it.
  bool merge(unsigned a, unsigned b);

  llvm::ArrayRef<Node> getNodes() const { return nodes; }
  const FusionGroup &getGroup(unsigned group) const { return groups[group]; }
  unsigned groupOf(unsigned node) const { return nodes[node].group; }
  /// Groups that are left, in topological order.
  llvm::SmallVector<unsigned> getSchedule() const;
  /// Readers of a value, in program order; a reader through several free ops appears once for each path.
  llvm::ArrayRef<Reader> readersOf(mlir::Value value) const;
  /// The node whose result the value is, or `outside`.
  unsigned producerOf(mlir::Value value) const;
  /// Whether groups hold copies of the op instead of reading its result.
  bool isFree(mlir::Operation *op) const { return freeOps.contains(op); }

private:
  struct FreeOp {
    llvm::SmallVector<Read, 2> reads; ///< of values that are no free ops
    unsigned cost;
  };

  /// Verifies the op; decides whether it is free.
  mlir::LogicalResult addOp(mlir::Operation *op);
  bool addFree(mlir::Operation *op);
  /// The value that has to be in memory so that the operand can be read; null if none has.
  mlir::Value memoryOf(mlir::OpOperand &operand) const;
  bool isCheapAgain(mlir::Operation *op, llvm::ArrayRef<Read> reads) const;
  void addNode(mlir::Operation *op);
  void addReads(Node &node, FusionGroup &group);
  void readThrough(mlir::Value value, mlir::AffineMap map, llvm::SmallVectorImpl<Read> &reads, unsigned &cost) const;
  void addReaders(mlir::Block &block);
  void addFeeds();
  void markUpdates(mlir::Block &block);

  /// Position for the merged group; none when a path leads from the first to the second through a third.
  bool reorder(unsigned a, unsigned b);
  /// Groups after (or before) `from` with an order strictly between the bounds. False: the budget ran out or `stop` was
  /// met.
  bool collect(unsigned from, bool forward, unsigned lower, unsigned upper, unsigned stop,
               llvm::SmallVectorImpl<unsigned> &found) const;
  llvm::SmallVector<mlir::Value> resultsOf(const FusionGroup &a, const FusionGroup &b, unsigned ia, unsigned ib) const;

  std::vector<Node> nodes;
  std::vector<FusionGroup> groups;
  llvm::DenseMap<mlir::Value, unsigned> producers;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Reader, 2>> readers;
  llvm::DenseMap<mlir::Operation *, FreeOp> freeOps;

  friend struct FusionRules;
};

/// Kind, domain and axes of the merger of two groups of a graph, the first earlier in the order.
struct FusionRules {
  const FusionGraph &graph;
  unsigned a, b;

  /// False: no kernel kind can run both. Fills kind, domain, axes, plain and absorbed of `merged`.
  bool combine(FusionGroup &merged) const;

private:
  bool combinePointwise(FusionGroup &merged) const;
  bool combineRow(FusionGroup &merged) const;
  bool combineColumn(FusionGroup &merged) const;
  bool combineOwnKernel(FusionGroup &merged) const;
  /// Every read of a's results in b is at the reader's own lane: same index, or the row's index.
  bool readsAtLane(llvm::ArrayRef<int64_t> domain, llvm::ArrayRef<int64_t> axes) const;
  /// Every read of a's results in b is at the same index of this shape.
  bool readsReduced(llvm::ArrayRef<int64_t> reduced) const;
  /// b can evaluate a's ops at other indices instead of reading them: a stores nothing else and is evaluated once.
  bool absorbs(FusionGroup &merged) const;
  bool readsAny() const;
  /// b makes wider values of one that a has to store anyway: b's readers rather compute them.
  bool widensStored() const;
  /// A collective would wait for more than it needs.
  bool delaysCollective() const;
};

/// The shape after reduction.
llvm::SmallVector<int64_t> dropAxes(llvm::ArrayRef<int64_t> domain, llvm::ArrayRef<int64_t> axes);

} // namespace dlc::passes
