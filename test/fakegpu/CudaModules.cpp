// The entry points of libcuda for modules and kernels. What a module is made of are a program's kernels for sim.
#include "FakeDriver.h"

#include "drivers/cuda/HostImage.h"
#include "drivers/sim/SimServices.h"

#include <cstdio>
#include <cstring>

using namespace dlc;
using namespace dlc::fakegpu;
using namespace dlc::runtime;

namespace {

/// Fills a module; the driver's answers to what is meant for real devices.
int fillModule(const void *image, CUmod_st &module) {
  if (std::memcmp(image, "\177ELF", 4) == 0)
    return kNoBinaryForGpu; // a cubin
  if (HostImage::kMagic != std::string_view(static_cast<const char *>(image), HostImage::kMagic.size()))
    return kInvalidImage; // PTX
  auto code = static_cast<const HostImage *>(image)->executable;
  std::span<const DlcSimKernel> functions = code->simKernels();
  const std::vector<KernelInfo> &infos = code->manifest().kernels;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (infos[i].call)
      continue;
    auto function = std::make_shared<CUfunc_st>(CUfunc_st{module.context, {infos[i].name, functions[i], {}, {}, {}}});
    for (const KernelInfo::Operand &operand : infos[i].operands)
      function->kernel.operands.push_back({operand.bytes, SimAccess(operand.access)});
    module.functions.emplace(infos[i].name, std::move(function));
  }
  // Written once: kernels of the same image that run now read it.
  if (const DlcSimApi **services = code->simApi(); services && std::atomic_ref(*services) != simServices())
    std::atomic_ref(*services).store(simServices());
  module.code = std::move(code);
  return kSuccess;
}

/// A launch, with what must outlive it.
struct Launch {
  CUctx_st *context = nullptr;
  std::shared_ptr<const void> code;
  SimKernel kernel;
  std::vector<void *> operands;

  int run() const {
    if (!context->engine) {
      StatusOr<SimOptions> options = SimOptions::fromEnvironment();
      if (!options.ok())
        return kUnknown;
      options->check = false; // which accesses are right only the device sim knows
      context->engine = std::make_unique<SimEngine>(*options);
    }
    std::vector<void *> behind = operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (kernel.operands[i].bytes == 0)
        continue;
      StatusOr<char *> found = context->memory->translate(operands[i], kernel.operands[i].bytes);
      if (!found.ok())
        return kIllegalAddress;
      behind[i] = *found;
    }
    Status status = context->engine->run(kernel, behind.data());
    if (status.ok())
      return kSuccess;
    std::fprintf(stderr, "fakegpu: %s\n", status.message().c_str());
    return kLaunchFailed;
  }
};

} // namespace

extern "C" {

int cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, int *, void **) {
  DLC_FAKE_ENTER_CONTEXT(cuModuleLoadDataEx)
  auto made = std::make_unique<CUmod_st>();
  made->context = context;
  if (int refused = fillModule(image, *made))
    return refused;
  *module = made.get();
  std::lock_guard guard(driver.lock);
  driver.modules.emplace(*module, std::move(made));
  return kSuccess;
}

int cuModuleUnload(CUmodule module) {
  DLC_FAKE_ENTER_CONTEXT(cuModuleUnload)
  std::lock_guard guard(driver.lock);
  return driver.modules.erase(module) ? kSuccess : kInvalidHandle;
}

int cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  DLC_FAKE_ENTER_CONTEXT(cuModuleGetFunction)
  std::lock_guard guard(driver.lock);
  auto known = driver.modules.find(module);
  if (known == driver.modules.end())
    return kInvalidHandle;
  auto found = known->second->functions.find(name);
  if (found == known->second->functions.end())
    return kNotFound;
  *function = found->second.get();
  return kSuccess;
}

int cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **parameters,
                   void **extra) {
  DLC_FAKE_ENTER_CONTEXT(cuLaunchKernel)
  auto launch = std::make_shared<Launch>();
  CUstream_st *queue = nullptr;
  {
    std::lock_guard guard(driver.lock);
    for (const auto &[handle, module] : driver.modules)
      for (const auto &[name, known] : module->functions)
        if (known.get() == function)
          *launch = {context, module->code, known->kernel, {}};
    if (driver.streams.contains(stream))
      queue = stream;
  }
  if (!launch->context || !queue || function->context != context || queue->context != context)
    return kInvalidHandle;
  if (sharedBytes != 0 || extra || gridX * gridY * gridZ == 0 || blockX * blockY * blockZ == 0 ||
      blockX * blockY * blockZ > kMaxBlockThreads)
    return kInvalidValue;
  launch->kernel.grid = {gridX, gridY, gridZ};
  launch->kernel.block = {blockX, blockY, blockZ};
  for (size_t i = 0; i < launch->kernel.operands.size(); ++i)
    launch->operands.push_back(*static_cast<void **>(parameters[i]));
  return driver.submit(*queue, [launch] { return launch->run(); });
}

} // extern "C"

// What the driver code looks up is what is here.
#define DLC_CUDA_CHECK(name, symbol, ...) extern "C" int symbol(__VA_ARGS__);
DLC_CUDA_API(DLC_CUDA_CHECK)
#undef DLC_CUDA_CHECK
