#pragma once

#include "dlc/runtime/Communicator.h"

#include <climits>
#include <cstddef>
#include <string_view>

// Handles by the vendor's names: a test compares every line below with nccl.h, where that is found.
struct ncclComm;
struct CUstream_st;

namespace dlc::runtime::nccl {

using Comm = ncclComm *;
using Stream = CUstream_st *;

/// Names a communicator that is being made.
struct UniqueId {
  char internal[128];
};

/// Of version 2.28; a library of another version takes what it knows of it.
struct Config {
  size_t size = sizeof(Config);
  unsigned int magic = 0xcafebeef;
  unsigned int version = 22809;
  int blocking = INT_MIN, cgaClusterSize = INT_MIN, minCTAs = INT_MIN, maxCTAs = INT_MIN;
  const char *netName = nullptr;
  int splitShare = INT_MIN, trafficClass = INT_MIN;
  const char *commName = nullptr;
  int collnetEnable = INT_MIN, CTAPolicy = INT_MIN, shrinkShare = INT_MIN, nvlsCTAs = INT_MIN,
      nChannelsPerNetPeer = INT_MIN, nvlinkCentricSched = INT_MIN;
};

/// Every entry point in use: result, name, parameters. Enums are ints.
#define DLC_NCCL_API(X)                                                                                                \
  X(int, ncclGetVersion, int *)                                                                                        \
  X(int, ncclGetUniqueId, UniqueId *)                                                                                  \
  X(int, ncclCommInitRankConfig, Comm *, int, UniqueId, int, Config *)                                                 \
  X(int, ncclCommFinalize, Comm)                                                                                       \
  X(int, ncclCommDestroy, Comm)                                                                                        \
  X(int, ncclCommAbort, Comm)                                                                                          \
  X(int, ncclCommGetAsyncError, Comm, int *)                                                                           \
  X(const char *, ncclGetErrorString, int)                                                                             \
  X(const char *, ncclGetLastError, Comm)                                                                              \
  X(int, ncclAllReduce, const void *, void *, size_t, int, int, Comm, Stream)                                          \
  X(int, ncclReduceScatter, const void *, void *, size_t, int, int, Comm, Stream)                                      \
  X(int, ncclAllGather, const void *, void *, size_t, int, Comm, Stream)                                               \
  X(int, ncclBroadcast, const void *, void *, size_t, int, int, Comm, Stream)                                          \
  X(int, ncclSend, const void *, size_t, int, int, Comm, Stream)                                                       \
  X(int, ncclRecv, void *, size_t, int, int, Comm, Stream)                                                             \
  X(int, ncclGroupStart, void)                                                                                         \
  X(int, ncclGroupEnd, void)

/// Constants in use: ours, the vendor's name, its value.
#define DLC_NCCL_CONSTANTS(X)                                                                                          \
  X(kSuccess, ncclSuccess, 0)                                                                                          \
  X(kUnhandledCudaError, ncclUnhandledCudaError, 1)                                                                    \
  X(kSystemError, ncclSystemError, 2)                                                                                  \
  X(kInternalError, ncclInternalError, 3)                                                                              \
  X(kInvalidArgument, ncclInvalidArgument, 4)                                                                          \
  X(kInvalidUsage, ncclInvalidUsage, 5)                                                                                \
  X(kRemoteError, ncclRemoteError, 6)                                                                                  \
  X(kInProgress, ncclInProgress, 7)                                                                                    \
  X(kInt8, ncclInt8, 0)                                                                                                \
  X(kUint8, ncclUint8, 1)                                                                                              \
  X(kInt32, ncclInt32, 2)                                                                                              \
  X(kInt64, ncclInt64, 4)                                                                                              \
  X(kFloat16, ncclFloat16, 6)                                                                                          \
  X(kFloat32, ncclFloat32, 7)                                                                                          \
  X(kFloat64, ncclFloat64, 8)                                                                                          \
  X(kBfloat16, ncclBfloat16, 9)                                                                                        \
  X(kSum, ncclSum, 0)                                                                                                  \
  X(kMax, ncclMax, 2)                                                                                                  \
  X(kMin, ncclMin, 3)

enum Constant : int {
#define DLC_NCCL_CONSTANT(ours, theirs, value) ours = (value),
  DLC_NCCL_CONSTANTS(DLC_NCCL_CONSTANT)
#undef DLC_NCCL_CONSTANT
};

/// The library's functions, found when first needed: nothing links libnccl.
struct Api {
#define DLC_NCCL_FIELD(result, name, ...) result (*name)(__VA_ARGS__) = nullptr;
  DLC_NCCL_API(DLC_NCCL_FIELD)
#undef DLC_NCCL_FIELD

  /// From libnccl.so.2, or the one library that DLC_GPU_LIBRARY names. One sentence says what is missing.
  static StatusOr<const Api *> load();

  /// "ncclAllReduce: unhandled system error: what NCCL says of it", or success; kInProgress is none.
  Status status(int result, std::string_view function, Comm comm) const;
};

/// NCCL's numbers for ours.
int typeOf(DType type);
int reduceOf(Reduce reduce);

} // namespace dlc::runtime::nccl
