#pragma once

#include "gpu/GpuKernelBuilder.h"
#include "kernels/Accumulators.h"
#include "kernels/ElementScope.h"

#include <memory>
#include <vector>

namespace dlc::codegen {

/// How the threads of a team visit a line: vector `first + step * threads + thread` in each step.
struct LineShape {
  int64_t threads;   ///< of the team: a warp, or a block of whole warps
  int64_t vector;    ///< elements of a vector, 1: scalars
  int64_t vectors;   ///< of the whole line
  int64_t chunk = 0; ///< vectors of the part that is visited, a multiple of `threads`; 0: the whole line
  bool keep = false; ///< all steps are unrolled, and what was evaluated in one pass is there in the next ones
};

/// A thread's passes over its elements of a line. Steps that end outside of the line read its last vector once more,
/// are neutral in a reduction, and store nothing: no thread leaves the team.
class LineWalk {
public:
  /// A vector of the line: a scope of `width` lanes, its positions, and whether it is inside (i1, null: always).
  struct Place {
    ElementScope &lanes;
    mlir::AffineExpr position;
    mlir::Value live;
  };

  /// `thread`: number in the team, an expression in `scope`; `first`: the chunk's first vector.
  LineWalk(GpuKernelBuilder &kernel, ElementScope &scope, const LineShape &shape, mlir::AffineExpr thread,
           mlir::AffineExpr first = {});

  /// Accumulators of the elements at a place, or those elements.
  using Values = llvm::function_ref<llvm::SmallVector<mlir::Value>(const Place &place)>;
  /// Of the thread's elements, as scalars: lanes of a step in step order, then lane i with lane i + half.
  llvm::SmallVector<mlir::Value> accumulate(Accumulators &accumulators, Values values);

  /// Calls `values` in every step, and `store` with what it gave where the step is inside of the line.
  void forEach(Values values, llvm::function_ref<void(const Place &, mlir::ValueRange)> store);

  int64_t width() const { return shape.vector > 1 ? shape.vector : 0; }

private:
  /// One vector of the line.
  struct Step {
    Step(LineWalk &walk, ElementScope &parent, mlir::AffineExpr number, bool guarded);
    Place place() { return {lanes, position, live}; }
    ElementScope scope, lanes;
    mlir::AffineExpr position;
    mlir::Value live;
  };

  bool guarded(int64_t step) const { return step >= whole; }
  void inSteps(llvm::function_ref<void(Step &)> body);
  Step &kept(int64_t step);

  GpuKernelBuilder &kernel;
  ElementScope &scope;
  LineShape shape;
  mlir::AffineExpr thread, first;
  int64_t steps, whole; ///< all; those that no thread leaves the line in
  std::vector<std::unique_ptr<Step>> unrolled;
};

/// Combines the accumulators of a team's threads; every thread gets the same bits. Lanes of a warp: i with i ^ 16, …,
/// i ^ 1, as lane 0 sees it; warps: through shared memory, in order. `thread` is the number in the team, i64.
llvm::SmallVector<mlir::Value> combineTeam(GpuKernelBuilder &kernel, Accumulators &accumulators,
                                           mlir::ValueRange values, int64_t threads, mlir::Value thread);

} // namespace dlc::codegen
