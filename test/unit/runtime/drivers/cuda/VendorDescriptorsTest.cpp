// The vendor's own libraries take the descriptors of calls, without a GPU, and hold what was meant; the fakes answer
// alike. What a library can compute only a device tells: see NVIDIA's documentation for that.
#include "drivers/cuda/CublasLt.h"
#include "drivers/cuda/Cudnn.h"
#include "drivers/cuda/VendorLibrary.h"

#include <gtest/gtest.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cublasLt.h>
#include <cudnn.h>
#include <dlfcn.h>

#include <cstdlib>

using namespace dlc;
using namespace dlc::runtime;
using Epilogue = MatMulCall::Epilogue;
using Kind = ConvCall::Kind;

namespace {

/// A function of a library that only this test needs.
template <typename Function>
Function *find(const char *library, const char *name) {
  void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return opened ? reinterpret_cast<Function *>(dlsym(opened, name)) : nullptr;
}

/// The vendor's, or none where that is not installed.
template <typename Api>
const Api *installed() {
  unsetenv("DLC_GPU_LIBRARY");
  StatusOr<const Api *> api = Api::load();
  return api.ok() ? *api : nullptr;
}

template <typename T>
T attribute(const cublaslt::MatmulDesc *desc, cublasLtMatmulDescAttributes_t which) {
  T value{};
  size_t written = 0;
  auto *get = find<decltype(cublasLtMatmulDescGetAttribute)>("libcublasLt.so.13", "cublasLtMatmulDescGetAttribute");
  auto *handle = reinterpret_cast<cublasLtMatmulDesc_t>(const_cast<cublaslt::MatmulDesc *>(desc));
  EXPECT_EQ(get(handle, which, static_cast<void *>(&value), sizeof value, &written), CUBLAS_STATUS_SUCCESS);
  return value;
}
template <typename T>
T attribute(const cublaslt::MatrixLayout *layout, cublasLtMatrixLayoutAttribute_t which) {
  T value{};
  size_t written = 0;
  auto *get = find<decltype(cublasLtMatrixLayoutGetAttribute)>("libcublasLt.so.13", "cublasLtMatrixLayoutGetAttribute");
  auto *handle = reinterpret_cast<cublasLtMatrixLayout_t>(const_cast<cublaslt::MatrixLayout *>(layout));
  EXPECT_EQ(get(handle, which, static_cast<void *>(&value), sizeof value, &written), CUBLAS_STATUS_SUCCESS);
  return value;
}
template <typename T>
T attribute(const cublaslt::Preference *preference, cublasLtMatmulPreferenceAttributes_t which) {
  T value{};
  size_t written = 0;
  auto *get =
      find<decltype(cublasLtMatmulPreferenceGetAttribute)>("libcublasLt.so.13", "cublasLtMatmulPreferenceGetAttribute");
  auto *handle = reinterpret_cast<cublasLtMatmulPreference_t>(const_cast<cublaslt::Preference *>(preference));
  EXPECT_EQ(get(handle, which, static_cast<void *>(&value), sizeof value, &written), CUBLAS_STATUS_SUCCESS);
  return value;
}

void expectLayout(const cublaslt::MatrixLayout *layout, int32_t type, uint64_t rows, uint64_t columns, int64_t leading,
                  int32_t batch, int64_t stride) {
  EXPECT_EQ(attribute<int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_TYPE), type);
  EXPECT_EQ(attribute<int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_ORDER), CUBLASLT_ORDER_COL);
  EXPECT_EQ(attribute<uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS), rows);
  EXPECT_EQ(attribute<uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS), columns);
  EXPECT_EQ(attribute<int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD), leading);
  EXPECT_EQ(attribute<int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT), batch);
  EXPECT_EQ(attribute<int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET), stride);
}

// 3 x [4 x 5] by [5 x 8], left stored by rows, right by columns.
MatMulCall product(DType from, DType to, Epilogue epilogue) {
  MatMulCall call;
  call.batch = 3;
  call.rows = 4;
  call.columns = 8;
  call.terms = 5;
  call.left = {0, 0, from, 6, 1, 24};
  call.right = {1, 8, from, 1, 5, 0};
  call.result = {2, 0, to, 8, 1, 32};
  call.epilogue = epilogue;
  call.bias = hasBias(epilogue) ? 3 : -1;
  call.aux = epilogue == Epilogue::GeluGrad ? 3 : -1;
  return call;
}

