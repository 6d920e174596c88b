// Driver, device, what there is of the vendor's libraries, and whether the driver takes our kernels.
#include "Clock.h"
#include "Gpu.h"
#include "Parts.h"

#include "dlc/runtime/Executable.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>

namespace dlc::gpucheck {

namespace {

using runtime::CudaApi;

/// A library that programs open when they need it; the number that `version` gives.
struct Library {
  const char *name;
  std::array<const char *, 2> files;
  const char *version;
  bool returnsIt; ///< or writes it to an int
};
constexpr Library kLibraries[] = {
    {"cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"}, "cublasLtGetVersion", true},
    {"cuDNN", {"libcudnn.so.9", nullptr}, "cudnnGetVersion", true},
    {"NCCL", {"libnccl.so.2", nullptr}, "ncclGetVersion", false},
    {"NVML", {"libnvidia-ml.so.1", nullptr}, nullptr, false},
};

Row findLibrary(const Library &library) {
  Row row{library.name};
  const char *replacement = std::getenv("DLC_GPU_LIBRARY");
  void *handle = nullptr;
  for (const char *file : library.files) {
    if (handle || !file)
      continue;
    handle = dlopen(replacement && *replacement ? replacement : file, RTLD_NOW | RTLD_LOCAL);
    if (handle)
      row.values["file"] = file;
  }
  if (!handle) {
    row.message = "not found"; // programs that need it say so; others do not
    return row;
  }
  void *symbol = library.version ? dlsym(handle, library.version) : nullptr;
  if (symbol && library.returnsIt) {
    row.values["version"] = reinterpret_cast<size_t (*)()>(symbol)();
  } else if (symbol) {
    int version = 0;
    reinterpret_cast<int (*)(int *)>(symbol)(&version);
    row.values["version"] = version;
  }
  return row;
}

Row describe(const Gpu &gpu) {
  Row row{"device"};
  row.values = {{"name", gpu.name},
                {"driver", gpu.driver},
                {"capability", gpu.capability},
                {"multiprocessors", gpu.multiprocessors},
                {"GiB", gpu.bytes / (1 << 30)},
                {"GHz", gpu.clock / 1e9},
                {"memory GHz", gpu.memoryClock / 1e9},
                {"memory bits", gpu.memoryBits},
                {"peak GB/s", gpu.peakBandwidth() / 1e9}};
  for (const char *type : {"f32", "tf32", "bf16"})
    row.values[std::string("peak TFLOP/s ") + type] = gpu.peakArithmetic(type) / 1e12;
  row.ok = gpu.capability > 0 && gpu.bytes > 0;
  return row;
}

constexpr int kAssembler = 13000; // CUDA of the ptxas that made the cubins; an older driver may want the PTX

/// Loads each cubin and PTX of a program by itself: the time, or what the driver says. What must load, must.
void loadModules(const Context &context, const CudaApi &api, const Gpu &gpu, const std::string &file) {
  auto executable = Executable::load(context.path(file));
  if (!executable.ok())
    return report({file, false, executable.status().message()});
  for (const DlcDeviceCode &code : (*executable)->deviceCode()) {
    std::string target = code.target, format = code.format;
    int capability = int(std::strtol(target.c_str() + 3, nullptr, 10)); // of "sm_90"
    bool mustLoad = !api.replaced && capability <= gpu.capability &&
                    (format == "ptx" || (capability / 10 == gpu.capability / 10 && gpu.driver >= kAssembler));
    std::string text(static_cast<const char *>(code.data), code.bytes); // PTX with the zero at its end
    runtime::CUmodule module = nullptr;
    double begin = now();
    int result = api.cuModuleLoadDataEx(&module, format == "ptx" ? text.c_str() : code.data, 0, nullptr, nullptr);
    double seconds = now() - begin;
    Row row{file};
    row.name.append(format == "ptx" ? " ptx " : " cubin ").append(target);
    row.values = {{"bytes", code.bytes}, {"ms", seconds * 1e3}};
    row.ok = result == runtime::kSuccess || !mustLoad;
    if (result != runtime::kSuccess)
      row.message = api.status(result, "cuModuleLoadDataEx").message();
    else
      api.cuModuleUnload(module);
    report(row);
  }
}

} // namespace

Status checkDevice(const Context &context) {
  ::setenv("CUDA_CACHE_DISABLE", "1", 1); // so that the time of compiling PTX is seen
  StatusOr<const CudaApi *> api = CudaApi::load();
  if (!api.ok()) {
    reportNone(api.status().message());
    return {};
  }
  for (const auto &kind : runtime::Device::kinds())
    if (kind.name == context.device.kind && kind.count <= context.device.index) {
      reportNone(context.device.str() + ": " + (kind.count ? "there are fewer" : kind.why));
      return {};
    }
  StatusOr<Gpu> gpu = Gpu::ask(**api, context.device);
  if (!gpu.ok())
    return gpu.status();
  report(describe(*gpu));
  for (const Library &library : kLibraries)
    report(findLibrary(library));
  runtime::CUdevice device = 0;
  runtime::CUcontext current = nullptr;
  (*api)->cuDeviceGet(&device, context.device.index);
  int result = (*api)->cuDevicePrimaryCtxRetain(&current, device);
  if (Status status = (*api)->status(result, "cuDevicePrimaryCtxRetain"); !status.ok())
    return status;
  (*api)->cuCtxSetCurrent(current);
  for (const Json &file : context.plan.value("modules", Json::array()))
    loadModules(context, **api, *gpu, file.get<std::string>());
  (*api)->cuDevicePrimaryCtxRelease(device);
  return {};
}

} // namespace dlc::gpucheck
