#include "drivers/cuda/CublasLt.h"

#include <bit>
#include <mutex>
#include <numeric>

namespace dlc::runtime::cublaslt {

namespace {

using Matrix = MatMulCall::Matrix;
using Epilogue = MatMulCall::Epilogue;

int typeOf(DType type) { return type == DType::F16 ? kFloat16 : type == DType::BF16 ? kBfloat16 : kFloat32; }

uint32_t epilogueOf(Epilogue epilogue) {
  switch (epilogue) {
  case Epilogue::None:
    return kPlain;
  case Epilogue::Bias:
    return kBias;
  case Epilogue::Relu:
    return kRelu;
  case Epilogue::ReluBias:
    return kReluBias;
  case Epilogue::Gelu:
    return kGelu;
  case Epilogue::GeluBias:
    return kGeluBias;
  case Epilogue::GeluGrad:
    return kGeluGrad;
  }
  return kPlain;
}

/// A matrix's memory, read by columns.
struct View {
  int64_t rows = 0, columns = 0, leading = 0;
  bool flipped = false; ///< it is the transpose of ours
};

View viewOf(const Matrix &matrix, int64_t rows, int64_t columns) {
  if (matrix.columnStride == 1 && matrix.rowStride >= columns)
    return {columns, rows, matrix.rowStride, true};
  return {rows, columns, matrix.columnStride, false};
}

/// Sets up descriptors; remembers the first failure.
class Builder {
public:
  explicit Builder(const Api &api) : api(api) {}

  Status status;

  void note(int result, std::string_view function) {
    if (status.ok())
      status = api.status(result, function);
  }
  template <typename T>
  void set(MatmulDesc *desc, int attribute, T value) {
    if (status.ok())
      note(api.cublasLtMatmulDescSetAttribute(desc, attribute, static_cast<const void *>(&value), sizeof value),
           "cublasLtMatmulDescSetAttribute");
  }
  template <typename T>
  void set(Preference *preference, int attribute, T value) {
    if (status.ok())
      note(api.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
           "cublasLtMatmulPreferenceSetAttribute");
  }

  Owned<MatrixLayout> layout(const Matrix &matrix, const View &view, int64_t batch) {
    MatrixLayout *made = nullptr;
    if (status.ok())
      note(api.cublasLtMatrixLayoutCreate(&made, typeOf(matrix.dtype), uint64_t(view.rows), uint64_t(view.columns),
                                          view.leading),
           "cublasLtMatrixLayoutCreate");
    Owned<MatrixLayout> owned(status.ok() ? made : nullptr, api.cublasLtMatrixLayoutDestroy);
    if (batch > 1) {
      set(owned.get(), kBatchCount, int32_t(batch));
      set(owned.get(), kBatchStride, matrix.batchStride);
    }
    return owned;
  }

  Owned<MatmulDesc> product(const MatMulCall &call) {
    MatmulDesc *made = nullptr;
    if (status.ok())
      note(api.cublasLtMatmulDescCreate(&made, call.tf32 ? kComputeTf32 : kCompute32F, kFloat32),
           "cublasLtMatmulDescCreate");
    return {status.ok() ? made : nullptr, api.cublasLtMatmulDescDestroy};
  }

  Owned<Preference> preference() {
    Preference *made = nullptr;
    if (status.ok())
      note(api.cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    return {status.ok() ? made : nullptr, api.cublasLtMatmulPreferenceDestroy};
  }

private:
  template <typename T>
  void set(MatrixLayout *layout, int attribute, T value) {
    if (status.ok())
      note(api.cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof value),
           "cublasLtMatrixLayoutSetAttribute");
  }

  const Api &api;
};

// How the address of a matrix is aligned, from its offset.
uint32_t alignmentOf(const Matrix &matrix) { return uint32_t(std::gcd(matrix.offset, kOperandAlignment)); }

// A pointer of which only the alignment counts: the library looks at it before there is a real one.
void *anyAddress() { return std::bit_cast<void *>(uintptr_t(1) << 32 | uintptr_t(kOperandAlignment)); }

void setEpilogue(Builder &builder, MatmulDesc *product, const MatMulCall &call, const View &result) {
  builder.set(product, kEpilogue, epilogueOf(call.epilogue));
  if (call.bias >= 0)
    builder.set(product, kBiasPointer, anyAddress());
  if (call.aux < 0)
    return;
  builder.set(product, kAuxPointer, anyAddress());
  builder.set(product, kAuxLeading, result.leading);
  if (call.batch > 1)
    builder.set(product, kAuxBatchStride, call.result.batchStride);
}

// What the manifest's reader does not know of the library.
Status checkCall(const MatMulCall &call, const View &result) {
  if (call.aux >= 0 && (result.leading % 8 != 0 || (call.batch > 1 && call.result.batchStride % 8 != 0)))
    return {StatusCode::InvalidInput, "cuBLASLt has no gradient of gelu for rows or matrices whose strides are no "
                                      "multiples of 8; compile with --matmul=generated"};
  return {};
}

} // namespace

StatusOr<Descriptors> describe(const Api &api, const MatMulCall &call, int64_t workspaceBytes) {
  View left = viewOf(call.left, call.rows, call.terms), right = viewOf(call.right, call.terms, call.columns),
       result = viewOf(call.result, call.rows, call.columns);
  if (Status status = checkCall(call, result); !status.ok())
    return status;
  Builder builder(api);
  Descriptors made{builder.product(call), builder.layout(call.right, right, call.batch),
                   builder.layout(call.left, left, call.batch), builder.layout(call.result, result, call.batch),
                   builder.preference()};
  builder.set(made.product.get(), kTransA, int32_t(right.flipped ? kAsIs : kTransposed));
  builder.set(made.product.get(), kTransB, int32_t(left.flipped ? kAsIs : kTransposed));
  setEpilogue(builder, made.product.get(), call, result);
  builder.set(made.preference.get(), kMaxWorkspace, uint64_t(workspaceBytes));
  // A result of 16 bits is rounded once.
  if (call.result.dtype != DType::F32)
    builder.set(made.preference.get(), kReductionMask, uint32_t(kReduceInComputeType));
  for (auto [attribute, matrix] : {std::pair{kAlignmentA, &call.right}, std::pair{kAlignmentB, &call.left},
                                   std::pair{kAlignmentC, &call.result}, std::pair{kAlignmentD, &call.result}})
    builder.set(made.preference.get(), attribute, alignmentOf(*matrix));
  if (!builder.status.ok())
    return builder.status;
  return made;
}

namespace {

class CublasLt : public DeviceLibrary {
public:
  CublasLt(const Api &api, Handle handle) : api(api), handle(handle) {}
  ~CublasLt() override { (void)api.cublasLtDestroy(handle); }