constexpr std::pair<Epilogue, cublasLtEpilogue_t> kEpilogues[] = {
    {Epilogue::None, CUBLASLT_EPILOGUE_DEFAULT},   {Epilogue::Bias, CUBLASLT_EPILOGUE_BIAS},
    {Epilogue::Relu, CUBLASLT_EPILOGUE_RELU},      {Epilogue::ReluBias, CUBLASLT_EPILOGUE_RELU_BIAS},
    {Epilogue::Gelu, CUBLASLT_EPILOGUE_GELU},      {Epilogue::GeluBias, CUBLASLT_EPILOGUE_GELU_BIAS},
    {Epilogue::GeluGrad, CUBLASLT_EPILOGUE_DGELU},
};

TEST(VendorDescriptors, CublasLtHoldsProducts) {
  const cublaslt::Api *api = installed<cublaslt::Api>();
  if (!api || !find<decltype(cublasLtMatmulDescGetAttribute)>("libcublasLt.so.13", "cublasLtMatmulDescGetAttribute"))
    GTEST_SKIP() << "no cuBLASLt 13 here";
  for (auto [from, to, fromType, toType] : {std::tuple{DType::F32, DType::F32, CUDA_R_32F, CUDA_R_32F},
                                            {DType::F16, DType::F16, CUDA_R_16F, CUDA_R_16F},
                                            {DType::BF16, DType::F32, CUDA_R_16BF, CUDA_R_32F}})
    for (auto [epilogue, theirs] : kEpilogues) {
      StatusOr<cublaslt::Descriptors> made = cublaslt::describe(*api, product(from, to, epilogue), 4096);
      ASSERT_TRUE(made.ok()) << made.status().message();
      const cublaslt::MatmulDesc *desc = made->product.get();
      EXPECT_EQ(attribute<int32_t>(desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE), CUBLAS_COMPUTE_32F);
      EXPECT_EQ(attribute<int32_t>(desc, CUBLASLT_MATMUL_DESC_SCALE_TYPE), CUDA_R_32F);
      EXPECT_EQ(attribute<int32_t>(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE), CUBLASLT_POINTER_MODE_HOST);
      EXPECT_EQ(attribute<uint32_t>(desc, CUBLASLT_MATMUL_DESC_EPILOGUE), uint32_t(theirs));
      // The right matrix is stored as [columns x terms], its own transpose; the left one by rows.
      EXPECT_EQ(attribute<int32_t>(desc, CUBLASLT_MATMUL_DESC_TRANSA), CUBLAS_OP_T);
      EXPECT_EQ(attribute<int32_t>(desc, CUBLASLT_MATMUL_DESC_TRANSB), CUBLAS_OP_N);
      expectLayout(made->a.get(), fromType, 5, 8, 5, 3, 0);
      expectLayout(made->b.get(), fromType, 5, 4, 6, 3, 24);
      expectLayout(made->d.get(), toType, 8, 4, 8, 3, 32);
      EXPECT_EQ(attribute<void *>(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER) != nullptr, hasBias(epilogue));
      bool isGradient = epilogue == Epilogue::GeluGrad;
      EXPECT_EQ(attribute<int64_t>(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD), isGradient ? 8 : 0);
      EXPECT_EQ(attribute<int64_t>(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE), isGradient ? 32 : 0);
      const cublaslt::Preference *preference = made->preference.get();
      EXPECT_EQ(attribute<uint64_t>(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES), 4096);
      EXPECT_EQ(attribute<uint32_t>(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES), 8);
      EXPECT_EQ(attribute<uint32_t>(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES), 16);
      EXPECT_EQ(attribute<uint32_t>(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK),
                to == DType::F32 ? uint32_t(CUBLASLT_REDUCTION_SCHEME_MASK)
                                 : uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    }
}

TEST(VendorDescriptors, CublasLtHoldsTf32) {
  const cublaslt::Api *api = installed<cublaslt::Api>();
  if (!api || !find<decltype(cublasLtMatmulDescGetAttribute)>("libcublasLt.so.13", "cublasLtMatmulDescGetAttribute"))
    GTEST_SKIP() << "no cuBLASLt 13 here";
  MatMulCall call = product(DType::F32, DType::F32, Epilogue::None);
  call.tf32 = true;
  StatusOr<cublaslt::Descriptors> made = cublaslt::describe(*api, call, 0);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(attribute<int32_t>(made->product.get(), CUBLASLT_MATMUL_DESC_COMPUTE_TYPE), CUBLAS_COMPUTE_32F_FAST_TF32);
}

ConvCall convolution(Kind kind, DType dtype, size_t axes, bool channelsLast) {
  ConvCall call;
  call.kind = kind;
  call.dtype = dtype;
  call.groups = 2;
  std::vector<int64_t> x = {2, 4}, w = {6, 2}, y = {2, 6};
  for (size_t i = 0; i < axes; ++i) {
    x.push_back(9);
    w.push_back(3);
    y.push_back((9 + 2 - 5) / 2 + 1);
  }
  call.strides.assign(axes, 2);
  call.padding.assign(axes, 1);
  call.dilation.assign(axes, 2);
  for (auto [tensor, extents] : {std::pair{&call.input, &x}, {&call.weight, &w}, {&call.output, &y}}) {
    tensor->extents = *extents;
    tensor->strides.resize(extents->size());
    int64_t step = channelsLast ? (*extents)[1] : 1;
    for (size_t i = extents->size(); i-- > 2; step *= (*extents)[i])
      tensor->strides[i] = step;
    tensor->strides[1] = channelsLast ? 1 : step;
    tensor->strides[0] = channelsLast ? step : step * (*extents)[1];
  }
  return call;
}

/// Sizes of a call, with the axis of one place that the library wants in front of a single one.
std::vector<int> withAxis(const std::vector<int64_t> &sizes, size_t leading, int filler) {
  std::vector<int> all(sizes.begin(), sizes.end());
  if (sizes.size() - leading == 1)
    all.insert(all.begin() + std::ptrdiff_t(leading), filler);
  return all;
}

void expectTensor(cudnn::TensorDesc desc, const ConvCall::Tensor &tensor, cudnnDataType_t type) {
  auto *get = find<decltype(cudnnGetTensorNdDescriptor)>("libcudnn.so.9", "cudnnGetTensorNdDescriptor");
  int rank = 0, extents[8], strides[8];
  cudnnDataType_t found;
  ASSERT_EQ(get(desc, 8, &found, &rank, extents, strides), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(found, type);
  EXPECT_EQ(std::vector<int>(extents, extents + rank), withAxis(tensor.extents, 2, 1));
  EXPECT_EQ(std::vector<int>(strides, strides + rank),
            withAxis(tensor.strides, 2, int(tensor.extents.back() * tensor.strides.back())));
}

void expectConvolution(const cudnn::Descriptors &made, const ConvCall &call, bool channelsLast) {
  auto *getFilter = find<decltype(cudnnGetFilterNdDescriptor)>("libcudnn.so.9", "cudnnGetFilterNdDescriptor");
  auto *getConv = find<decltype(cudnnGetConvolutionNdDescriptor)>("libcudnn.so.9", "cudnnGetConvolutionNdDescriptor");
  auto *getOutput =
      find<decltype(cudnnGetConvolutionNdForwardOutputDim)>("libcudnn.so.9", "cudnnGetConvolutionNdForwardOutputDim");
  auto *getGroups = find<decltype(cudnnGetConvolutionGroupCount)>("libcudnn.so.9", "cudnnGetConvolutionGroupCount");
  cudnnDataType_t type = call.dtype == DType::F32   ? CUDNN_DATA_FLOAT
                         : call.dtype == DType::F16 ? CUDNN_DATA_HALF
                                                    : CUDNN_DATA_BFLOAT16;
  expectTensor(made.input.get(), call.input, type);
  expectTensor(made.output.get(), call.output, type);
  int rank = 0, sizes[8], padding[8], strides[8], dilation[8], groups = 0;
  cudnnDataType_t found;
  cudnnTensorFormat_t format;
  ASSERT_EQ(getFilter(made.weight.get(), 8, &found, &format, &rank, sizes), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(found, type);
  EXPECT_EQ(format, channelsLast ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW);
  EXPECT_EQ(std::vector<int>(sizes, sizes + rank), withAxis(call.weight.extents, 2, 1));
  cudnnConvolutionMode_t mode;
  ASSERT_EQ(getConv(made.convolution.get(), 6, &rank, padding, strides, dilation, &mode, &found), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(mode, CUDNN_CROSS_CORRELATION);
  EXPECT_EQ(found, CUDNN_DATA_FLOAT);
  EXPECT_EQ(std::vector<int>(padding, padding + rank), withAxis(call.padding, 0, 0));
  EXPECT_EQ(std::vector<int>(strides, strides + rank), withAxis(call.strides, 0, 1));
  EXPECT_EQ(std::vector<int>(dilation, dilation + rank), withAxis(call.dilation, 0, 1));
  ASSERT_EQ(getGroups(made.convolution.get(), &groups), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(groups, call.groups);
  ASSERT_EQ(getOutput(made.convolution.get(), made.input.get(), made.weight.get(), rank + 2, sizes),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(std::vector<int>(sizes, sizes + rank + 2), withAxis(call.output.extents, 2, 1));
}

TEST(VendorDescriptors, CudnnHoldsConvolutions) {
  const cudnn::Api *api = installed<cudnn::Api>();
  if (!api)
    GTEST_SKIP() << "no cuDNN here";
  for (DType dtype : {DType::F32, DType::F16, DType::BF16})
    for (size_t axes : {1, 2, 3})
      for (bool channelsLast : {false, true}) {
        ConvCall call = convolution(Kind::Forward, dtype, axes, channelsLast);
        StatusOr<cudnn::Descriptors> made = cudnn::describe(*api, call);
        ASSERT_TRUE(made.ok()) << made.status().message();
        expectConvolution(*made, call, channelsLast);
      }
}

TEST(VendorDescriptors, CudnnHoldsWhatF32MayBe) {
  const cudnn::Api *api = installed<cudnn::Api>();
  if (!api)
    GTEST_SKIP() << "no cuDNN here";
  auto *get = find<decltype(cudnnGetConvolutionMathType)>("libcudnn.so.9", "cudnnGetConvolutionMathType");
  for (auto [dtype, tf32, theirs] : {std::tuple{DType::F32, false, CUDNN_FMA_MATH},
                                     {DType::F32, true, CUDNN_DEFAULT_MATH},
                                     {DType::BF16, false, CUDNN_TENSOR_OP_MATH}}) {
    ConvCall call = convolution(Kind::InputGrad, dtype, 2, false);
    call.tf32 = tf32;
    StatusOr<cudnn::Descriptors> made = cudnn::describe(*api, call);
    ASSERT_TRUE(made.ok()) << made.status().message();
    cudnnMathType_t math;
    ASSERT_EQ(get(made->convolution.get(), &math), CUDNN_STATUS_SUCCESS);
    EXPECT_EQ(math, theirs);
  }
}

/// The functions of a library by its path.
cublaslt::Api fakeCublasLt() {
  cublaslt::Api api;
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 1);
#define DLC_FIELD(result, name, ...) {reinterpret_cast<void **>(&api.name), #name},
  Status loaded = VendorLibrary{"", "", nullptr, "", ""}.load({DLC_CUBLASLT_API(DLC_FIELD)});
#undef DLC_FIELD
  unsetenv("DLC_GPU_LIBRARY");
  EXPECT_TRUE(loaded.ok()) << loaded.message();
  return api;
}

/// What a library says to attributes of right and of wrong sizes.
std::vector<int> answers(const cublaslt::Api &api) {
  std::vector<int> all;
  cublaslt::MatmulDesc *desc = nullptr;
  cublaslt::MatrixLayout *layout = nullptr;
  cublaslt::Preference *preference = nullptr;
  all.push_back(api.cublasLtMatmulDescCreate(&desc, cublaslt::kCompute32F, cublaslt::kFloat32));
  all.push_back(api.cublasLtMatrixLayoutCreate(&layout, cublaslt::kFloat16, 8, 4, 8));
  all.push_back(api.cublasLtMatmulPreferenceCreate(&preference));
  const int64_t value = 1;
  for (size_t bytes : {1, 4, 8, 16}) {
    for (int attribute : {cublaslt::kTransA, cublaslt::kTransB, cublaslt::kEpilogue, cublaslt::kBiasPointer,
                          cublaslt::kAuxPointer, cublaslt::kAuxLeading, cublaslt::kAuxBatchStride})
      all.push_back(api.cublasLtMatmulDescSetAttribute(desc, attribute, &value, bytes));
    for (int attribute : {cublaslt::kBatchCount, cublaslt::kBatchStride})
      all.push_back(api.cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, bytes));
    for (int attribute :
         {cublaslt::kMaxWorkspace, cublaslt::kReductionMask, cublaslt::kAlignmentA, cublaslt::kAlignmentD})
      all.push_back(api.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, bytes));
  }
  all.push_back(api.cublasLtMatmulDescDestroy(desc));
  all.push_back(api.cublasLtMatrixLayoutDestroy(layout));
  all.push_back(api.cublasLtMatmulPreferenceDestroy(preference));
  return all;
}

TEST(VendorDescriptors, TheFakeOfCublasLtAnswersAlike) {
  const cublaslt::Api *api = installed<cublaslt::Api>();
  if (!api)
    GTEST_SKIP() << "no cuBLASLt here";
  EXPECT_EQ(answers(fakeCublasLt()), answers(*api));
}

} // namespace
