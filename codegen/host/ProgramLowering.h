#pragma once

#include "dlc/ir/Rt.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace dlc::codegen {

/// Builds the native function of one program, `int32_t f(const DlcFrame *)`: every buffer is a base from the frame and
/// a constant offset. What a launch and a copy are, a target says.
class ProgramLowering {
public:
  ProgramLowering(rt::ProgramOp program, mlir::ModuleOp source, mlir::ModuleOp host);
  virtual ~ProgramLowering() = default;

  /// Appends the function, of hidden visibility, to the host module.
  void run(const std::string &symbol);

protected:
  virtual void lowerLaunch(rt::LaunchOp launch) = 0;
  virtual void lowerCopy(rt::CopyOp copy) = 0;
  /// The predicate's byte, i8.
  virtual mlir::Value loadPredicate(rt::IfOp branch) = 0;

  mlir::Value at(mlir::Location loc, mlir::Value base, int64_t offset);
  mlir::Value loadPointer(mlir::Location loc, mlir::Value base, int64_t offset);
  mlir::Value pointerOf(mlir::Value buffer);
  /// Stores the pointers of a launch, reads, writes, workspace, to the one table all launches share: each fills it
  /// before its call, and nobody keeps it.
  void fillTable(rt::LaunchOp launch);

  /// Calls a function of DlcApi, by its offset, and returns from the entry at once what it returns if that is not 0.
  void call(mlir::Location loc, int64_t service, llvm::ArrayRef<mlir::Value> arguments);

  rt::ProgramOp program;
  mlir::ModuleOp source, host;
  mlir::OpBuilder b;
  mlir::Type pointerType;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Value api, executor, table;

private:
  mlir::Value arenaBase(mlir::Location loc, llvm::StringRef name);
  void lower(mlir::Operation *op);
  mlir::Value indexOf(mlir::Location loc, mlir::FlatSymbolRefAttr collective);
  /// Returns the code it is given.
  mlir::Block *failed();
  void lowerBody(mlir::Block &body);
  void lowerLoop(rt::LoopOp loop);
  void lowerIf(rt::IfOp branch);
  mlir::Value constant(mlir::Location loc, int64_t value);
  /// Appended to the function; a value of each type is its argument.
  mlir::Block *addBlock(mlir::Location loc, llvm::ArrayRef<mlir::Type> arguments = {});

  mlir::Value arenas, arguments, results;
  mlir::Block *exit = nullptr;
  llvm::StringMap<mlir::Value> bases;
  llvm::DenseMap<mlir::Value, mlir::Value> pointers;
};

} // namespace dlc::codegen
