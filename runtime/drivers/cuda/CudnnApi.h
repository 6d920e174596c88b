#pragma once

#include "drivers/cuda/CudaApi.h"

// By the vendor's names: a test compares every line below with cudnn.h, where that is found.
struct cudnnContext;
struct cudnnTensorStruct;
struct cudnnFilterStruct;
struct cudnnConvolutionStruct;

namespace dlc::runtime::cudnn {

using Handle = cudnnContext *;
using TensorDesc = cudnnTensorStruct *;
using FilterDesc = cudnnFilterStruct *;
using ConvDesc = cudnnConvolutionStruct *;

/// What the library thinks of an algorithm, of any of the three kinds.
struct AlgorithmPerf {
  int algo;
  int status;
  float time;
  size_t memory;
  int determinism;
  int mathType;
  int reserved[3];
};

/// Every entry point in use: result, name, parameters. Enums are ints.
#define DLC_CUDNN_API(X)                                                                                               \
  X(int, cudnnCreate, Handle *)                                                                                        \
  X(int, cudnnDestroy, Handle)                                                                                         \
  X(int, cudnnSetStream, Handle, CUstream)                                                                             \
  X(const char *, cudnnGetErrorString, int)                                                                            \
  X(void, cudnnGetLastErrorString, char *, size_t)                                                                     \
  X(int, cudnnCreateTensorDescriptor, TensorDesc *)                                                                    \
  X(int, cudnnDestroyTensorDescriptor, TensorDesc)                                                                     \
  X(int, cudnnSetTensorNdDescriptor, TensorDesc, int, int, const int *, const int *)                                   \
  X(int, cudnnCreateFilterDescriptor, FilterDesc *)                                                                    \
  X(int, cudnnDestroyFilterDescriptor, FilterDesc)                                                                     \
  X(int, cudnnSetFilterNdDescriptor, FilterDesc, int, int, int, const int *)                                           \
  X(int, cudnnCreateConvolutionDescriptor, ConvDesc *)                                                                 \
  X(int, cudnnDestroyConvolutionDescriptor, ConvDesc)                                                                  \
  X(int, cudnnSetConvolutionNdDescriptor, ConvDesc, int, const int *, const int *, const int *, int, int)              \
  X(int, cudnnSetConvolutionMathType, ConvDesc, int)                                                                   \
  X(int, cudnnSetConvolutionGroupCount, ConvDesc, int)                                                                 \
  X(int, cudnnGetConvolutionForwardAlgorithm_v7, Handle, TensorDesc, FilterDesc, ConvDesc, TensorDesc, int, int *,     \
    AlgorithmPerf *)                                                                                                   \
  X(int, cudnnGetConvolutionBackwardDataAlgorithm_v7, Handle, FilterDesc, TensorDesc, ConvDesc, TensorDesc, int,       \
    int *, AlgorithmPerf *)                                                                                            \
  X(int, cudnnGetConvolutionBackwardFilterAlgorithm_v7, Handle, TensorDesc, TensorDesc, ConvDesc, FilterDesc, int,     \
    int *, AlgorithmPerf *)                                                                                            \
  X(int, cudnnGetConvolutionForwardWorkspaceSize, Handle, TensorDesc, FilterDesc, ConvDesc, TensorDesc, int, size_t *) \
  X(int, cudnnGetConvolutionBackwardDataWorkspaceSize, Handle, FilterDesc, TensorDesc, ConvDesc, TensorDesc, int,      \
    size_t *)                                                                                                          \
  X(int, cudnnGetConvolutionBackwardFilterWorkspaceSize, Handle, TensorDesc, TensorDesc, ConvDesc, FilterDesc, int,    \
    size_t *)                                                                                                          \
  X(int, cudnnConvolutionForward, Handle, const void *, TensorDesc, const void *, FilterDesc, const void *, ConvDesc,  \
    int, void *, size_t, const void *, TensorDesc, void *)                                                             \
  X(int, cudnnConvolutionBackwardData, Handle, const void *, FilterDesc, const void *, TensorDesc, const void *,       \
    ConvDesc, int, void *, size_t, const void *, TensorDesc, void *)                                                   \
  X(int, cudnnConvolutionBackwardFilter, Handle, const void *, TensorDesc, const void *, TensorDesc, const void *,     \
    ConvDesc, int, void *, size_t, const void *, FilterDesc, void *)

/// Constants in use: ours, the vendor's name, its value.
#define DLC_CUDNN_CONSTANTS(X)                                                                                         \
  X(kFloat32, CUDNN_DATA_FLOAT, 0)                                                                                     \
  X(kFloat16, CUDNN_DATA_HALF, 2)                                                                                      \
  X(kBfloat16, CUDNN_DATA_BFLOAT16, 9)                                                                                 \
  X(kChannelsFirst, CUDNN_TENSOR_NCHW, 0)                                                                              \
  X(kChannelsLast, CUDNN_TENSOR_NHWC, 1)                                                                               \
  X(kCrossCorrelation, CUDNN_CROSS_CORRELATION, 1)                                                                     \
  X(kDefaultMath, CUDNN_DEFAULT_MATH, 0)                                                                               \
  X(kTensorOpMath, CUDNN_TENSOR_OP_MATH, 1)                                                                            \
  X(kFmaMath, CUDNN_FMA_MATH, 3)                                                                                       \
  X(kDeterministic, CUDNN_DETERMINISTIC, 1)                                                                            \
  X(kMostDims, CUDNN_DIM_MAX, 8)                                                                                       \
  X(kForwardAlgorithms, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, 8)                                                           \
  X(kInputGradAlgorithms, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT, 6)                                                    \
  X(kWeightGradAlgorithms, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, 7)

/// Results in use: ours, the vendor's name, its value.
#define DLC_CUDNN_RESULTS(X)                                                                                           \
  X(kSuccess, CUDNN_STATUS_SUCCESS, 0)                                                                                 \
  X(kNotInitialized, CUDNN_STATUS_NOT_INITIALIZED, 1001)                                                               \
  X(kBadParam, CUDNN_STATUS_BAD_PARAM, 2000)                                                                           \
  X(kNotSupported, CUDNN_STATUS_NOT_SUPPORTED, 3000)                                                                   \
  X(kInternalError, CUDNN_STATUS_INTERNAL_ERROR, 4000)                                                                 \
  X(kHostMemory, CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, 4003)                                             \
  X(kDeviceMemory, CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, 4004)                                         \
  X(kExecutionFailed, CUDNN_STATUS_EXECUTION_FAILED, 5000)

enum Constant : int {
#define DLC_CUDNN_CONSTANT(ours, theirs, value) ours = (value),
  DLC_CUDNN_CONSTANTS(DLC_CUDNN_CONSTANT)
#undef DLC_CUDNN_CONSTANT
};
enum Result : int {
#define DLC_CUDNN_RESULT(ours, theirs, value) ours = (value),
  DLC_CUDNN_RESULTS(DLC_CUDNN_RESULT)
#undef DLC_CUDNN_RESULT
};

/// The library's functions, found when first needed: nothing links libcudnn.
struct Api {
#define DLC_CUDNN_FIELD(result, name, ...) result (*name)(__VA_ARGS__) = nullptr;
  DLC_CUDNN_API(DLC_CUDNN_FIELD)
#undef DLC_CUDNN_FIELD

  /// From libcudnn.so.9, or the one library that DLC_GPU_LIBRARY names. One sentence says what is missing.
  static StatusOr<const Api *> load();

  /// "cudnnCreate: CUDNN_STATUS_…: what cuDNN says of it: what to do", or success.
  Status status(int result, std::string_view function) const;
};

} // namespace dlc::runtime::cudnn
