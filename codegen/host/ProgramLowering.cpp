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
  program.walk([&](rt::LaunchOp launch) {
    most = std::max(most, size_t(launch.getReads().size() + launch.getWrites().size() + 1));
  });
  Value count = LLVM::ConstantOp::create(b, loc, b.getI64Type(), int64_t(most));
  table = LLVM::AllocaOp::create(b, loc, pointerType, pointerType, count, 8);
  lowerBody(program.getBody().front());
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

Value ProgramLowering::constant(Location loc, int64_t value) {
  return LLVM::ConstantOp::create(b, loc, b.getI64Type(), value);
}

Block *ProgramLowering::addBlock(Location loc, ArrayRef<Type> arguments) {
  auto *block = new Block;
  function.getBody().push_back(block);
  block->addArguments(arguments, SmallVector<Location>(arguments.size(), loc));
  return block;
}

void ProgramLowering::lowerBody(Block &body) {
  for (Operation &op : body)
    lower(&op);
}

// do { … } while (++step < trips), with two pointers of each carried value that change places.
void ProgramLowering::lowerLoop(rt::LoopOp loop) {
  Location loc = loop.getLoc();
  int64_t trips = int64_t(loop.getTrips());
  SmallVector<Value> start{constant(loc, 0)};
  for (auto [first, last, other] : llvm::zip(loop.getFirst(), loop.getLast(), loop.getOther())) {
    Value ends = pointerOf(last), turns = pointerOf(other);
    if (trips % 2 == 0)
      std::swap(ends, turns);
    start.append({pointerOf(first), ends, turns});
  }
  Block *head = addBlock(loc, SmallVector<Type>(ValueRange(start).getTypes()));
  SmallVector<Value> wholes;
  for (Value slice : loop.getSlices())
    wholes.push_back(pointerOf(slice));
  LLVM::BrOp::create(b, loc, start, head);
  b.setInsertionPointToStart(head);
  Value step = head->getArgument(0), index = step;
  if (loop.getBackwards())
    index = LLVM::SubOp::create(b, loc, constant(loc, trips - 1), step);
  unsigned slices = wholes.size();
  for (auto [argument, whole] : llvm::zip(loop.getBody().getArguments(), wholes)) {
    Value offset = LLVM::MulOp::create(b, loc, index, constant(loc, rt::getBufferBytes(argument)));
    pointers[argument] = LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(), whole, ArrayRef<LLVM::GEPArg>{offset},
                                             LLVM::GEPNoWrapFlags::inbounds);
  }
  SmallVector<Value> next;
  for (unsigned i = 0; i < loop.getFirst().size(); ++i) {
    Value before = head->getArgument(1 + 3 * i), now = head->getArgument(2 + 3 * i),
          turns = head->getArgument(3 + 3 * i);
    pointers[loop.getBody().getArgument(slices + 2 * i)] = before;
    pointers[loop.getBody().getArgument(slices + 2 * i + 1)] = now;
    next.append({now, turns, now});
  }
  lowerBody(loop.getBody().front());
  Value following = LLVM::AddOp::create(b, loc, step, constant(loc, 1));
  next.insert(next.begin(), following);
  Value more = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, following, constant(loc, trips));
  Block *exit = addBlock(loc);
  LLVM::CondBrOp::create(b, loc, more, head, next, exit, ValueRange());
  b.setInsertionPointToStart(exit);
}

void ProgramLowering::lowerIf(rt::IfOp branch) {
  Location loc = branch.getLoc();
  Value byte = loadPredicate(branch);
  Value zero = LLVM::ConstantOp::create(b, loc, b.getI8Type(), 0);
  Value holds = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, byte, zero);
  Block *taken = addBlock(loc), *otherwise = addBlock(loc), *exit = addBlock(loc);
  LLVM::CondBrOp::create(b, loc, holds, taken, ValueRange(), otherwise, ValueRange());
  for (auto [block, region] : {std::pair(taken, &branch.getTaken()), std::pair(otherwise, &branch.getOtherwise())}) {
    b.setInsertionPointToStart(block);
    lowerBody(region->front());
    LLVM::BrOp::create(b, loc, ValueRange(), exit);
  }
  b.setInsertionPointToStart(exit);
}

void ProgramLowering::lower(Operation *op) {
  if (auto loop = dyn_cast<rt::LoopOp>(op))
    return lowerLoop(loop);
  if (auto branch = dyn_cast<rt::IfOp>(op))
    return lowerIf(branch);
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
