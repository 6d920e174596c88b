#pragma once

#include "dlc/ir/IndexMap.h"
#include "kernels/IndexSpace.h"
#include "kernels/KernelBuilder.h"

#include <functional>

namespace dlc::codegen {

/// A loop, or a straight-line piece of code in it, in which elements of a group's values are asked for. Nothing of the
/// group is emitted until a consumer asks; an element is emitted once in a scope, and in the outermost scope whose loop
/// dims its index needs.
///
/// Scopes nest as the loops do. A vector scope has `width` lanes: dim `getLane()` is the lane's number, and every value
/// is a vector with one element a lane.
class ElementScope {
public:
  /// The phase itself: no loop dims.
  ElementScope(KernelBuilder &kernel, IndexSpace &space) : kernel(kernel), space(space), parent(nullptr) {}
  /// Inside `parent`; `width` 0: scalars. `mask`: the live lanes.
  explicit ElementScope(ElementScope &parent, Lane lane = {});
  /// A loop inside the vector scope `parent`: the same lanes at the same positions.
  struct SameLanes {};
  ElementScope(ElementScope &parent, SameLanes);
  ElementScope(const ElementScope &) = delete;

  KernelBuilder &getKernel() const { return kernel; }
  mlir::OpBuilder &getBuilder() const { return kernel.getBuilder(); }
  IndexSpace &getSpace() const { return space; }
  const Lane &getLane() const { return lane; }
  /// The lane's number, an expression.
  mlir::AffineExpr getLaneDim() const { return laneDim; }

  /// A loop dim of this scope, an i64 in [lower, upper].
  mlir::AffineExpr bind(mlir::Value value, int64_t lower, int64_t upper);

  /// In a vector scope, positions [first, first + width) of a loop over [0, extent): an expression that is one more in
  /// each lane, and known to stay inside the loop for the live lanes.
  mlir::AffineExpr bindLanes(mlir::Value first, int64_t extent);

  /// While a loop that is part of this scope is being filled: what belongs to this scope, or to an enclosing one at the
  /// same place, goes before `op`.
  class Before {
  public:
    Before(ElementScope &scope, mlir::Operation *op) {
      for (ElementScope *each = &scope; each && !each->anchor; each = each->parent) {
        each->anchor = op;
        changed.push_back(each);
      }
    }
    ~Before() {
      for (ElementScope *each : changed)
        each->anchor = nullptr;
    }
    Before(const Before &) = delete;

  private:
    llvm::SmallVector<ElementScope *> changed;
  };

  /// From now on, the element of `value` at this index, in this scope and those inside it, is `element` or what
  /// `emit` gives.
  void provide(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index, mlir::Value element);
  using Provider = std::function<mlir::Value(ElementScope &)>;
  void provide(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index, Provider emit);

  /// The element of a value of the group at an index, in its compute type. `guard`: where it is needed (i1, a vector
  /// in a vector scope; null: everywhere), elsewhere it is arbitrary.
  mlir::Value element(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index, mlir::Value guard = {});

  /// Loads from memory of `count` elements at an offset in elements.
  mlir::Value load(const Memory &memory, int64_t count, mlir::AffineExpr offset, mlir::Value guard = {});
  void store(const Memory &memory, mlir::AffineExpr offset, mlir::Value value);
  /// An integer expression as i64; in a vector scope for lane 0.
  mlir::Value index(mlir::AffineExpr expr);
  /// An integer expression for every lane.
  mlir::Value indexVector(mlir::AffineExpr expr);

  mlir::Value i64(int64_t value);

private:
  bool owns(mlir::AffineExpr expr) const;
  bool varies(mlir::AffineExpr expr) const; ///< by lane
  bool dependsOnProvided(mlir::Value value);
  /// The innermost scope that has this element given, or null.
  ElementScope *providerOf(mlir::Value value, mlir::AffineExpr offset);
  /// The outermost scope that has all dims of the expressions and all that is provided for computing `value`.
  ElementScope &ownerOf(llvm::ArrayRef<mlir::AffineExpr> exprs, mlir::Value value = {});
  mlir::Value at(llvm::function_ref<mlir::Value()> emit);
  mlir::Value compute(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index, mlir::AffineExpr offset,
                      mlir::Value guard);
  mlir::Value computeSources(mlir::Operation *op, llvm::ArrayRef<mlir::AffineExpr> index, mlir::Value guard);
  mlir::Value computeIndirect(mlir::Operation *op, llvm::ArrayRef<mlir::AffineExpr> index, mlir::Value guard);
  /// A position read from a table: a dim inside [0, extent), and whether (i1 of the scope) it was.
  struct Position {
    mlir::AffineExpr dim;
    mlir::Value inside;
    ElementScope *scope;
  };
  Position position(mlir::Value table, llvm::ArrayRef<mlir::AffineExpr> index, int64_t extent, mlir::Value guard);
  /// A dim with a value for each lane.
  mlir::AffineExpr bindEach(mlir::Value values, int64_t lower, int64_t upper);
  /// For each dim of bindEach, in this scope or one around it, its dims by lane.
  void forEachLaneDim(
      llvm::function_ref<void(mlir::AffineExpr dim, llvm::ArrayRef<mlir::AffineExpr> byLane)> function) const;
  /// True, false, or (nullopt) an i1 emitted into `condition`.
  std::optional<bool> holds(llvm::ArrayRef<dl::IndexBound> bounds, llvm::ArrayRef<mlir::AffineExpr> index,
                            mlir::Value &condition);
  std::optional<int64_t> laneStride(mlir::AffineExpr expr) const;
  mlir::AffineExpr atLane(mlir::AffineExpr expr, int64_t number);
  /// With what is known of the offset of lane 0.
  Memory withDivisor(Memory memory, mlir::AffineExpr offset);
  mlir::Value clamp(mlir::Value offset, int64_t count);
  mlir::Value splat(mlir::Value scalar);
  mlir::Value term(mlir::AffineExpr expr);

  KernelBuilder &kernel;
  IndexSpace &space;
  ElementScope *parent;
  Lane lane;
  mlir::AffineExpr laneDim;
  llvm::SmallVector<std::pair<mlir::AffineExpr, mlir::AffineExpr>>
      laneBases; ///< of bindLanes: dim, its value in lane 0
  llvm::SmallVector<std::pair<mlir::AffineExpr, llvm::SmallVector<mlir::AffineExpr>>> laneDims; ///< of bindEach
  llvm::SmallVector<std::pair<mlir::AffineExpr, mlir::Value>> dims;
  mlir::Operation *anchor = nullptr;
  llvm::DenseMap<std::pair<mlir::Value, mlir::AffineExpr>, Provider> providers;
  llvm::DenseMap<std::pair<mlir::Value, mlir::AffineExpr>, llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>> memo;
  llvm::DenseMap<std::tuple<mlir::Value, mlir::AffineExpr, int64_t>,
                 llvm::SmallVector<std::pair<mlir::Value, Position>>>
      positions; ///< by table, offset and extent; with the guard
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> indices, vectors;
  llvm::DenseSet<mlir::Value> given;           ///< values with elements provided here
  llvm::DenseMap<mlir::Value, bool> dependent; ///< whether a value is computed from a given one
};

/// The static shape of a tensor value.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

} // namespace dlc::codegen