  StatusOr<std::unique_ptr<LibraryKernel>> prepare(const LibraryCall &call) override;

  const Api &api;
  const Handle handle;
};

class Product : public LibraryKernel {
public:
  Product(std::shared_ptr<CublasLt> library, const LibraryCall &call, Descriptors descriptors)
      : library(std::move(library)), call(std::get<MatMulCall>(call.what)), workspace(call),
        descriptors(std::move(descriptors)) {}

  Status choose();
  Status run(CUstream stream, void *const *pointers) override;

private:
  Status setPointer(int attribute, int64_t operand, void *const *pointers);

  std::shared_ptr<CublasLt> library;
  MatMulCall call;
  LibraryWorkspace workspace;
  Descriptors descriptors;
  Algorithm algorithm{};
  std::mutex lock; ///< of the descriptor, which holds a call's pointers
};

Status Product::choose() {
  HeuristicResult best{};
  int found = 0;
  const auto &[product, a, b, d, preference] = descriptors;
  int result = library->api.cublasLtMatmulAlgoGetHeuristic(library->handle, product.get(), a.get(), b.get(), d.get(),
                                                           d.get(), preference.get(), 1, &best, &found);
  if (result == kSuccess && found > 0)
    result = best.state;
  if (result == kSuccess && found == 0)
    result = kNotSupported;
  algorithm = best.algo;
  return library->api.status(result, "cublasLtMatmulAlgoGetHeuristic");
}

Status Product::setPointer(int attribute, int64_t operand, void *const *pointers) {
  if (operand < 0)
    return {};
  void *address = pointers[operand];
  if (Status status = checkAlignment(address, kOperandAlignment, operand); !status.ok())
    return status;
  int result = library->api.cublasLtMatmulDescSetAttribute(descriptors.product.get(), attribute,
                                                           static_cast<const void *>(&address), sizeof address);
  return library->api.status(result, "cublasLtMatmulDescSetAttribute");
}

Status Product::run(CUstream stream, void *const *pointers) {
  auto at = [&](const Matrix &matrix) { return static_cast<char *>(pointers[matrix.operand]) + matrix.offset; };
  for (const Matrix *matrix : {&call.left, &call.right, &call.result})
    if (Status status = checkAlignment(at(*matrix), alignmentOf(*matrix), matrix->operand); !status.ok())
      return status;
  void *d = at(call.result);
  constexpr float one = 1, zero = 0;
  std::lock_guard guard(lock);
  Status status = setPointer(kBiasPointer, call.bias, pointers);
  if (status.ok())
    status = setPointer(kAuxPointer, call.aux, pointers);
  if (!status.ok())
    return status;
  int result = library->api.cublasLtMatmul(library->handle, descriptors.product.get(), &one, at(call.right),
                                           descriptors.a.get(), at(call.left), descriptors.b.get(), &zero, d,
                                           descriptors.d.get(), d, descriptors.d.get(), &algorithm,
                                           workspace.address(pointers), size_t(workspace.bytes()), stream);
  return library->api.status(result, "cublasLtMatmul");
}

StatusOr<std::unique_ptr<LibraryKernel>> CublasLt::prepare(const LibraryCall &call) {
  StatusOr<Descriptors> made = describe(api, std::get<MatMulCall>(call.what), LibraryWorkspace(call).bytes());
  if (!made.ok())
    return made.status();
  auto self = std::static_pointer_cast<CublasLt>(shared_from_this());
  auto kernel = std::make_unique<Product>(std::move(self), call, made.take());
  if (Status status = kernel->choose(); !status.ok())
    return status;
  return std::unique_ptr<LibraryKernel>(std::move(kernel));
}

} // namespace

StatusOr<std::shared_ptr<DeviceLibrary>> open() {
  StatusOr<const Api *> api = Api::load();
  if (!api.ok())
    return api.status();
  Handle handle = nullptr;
  if (int result = (*api)->cublasLtCreate(&handle); result != kSuccess)
    return (*api)->status(result, "cublasLtCreate");
  return std::shared_ptr<DeviceLibrary>(std::make_shared<CublasLt>(**api, handle));
}

} // namespace dlc::runtime::cublaslt
