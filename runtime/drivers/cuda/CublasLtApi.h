#pragma once

#include "drivers/cuda/CudaApi.h"

#include <cstdint>

// By the vendor's names: a test compares every line below with cublasLt.h, where that is found.
struct cublasLtContext;

namespace dlc::runtime::cublaslt {

using Handle = cublasLtContext *;
/// What the header calls cublasLt…Opaque_t.
struct MatmulDesc;
struct MatrixLayout;
struct Preference;

struct Algorithm {
  uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algo;
  size_t workspaceSize;
  int state;
  float wavesCount;
  int reserved[4];
};

/// Every entry point in use: result, name, parameters. Enums are ints.
#define DLC_CUBLASLT_API(X)                                                                                            \
  X(int, cublasLtCreate, Handle *)                                                                                     \
  X(int, cublasLtDestroy, Handle)                                                                                      \
  X(const char *, cublasLtGetStatusName, int)                                                                          \
  X(int, cublasLtMatmulDescCreate, MatmulDesc **, int, int)                                                            \
  X(int, cublasLtMatmulDescDestroy, MatmulDesc *)                                                                      \
  X(int, cublasLtMatmulDescSetAttribute, MatmulDesc *, int, const void *, size_t)                                      \
  X(int, cublasLtMatrixLayoutCreate, MatrixLayout **, int, uint64_t, uint64_t, int64_t)                                \
  X(int, cublasLtMatrixLayoutDestroy, MatrixLayout *)                                                                  \
  X(int, cublasLtMatrixLayoutSetAttribute, MatrixLayout *, int, const void *, size_t)                                  \
  X(int, cublasLtMatmulPreferenceCreate, Preference **)                                                                \
  X(int, cublasLtMatmulPreferenceDestroy, Preference *)                                                                \
  X(int, cublasLtMatmulPreferenceSetAttribute, Preference *, int, const void *, size_t)                                \
  X(int, cublasLtMatmulAlgoGetHeuristic, Handle, MatmulDesc *, MatrixLayout *, MatrixLayout *, MatrixLayout *,         \
    MatrixLayout *, Preference *, int, HeuristicResult *, int *)                                                       \
  X(int, cublasLtMatmul, Handle, MatmulDesc *, const void *, const void *, MatrixLayout *, const void *,               \
    MatrixLayout *, const void *, const void *, MatrixLayout *, void *, MatrixLayout *, const Algorithm *, void *,     \
    size_t, CUstream)

/// Constants in use: ours, the vendor's name, its value.
#define DLC_CUBLASLT_CONSTANTS(X)                                                                                      \
  X(kFloat32, CUDA_R_32F, 0)                                                                                           \
  X(kFloat16, CUDA_R_16F, 2)                                                                                           \
  X(kBfloat16, CUDA_R_16BF, 14)                                                                                        \
  X(kCompute32F, CUBLAS_COMPUTE_32F, 68)                                                                               \
  X(kComputeTf32, CUBLAS_COMPUTE_32F_FAST_TF32, 77)                                                                    \
  X(kAsIs, CUBLAS_OP_N, 0)                                                                                             \
  X(kTransposed, CUBLAS_OP_T, 1)                                                                                       \
  X(kTransA, CUBLASLT_MATMUL_DESC_TRANSA, 3)                                                                           \
  X(kTransB, CUBLASLT_MATMUL_DESC_TRANSB, 4)                                                                           \
  X(kEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE, 7)                                                                       \
  X(kBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8)                                                                \
  X(kAuxPointer, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 11)                                                        \
  X(kAuxLeading, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 12)                                                             \
  X(kAuxBatchStride, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, 13)                                               \
  X(kBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 5)                                                                \
  X(kBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 6)                                                      \
  X(kMaxWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 1)                                                        \
  X(kReductionMask, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, 3)                                                     \
  X(kAlignmentA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 5)                                                        \
  X(kAlignmentB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 6)                                                        \
  X(kAlignmentC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 7)                                                        \
  X(kAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 8)                                                        \
  X(kReduceInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, 2)                                                   \
  X(kPlain, CUBLASLT_EPILOGUE_DEFAULT, 1)                                                                              \
  X(kRelu, CUBLASLT_EPILOGUE_RELU, 2)                                                                                  \
  X(kBias, CUBLASLT_EPILOGUE_BIAS, 4)                                                                                  \
  X(kReluBias, CUBLASLT_EPILOGUE_RELU_BIAS, 6)                                                                         \
  X(kGelu, CUBLASLT_EPILOGUE_GELU, 32)                                                                                 \
  X(kGeluBias, CUBLASLT_EPILOGUE_GELU_BIAS, 36)                                                                        \
  X(kGeluGrad, CUBLASLT_EPILOGUE_DGELU, 192)

/// Results in use: ours, the vendor's name, its value, what to do.
#define DLC_CUBLASLT_RESULTS(X)                                                                                        \
  X(kSuccess, CUBLAS_STATUS_SUCCESS, 0, "")                                                                            \
  X(kNotInitialized, CUBLAS_STATUS_NOT_INITIALIZED, 1, "the driver may be older than the library; see nvidia-smi")     \
  X(kAllocFailed, CUBLAS_STATUS_ALLOC_FAILED, 3, "end other programs on the device, or use smaller batches")           \
  X(kInvalidValue, CUBLAS_STATUS_INVALID_VALUE, 7, "compile with --matmul=generated")                                  \
  X(kArchMismatch, CUBLAS_STATUS_ARCH_MISMATCH, 8, "install a newer cuBLAS, or compile with --matmul=generated")       \
  X(kExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED, 13, "run under compute-sanitizer")                               \
  X(kInternalError, CUBLAS_STATUS_INTERNAL_ERROR, 14, "compile with --matmul=generated")                               \
  X(kNotSupported, CUBLAS_STATUS_NOT_SUPPORTED, 15, "compile with --matmul=generated")

enum Constant : int {
#define DLC_CUBLASLT_CONSTANT(ours, theirs, value) ours = (value),
  DLC_CUBLASLT_CONSTANTS(DLC_CUBLASLT_CONSTANT)
#undef DLC_CUBLASLT_CONSTANT
};
enum Result : int {
#define DLC_CUBLASLT_RESULT(ours, theirs, value, advice) ours = (value),
  DLC_CUBLASLT_RESULTS(DLC_CUBLASLT_RESULT)
#undef DLC_CUBLASLT_RESULT
};

/// The library's functions, found when first needed: nothing links libcublasLt.
struct Api {
#define DLC_CUBLASLT_FIELD(result, name, ...) result (*name)(__VA_ARGS__) = nullptr;
  DLC_CUBLASLT_API(DLC_CUBLASLT_FIELD)
#undef DLC_CUBLASLT_FIELD

  /// From libcublasLt.so.13 or .12, or the one library that DLC_GPU_LIBRARY names. One sentence says what is missing.
  static StatusOr<const Api *> load();

  /// "cublasLtMatmul: CUBLAS_STATUS_…: what to do", or success.
  Status status(int result, std::string_view function) const;
};

} // namespace dlc::runtime::cublaslt
