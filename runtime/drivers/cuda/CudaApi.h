#pragma once

#include "dlc/runtime/Status.h"

#include <cstddef>
#include <string_view>

// Handles of the CUDA driver, by the vendor's names: a test compares every line below with the toolkit's cuda.h.
struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmod_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphExec_st;

namespace dlc::runtime {

using CUcontext = CUctx_st *;
using CUstream = CUstream_st *;
using CUevent = CUevent_st *;
using CUmodule = CUmod_st *;
using CUfunction = CUfunc_st *;
using CUgraph = CUgraph_st *;
using CUgraphExec = CUgraphExec_st *;
using CUdeviceptr = unsigned long long;
using CUdevice = int;

/// Every entry point of libcuda in use: its name, the symbol that has this signature, its parameters. Enums are ints.
#define DLC_CUDA_API(X)                                                                                                \
  X(cuInit, cuInit, unsigned)                                                                                          \
  X(cuDriverGetVersion, cuDriverGetVersion, int *)                                                                     \
  X(cuGetErrorName, cuGetErrorName, int, const char **)                                                                \
  X(cuDeviceGetCount, cuDeviceGetCount, int *)                                                                         \
  X(cuDeviceGet, cuDeviceGet, CUdevice *, int)                                                                         \
  X(cuDeviceGetName, cuDeviceGetName, char *, int, CUdevice)                                                           \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, size_t *, CUdevice)                                                         \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, int *, int, CUdevice)                                                  \
  X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, char *, int, CUdevice)                                                   \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, CUcontext *, CUdevice)                                         \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, CUdevice)                                                 \
  X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, CUdevice)                                                     \
  X(cuCtxSetCurrent, cuCtxSetCurrent, CUcontext)                                                                       \
  X(cuCtxSynchronize, cuCtxSynchronize, void)                                                                          \
  X(cuMemGetInfo, cuMemGetInfo_v2, size_t *, size_t *)                                                                 \
  X(cuMemAlloc, cuMemAlloc_v2, CUdeviceptr *, size_t)                                                                  \
  X(cuMemFree, cuMemFree_v2, CUdeviceptr)                                                                              \
  X(cuMemHostAlloc, cuMemHostAlloc, void **, size_t, unsigned)                                                         \
  X(cuMemFreeHost, cuMemFreeHost, void *)                                                                              \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, CUdeviceptr, const void *, size_t, CUstream)                              \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, void *, CUdeviceptr, size_t, CUstream)                                    \
  X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, size_t, CUstream)                               \
  X(cuMemcpyPeerAsync, cuMemcpyPeerAsync, CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream)            \
  X(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, int *, CUdevice, CUdevice)                                           \
  X(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, CUcontext, unsigned)                                                 \
  X(cuMemsetD8Async, cuMemsetD8Async, CUdeviceptr, unsigned char, size_t, CUstream)                                    \
  X(cuStreamCreate, cuStreamCreate, CUstream *, unsigned)                                                              \
  X(cuStreamDestroy, cuStreamDestroy_v2, CUstream)                                                                     \
  X(cuStreamSynchronize, cuStreamSynchronize, CUstream)                                                                \
  X(cuStreamWaitEvent, cuStreamWaitEvent, CUstream, CUevent, unsigned)                                                 \
  X(cuEventCreate, cuEventCreate, CUevent *, unsigned)                                                                 \
  X(cuEventDestroy, cuEventDestroy_v2, CUevent)                                                                        \
  X(cuEventRecord, cuEventRecord, CUevent, CUstream)                                                                   \
  X(cuEventQuery, cuEventQuery, CUevent)                                                                               \
  X(cuEventSynchronize, cuEventSynchronize, CUevent)                                                                   \
  X(cuModuleLoadDataEx, cuModuleLoadDataEx, CUmodule *, const void *, unsigned, int *, void **)                        \
  X(cuModuleUnload, cuModuleUnload, CUmodule)                                                                          \
  X(cuModuleGetFunction, cuModuleGetFunction, CUfunction *, CUmodule, const char *)                                    \
  X(cuLaunchKernel, cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,  \
    CUstream, void **, void **)                                                                                        \
  X(cuStreamBeginCapture, cuStreamBeginCapture_v2, CUstream, int)                                                      \
  X(cuStreamEndCapture, cuStreamEndCapture, CUstream, CUgraph *)                                                       \
  X(cuGraphInstantiate, cuGraphInstantiateWithFlags, CUgraphExec *, CUgraph, unsigned long long)                       \
  X(cuGraphLaunch, cuGraphLaunch, CUgraphExec, CUstream)                                                               \
  X(cuGraphDestroy, cuGraphDestroy, CUgraph)                                                                           \
  X(cuGraphExecDestroy, cuGraphExecDestroy, CUgraphExec)

