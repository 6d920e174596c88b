#include "host/LowerProgram.h"

#include "host/ProgramLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace dlc::codegen {

std::string entrySymbol(StringRef entry) { return ("dlc_entry_" + entry).str(); }
std::string kernelSymbol(StringRef kernel) { return ("dlc_kernel_" + kernel).str(); }

namespace {

/// Kernels are called, copies are loops.
class CpuProgramLowering final : public ProgramLowering {
public:
  using ProgramLowering::ProgramLowering;

private:
  void lowerLaunch(rt::LaunchOp launch) override {
    fillTable(launch);
    LLVM::CallOp::create(b, launch.getLoc(), declareKernel(launch.getKernel()), ValueRange{api, executor, table});
  }

  Value loadPredicate(rt::IfOp branch) override {
    return LLVM::LoadOp::create(b, branch.getLoc(), b.getI8Type(), pointerOf(branch.getPredicate()), 1);
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
  void lowerCopy(rt::CopyOp copy) override {
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
};

} // namespace

void lowerPrograms(ModuleOp module, ModuleOp host) {
  for (auto program : module.getOps<rt::ProgramOp>())
    CpuProgramLowering(program, module, host).run(entrySymbol(program.getSymName()));
}

} // namespace dlc::codegen
