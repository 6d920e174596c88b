#include "host/LowerDeviceProgram.h"

#include "dlc/runtime/Abi.h"
#include "host/ProgramLowering.h"

#include <cstddef>

using namespace mlir;

namespace dlc::codegen {

std::string deviceEntrySymbol(StringRef entry) { return ("dlc_device_entry_" + entry).str(); }

namespace {

/// Kernels and copies are calls of the runtime; the first that fails ends the program.
class DeviceProgramLowering final : public ProgramLowering {
public:
  DeviceProgramLowering(rt::ProgramOp program, ModuleOp source, ModuleOp host,
                        llvm::function_ref<KernelRange(StringRef)> launches)
      : ProgramLowering(program, source, host), launches(launches) {}

private:
  void lowerLaunch(rt::LaunchOp launch) override {
    fillTable(launch);
    KernelRange range = launches(launch.getKernel());
    for (uint32_t i = 0; i < range.count; ++i) {
      Value index = LLVM::ConstantOp::create(b, launch.getLoc(), b.getI32Type(), int64_t(range.first) + i);
      call(launch.getLoc(), offsetof(DlcApi, launch), {executor, index, table});
    }
  }

  void lowerCopy(rt::CopyOp copy) override {
    Value bytes = LLVM::ConstantOp::create(b, copy.getLoc(), b.getI64Type(), int64_t(copy.getBytes()));
    Value to = pointerOf(copy.getTo()), from = pointerOf(copy.getFrom());
    call(copy.getLoc(), offsetof(DlcApi, copy), {executor, to, from, bytes});
  }

  // The table of operands is free between launches.
  Value loadPredicate(rt::IfOp branch) override {
    Location loc = branch.getLoc();
    Value one = LLVM::ConstantOp::create(b, loc, b.getI64Type(), 1);
    call(loc, offsetof(DlcApi, fetch), {executor, table, pointerOf(branch.getPredicate()), one});
    return LLVM::LoadOp::create(b, loc, b.getI8Type(), table, 1);
  }

  llvm::function_ref<KernelRange(StringRef)> launches;
};

} // namespace

void lowerDevicePrograms(ModuleOp module, ModuleOp host, llvm::function_ref<KernelRange(StringRef)> launches) {
  for (auto program : module.getOps<rt::ProgramOp>())
    DeviceProgramLowering(program, module, host, launches).run(deviceEntrySymbol(program.getSymName()));
}

} // namespace dlc::codegen