/// Constants in use, by the vendor's names.
#define DLC_CUDA_CONSTANTS(X)                                                                                          \
  X(kStreamNonBlocking, CU_STREAM_NON_BLOCKING, 1)                                                                     \
  X(kEventDisableTiming, CU_EVENT_DISABLE_TIMING, 2)                                                                   \
  X(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                                                       \
  X(kMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                    \
  X(kClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                                                    \
  X(kMemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                                                       \
  X(kMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)                                                  \
  X(kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                                \
  X(kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                                \
  X(kJitErrorLog, CU_JIT_ERROR_LOG_BUFFER, 5)                                                                          \
  X(kJitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)

/// Results in use: ours, the vendor's name, its value, whether the device is of no use afterwards, what to do.
#define DLC_CUDA_RESULTS(X)                                                                                            \
  X(kSuccess, CUDA_SUCCESS, 0, false, "")                                                                              \
  X(kInvalidValue, CUDA_ERROR_INVALID_VALUE, 1, false, "")                                                             \
  X(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY, 2, false, "end other programs on the device, or use smaller batches")      \
  X(kNotInitialized, CUDA_ERROR_NOT_INITIALIZED, 3, false, "")                                                         \
  X(kStubLibrary, CUDA_ERROR_STUB_LIBRARY, 34, false,                                                                  \
    "this libcuda is the toolkit's stub; take its folder from the library path, or install the driver")                \
  X(kDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE, 46, false, "another program has the device for itself")         \
  X(kNoDevice, CUDA_ERROR_NO_DEVICE, 100, false, "see CUDA_VISIBLE_DEVICES, and what nvidia-smi lists")                \
  X(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE, 101, false, "")                                                         \
  X(kInvalidImage, CUDA_ERROR_INVALID_IMAGE, 200, false, "")                                                           \
  X(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT, 201, false, "")                                                       \
  X(kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU, 209, false, "")                                                     \
  X(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE, 214, true, "the device's memory is faulty; see nvidia-smi -q")    \
  X(kInvalidPtx, CUDA_ERROR_INVALID_PTX, 218, false, "")                                                               \
  X(kUnsupportedPtx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222, false, "install a newer driver")                         \
  X(kOperatingSystem, CUDA_ERROR_OPERATING_SYSTEM, 304, false, "see the system's log (dmesg)")                         \
  X(kInvalidHandle, CUDA_ERROR_INVALID_HANDLE, 400, false, "")                                                         \
  X(kNotFound, CUDA_ERROR_NOT_FOUND, 500, false, "")                                                                   \
  X(kNotReady, CUDA_ERROR_NOT_READY, 600, false, "")                                                                   \
  X(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS, 700, true, DLC_CUDA_WRONG_ACCESS)                                     \
  X(kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, false, "the kernel needs more than a block has")   \
  X(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT, 702, true, "a display uses the device, whose kernels may not run long") \
  X(kPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, false, "")                                 \
  X(kContextDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED, 709, true, "")                                                 \
  X(kAssert, CUDA_ERROR_ASSERT, 710, true, "")                                                                         \
  X(kHardwareStack, CUDA_ERROR_HARDWARE_STACK_ERROR, 714, true, DLC_CUDA_WRONG_ACCESS)                                 \
  X(kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION, 715, true, "")                                                \
  X(kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS, 716, true, DLC_CUDA_WRONG_ACCESS)                               \
  X(kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE, 717, true, DLC_CUDA_WRONG_ACCESS)                          \
  X(kInvalidPc, CUDA_ERROR_INVALID_PC, 718, true, DLC_CUDA_WRONG_ACCESS)                                               \
  X(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED, 719, true, DLC_CUDA_WRONG_ACCESS)                                         \
  X(kNotSupported, CUDA_ERROR_NOT_SUPPORTED, 801, false, "")                                                           \
  X(kSystemNotReady, CUDA_ERROR_SYSTEM_NOT_READY, 802, false, "start nvidia-fabricmanager")                            \
  X(kDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803, false,                                                    \
    "the driver was replaced since it was loaded; start the machine again")                                            \
  X(kCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, false, "")                                        \
  X(kCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, false, "")                                        \
  X(kCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903, false, "")                                            \
  X(kCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904, false, "")                                              \
  X(kCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905, false, "")                                            \
  X(kUnknown, CUDA_ERROR_UNKNOWN, 999, true, "see the system's log (dmesg)")
#define DLC_CUDA_WRONG_ACCESS "run under compute-sanitizer, or on sim with accesses checked (--sim-check)"

enum CudaConstant : int {
#define DLC_CUDA_CONSTANT(ours, theirs, value) ours = (value),
  DLC_CUDA_CONSTANTS(DLC_CUDA_CONSTANT)
#undef DLC_CUDA_CONSTANT
};
enum CudaResult : int {
#define DLC_CUDA_RESULT(ours, theirs, value, fatal, advice) ours = (value),
  DLC_CUDA_RESULTS(DLC_CUDA_RESULT)
#undef DLC_CUDA_RESULT
};

/// The driver's functions, found when first needed: nothing links libcuda.
struct CudaApi {
#define DLC_CUDA_FIELD(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
  DLC_CUDA_API(DLC_CUDA_FIELD)
#undef DLC_CUDA_FIELD
  /// DLC_GPU_LIBRARY replaced the vendor's library; such a one may run kernels for sim.
  bool replaced = false;

  /// From libcuda.so.1, or the one library that DLC_GPU_LIBRARY names. One sentence says what is missing.
  static StatusOr<const CudaApi *> load();

  /// "cuMemAlloc: CUDA_ERROR_…: what to do", or success.
  Status status(int result, std::string_view function) const;
};

/// Whether nothing works on the device after this result until the program ends.
bool endsDevice(int result);

} // namespace dlc::runtime
