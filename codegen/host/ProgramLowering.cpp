#include "host/ProgramLowering.h"

#include "dlc/runtime/Abi.h"

#include <cstddef>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

ProgramLowering::ProgramLowering(rt::ProgramOp program, ModuleOp source, ModuleOp host)
    : program(program), source(source), host(host), b(program.getContext()),
      pointerType(LLVM::LLVMPointerType::get(program.getContext())) {}

void ProgramLowering::run(const std::string &symbol) {
  b.setInsertionPointToEnd(host.getBody());
  auto type = LLVM::LLVMFunctionType::get(b.getI32Type(), {pointerType});
  function = LLVM::LLVMFuncOp::create(b, program.getLoc(), symbol, type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  Location loc = program.getLoc();
  Value frame = function.getArgument(0);
  api = loadPointer(loc, frame, offsetof(DlcFrame, api));
  executor = loadPointer(loc, frame, offsetof(DlcFrame, executor));
  arenas = loadPointer(loc, frame, offsetof(DlcFrame, arenas));
  arguments = loadPointer(loc, frame, offsetof(DlcFrame, arguments));
  results = loadPointer(loc, frame, offsetof(DlcFrame, results));
  size_t most = 1;
  for (auto launch : program.getBody().getOps<rt::LaunchOp>())
    most = std::max(most, size_t(launch.getReads().size() + launch.getWrites().size() + 1));
  Value count = LLVM::ConstantOp::create(b, loc, b.getI64Type(), int64_t(most));
  table = LLVM::AllocaOp::create(b, loc, pointerType, pointerType, count, 8);
  for (Operation &op : program.getBody().front())
    lower(&op);
  Value ok = LLVM::ConstantOp::create(b, loc, b.getI32Type(), DLC_OK);
  LLVM::ReturnOp::create(b, loc, ok);
}

Value ProgramLowering::at(Location loc, Value base, int64_t offset) {
  if (offset == 0)
    return base;
  return LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{int32_t(offset)},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value ProgramLowering::loadPointer(Location loc, Value base, int64_t offset) {
  return LLVM::LoadOp::create(b, loc, pointerType, at(loc, base, offset), 8);
}

Value ProgramLowering::arenaBase(Location loc, StringRef name) {
  Value &base = bases[name];
  if (!base) {
    int64_t index = 0;
    for (auto arena : source.getOps<rt::ArenaOp>()) {
      if (arena.getSymName() == name)
        break;
      ++index;
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(table);
    base = loadPointer(loc, arenas, index * int64_t(sizeof(void *)));
  }
  return base;
}

Value ProgramLowering::pointerOf(Value buffer) {
  Value &pointer = pointers[buffer];
  if (pointer)
    return pointer;
  Operation *op = buffer.getDefiningOp();
  Location loc = op->getLoc();
  if (auto argument = dyn_cast<rt::ArgumentOp>(op))
    pointer = loadPointer(loc, arguments, int64_t(argument.getIndex() * sizeof(DlcBuffer)));
  else if (auto result = dyn_cast<rt::ResultOp>(op))
    pointer = loadPointer(loc, results, int64_t(result.getIndex() * sizeof(DlcBuffer)));
  else {
    auto slice = cast<rt::SliceOp>(op);
    Value offset = LLVM::ConstantOp::create(b, loc, b.getI64Type(), int64_t(slice.getOffset()));
    pointer = LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(), arenaBase(loc, slice.getArena()),
                                  ArrayRef<LLVM::GEPArg>{offset}, LLVM::GEPNoWrapFlags::inbounds);
  }
  return pointer;
}

void ProgramLowering::fillTable(rt::LaunchOp launch) {
  Location loc = launch.getLoc();
  SmallVector<Value> buffers(launch.getReads());
  llvm::append_range(buffers, launch.getWrites());
  if (launch.getWorkspace())
    buffers.push_back(launch.getWorkspace());
  for (auto [index, buffer] : llvm::enumerate(buffers))
    LLVM::StoreOp::create(b, loc, pointerOf(buffer), at(loc, table, int64_t(index * sizeof(void *))), 8);
}

void ProgramLowering::lower(Operation *op) {
  if (auto launch = dyn_cast<rt::LaunchOp>(op))
    return lowerLaunch(launch);
  if (auto copy = dyn_cast<rt::CopyOp>(op))
    return lowerCopy(copy);
  if (auto start = dyn_cast<rt::CollectiveStartOp>(op)) {
    Value from = pointerOf(start.getFrom()), to = pointerOf(start.getTo());
    Value index = indexOf(op->getLoc(), start.getCollectiveAttr());
    return call(op->getLoc(), offsetof(DlcApi, collectiveStart), {executor, index, from, to});
  }
  if (auto wait = dyn_cast<rt::CollectiveWaitOp>(op)) {
    Value index = indexOf(op->getLoc(), wait.getCollectiveAttr());
    return call(op->getLoc(), offsetof(DlcApi, collectiveWait), {executor, index});
  }
  for (Value buffer : op->getResults())
    pointerOf(buffer);
}

Value ProgramLowering::indexOf(Location loc, FlatSymbolRefAttr collective) {
  int64_t index = 0;
  for (auto other : source.getOps<rt::CollectiveOp>()) {
    if (other.getSymNameAttr() == collective.getAttr())
      break;
    ++index;
  }
  return LLVM::ConstantOp::create(b, loc, b.getI32Type(), index);
}

void ProgramLowering::call(Location loc, int64_t service, ArrayRef<Value> arguments) {
  Value callee = loadPointer(loc, api, service);
  SmallVector<Type> types;
  for (Value argument : arguments)
    types.push_back(argument.getType());
  SmallVector<Value> operands = {callee};
  llvm::append_range(operands, arguments);
  Value code = LLVM::CallOp::create(b, loc, LLVM::LLVMFunctionType::get(b.getI32Type(), types), operands).getResult();
  Value ok = LLVM::ConstantOp::create(b, loc, b.getI32Type(), DLC_OK);
  Value done = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, code, ok);
  Block *next = new Block;
  function.getBody().push_back(next);
  LLVM::CondBrOp::create(b, loc, done, next, ValueRange(), failed(), ValueRange{code});
  b.setInsertionPointToStart(next);
}

Block *ProgramLowering::failed() {
  if (!exit) {
    OpBuilder::InsertionGuard guard(b);
    exit = b.createBlock(&function.getBody(), function.getBody().end(), {b.getI32Type()}, {program.getLoc()});
    LLVM::ReturnOp::create(b, program.getLoc(), exit->getArgument(0));
  }
  return exit;
}
