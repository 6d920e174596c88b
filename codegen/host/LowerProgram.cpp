#include "host/LowerProgram.h"

#include "dlc/runtime/Abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cstddef>

using namespace mlir;

namespace dlc::codegen {

std::string entrySymbol(StringRef entry) { return ("dlc_entry_" + entry).str(); }
std::string kernelSymbol(StringRef kernel) { return ("dlc_kernel_" + kernel).str(); }

namespace {

/// Builds the function of one program: every buffer is a base from the frame and a constant offset.
class ProgramLowering {
public:
  ProgramLowering(rt::ProgramOp program, ModuleOp source, ModuleOp host)
      : program(program), source(source), host(host), b(program.getContext()),
        pointerType(LLVM::LLVMPointerType::get(program.getContext())) {}

  void run() {
    b.setInsertionPointToEnd(host.getBody());
    auto type = LLVM::LLVMFunctionType::get(b.getI32Type(), {pointerType});
    auto function = LLVM::LLVMFuncOp::create(b, program.getLoc(), entrySymbol(program.getSymName()), type);
    function.setVisibility_(LLVM::Visibility::Hidden);
    b.setInsertionPointToStart(function.addEntryBlock(b));
    Location loc = program.getLoc();
    Value frame = function.getArgument(0);
    api = loadPointer(loc, frame, offsetof(DlcFrame, api));
    executor = loadPointer(loc, frame, offsetof(DlcFrame, executor));
    arenas = loadPointer(loc, frame, offsetof(DlcFrame, arenas));
    arguments = loadPointer(loc, frame, offsetof(DlcFrame, arguments));
    results = loadPointer(loc, frame, offsetof(DlcFrame, results));
    // One table for all launches: each fills it before its call, and kernels do not keep it.
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

private:
  Value at(Location loc, Value base, int64_t offset) {
    if (offset == 0)
      return base;
    return LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{int32_t(offset)},
                               LLVM::GEPNoWrapFlags::inbounds);
  }

  Value loadPointer(Location loc, Value base, int64_t offset) {
    return LLVM::LoadOp::create(b, loc, pointerType, at(loc, base, offset), 8);
  }

  Value arenaBase(Location loc, StringRef name) {
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

  Value pointerOf(Value buffer) {
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

  void lower(Operation *op) {
    if (auto launch = dyn_cast<rt::LaunchOp>(op))
      return lowerLaunch(launch);
    if (auto copy = dyn_cast<rt::CopyOp>(op))
      return lowerCopy(copy);
    for (Value buffer : op->getResults())
      pointerOf(buffer);
  }

  void lowerLaunch(rt::LaunchOp launch) {
    Location loc = launch.getLoc();
    SmallVector<Value> buffers(launch.getReads());
    llvm::append_range(buffers, launch.getWrites());
    if (launch.getWorkspace())
      buffers.push_back(launch.getWorkspace());
    for (auto [index, buffer] : llvm::enumerate(buffers))
      LLVM::StoreOp::create(b, loc, pointerOf(buffer), at(loc, table, int64_t(index * sizeof(void *))), 8);
    LLVM::CallOp::create(b, loc, declareKernel(launch.getKernel()), ValueRange{api, executor, table});
  }

  LLVM::LLVMFuncOp declareKernel(StringRef kernel) {
    std::string symbol = kernelSymbol(kernel);
    if (auto known = host.lookupSymbol<LLVM::LLVMFuncOp>(symbol))
      return known;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(host.getBody());
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointerType, pointerType, pointerType});
    auto declared = LLVM::LLVMFuncOp::create(b, program.getLoc(), symbol, type);
    declared.setVisibility_(LLVM::Visibility::Hidden);
    return declared;
  }

  // Written out as a loop: llvm.memcpy would become a call into the C library, and an image calls nobody.
  void lowerCopy(rt::CopyOp copy) {
    Location loc = copy.getLoc();
    Value from = pointerOf(copy.getFrom()), to = pointerOf(copy.getTo());
    auto move = [&](Value offset, Type type) {
      auto place = [&](Value base) -> Value {
        return LLVM::GEPOp::create(b, loc, pointerType, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{offset},
                                   LLVM::GEPNoWrapFlags::inbounds);
      };
      LLVM::StoreOp::create(b, loc, LLVM::LoadOp::create(b, loc, type, place(from), 1), place(to), 1);
    };
    auto index = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
    constexpr int64_t kChunk = 32;
    int64_t bytes = int64_t(copy.getBytes()), whole = bytes / kChunk * kChunk;
    if (whole) {
      auto loop = scf::ForOp::create(b, loc, index(0), index(whole), index(kChunk));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      move(loop.getInductionVar(), VectorType::get({kChunk}, b.getI8Type()));
    }
    for (int64_t done = whole, piece = kChunk / 2; done < bytes; piece /= 2)
      if (done + piece <= bytes) {
        move(index(done), b.getIntegerType(unsigned(piece * 8)));
        done += piece;
      }
  }

  rt::ProgramOp program;
  ModuleOp source, host;
  OpBuilder b;
  Type pointerType;
  Value api, executor, arenas, arguments, results, table;
  llvm::StringMap<Value> bases;
  DenseMap<Value, Value> pointers;
};

} // namespace

void lowerPrograms(ModuleOp module, ModuleOp host) {
  for (auto program : module.getOps<rt::ProgramOp>())
    ProgramLowering(program, module, host).run();
}

} // namespace dlc::codegen
