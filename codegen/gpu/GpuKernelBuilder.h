#pragma once

#include "dlc/ir/Program.h"
#include "dlc/runtime/LibraryCall.h"
#include "gpu/GpuKernels.h"
#include "kernels/PointerKernelBuilder.h"

namespace dlc::codegen {

/// Threads that run in step and can shuffle.
constexpr int64_t warpSize = 32;
/// Bytes of a vector load or store.
constexpr int64_t gpuVectorBytes = 16;

/// Attribute of an scf.for, an LLVM::LoopAnnotationAttr for the loop it becomes.
constexpr llvm::StringLiteral loopAnnotation = "llvm.loop_annotation";

/// Emits gpu, scf, arith, math, vector and llvm (on pointers to global memory, address space 1) into a gpu.module. A
/// phase is a kernel launch: threads of a phase see what earlier phases stored.
///
/// `launch` opens a phase; inside, `threadId`, `shared`, `barrier`, `shuffleXor` are what a GPU adds to the interface
/// of all targets. `parallelRange` makes any kernel of other targets run, one thread a range of `multiple` iterations.
class GpuKernelBuilder final : public PointerKernelBuilder {
public:
  using Extents = std::array<int64_t, 3>;

  /// One function a phase, `gpu.func @<name>_<phase>(operands…, workspace)`; the last one only if `workspaceBytes`.
  GpuKernelBuilder(mlir::gpu::GPUModuleOp module, llvm::StringRef name, dl::GroupOp group, int64_t workspaceBytes,
                   const GpuOptions &options = {});

  const GpuOptions &getOptions() const { return options; }
  llvm::ArrayRef<GpuLaunch> getLaunches() const { return launches; }

  /// One phase of `grid` blocks of `block` threads, all at least 1; `body` emits the code of one thread. A phase of no
  /// blocks vanishes. `registers`: the most of a thread; 0 leaves it to the assembler, which may spill a few to fit
  /// more threads.
  void launch(Extents grid, Extents block, llvm::function_ref<void()> body, int64_t registers = 0);

  /// A phase that a vendor's library does; operands are the kernel's, the workspace behind them.
  void call(const LibraryCall &call);

  // Inside a phase, in code that every thread reaches:
  /// Number of the thread in its block, of the block in the grid; i64.
  mlir::Value threadId(unsigned dim = 0);
  mlir::Value blockId(unsigned dim = 0);
  /// Memory of the block, 64-byte aligned, undefined at the start.
  Memory shared(int64_t elements, mlir::Type element);
  /// Waits for all threads of the block.
  void barrier();
  /// The value of lane `lane ^ mask` of the warp; scalars of any type. All lanes of the warp take part.
  mlir::Value shuffleXor(mlir::Value value, int64_t mask);
  /// The value of lane `lane` of the warp.
  mlir::Value shuffleFrom(mlir::Value value, int64_t lane);

  /// Adds a float to an element, in any order with what other threads add; may flush subnormal numbers.
  void atomicAdd(const Memory &memory, mlir::Value offset, mlir::Value value);

  int64_t lanesOf(mlir::Type element) override;
  Memory operand(unsigned i, mlir::Type element) override;
  Memory workspace(int64_t offset, mlir::Type element) override;
  /// Local memory of the thread.
  Memory scratch(int64_t elements, mlir::Type element) override;
  Memory constantData(mlir::DenseElementsAttr values) override;
  void parallelRange(int64_t extent, int64_t multiple, double nanoseconds,
                     llvm::function_ref<void(mlir::Value lo, mlir::Value hi)> body) override;

  mlir::Value load(Memory memory, mlir::Value offset, int64_t stride, const Lane &lane) override;
  void store(Memory memory, mlir::Value offset, const Lane &lane, mlir::Value value) override;

private:
  unsigned alignmentOf(const Memory &memory, int64_t width) override;
  std::string nextSymbol() const { return name + "_" + std::to_string(launches.size()); }
  void openFunction(Extents grid, Extents block, int64_t registers);
  mlir::Value atEntry(llvm::function_ref<mlir::Value()> emit);
  mlir::Value shuffle(mlir::Value value, mlir::gpu::ShuffleMode mode, int64_t operand);

  mlir::gpu::GPUModuleOp module;
  std::string name;
  dl::GroupOp group;
  unsigned operands;
  int64_t workspaceBytes;
  GpuOptions options;
  llvm::SmallVector<GpuLaunch> launches;
  mlir::gpu::GPUFuncOp function; ///< of the phase being emitted
  std::array<mlir::Value, 3> threads, blocks;
  unsigned sharedCount = 0;
};

/// Blocks of `threads` threads for `count` threads in all, along the first dim.
inline GpuKernelBuilder::Extents blocksFor(int64_t count, int64_t threads) {
  return {(count + threads - 1) / threads, 1, 1};
}

} // namespace dlc::codegen
