/// NVIDIA's products of matrices over the devices of this library, by loops in double. Stricter than the real one where
/// that would read what is not there or give wrong numbers: every descriptor must fit, an algorithm belongs to the
/// descriptors, alignments and workspace it was asked for with, and what is written overlaps nothing else.
#include "FakeLibrary.h"

#include "drivers/cuda/CublasLtApi.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>

using namespace dlc;
using namespace dlc::fakegpu;
using namespace dlc::runtime::cublaslt;
using runtime::CUstream;

struct cublasLtContext {
  CUctx_st *context = nullptr;
};

namespace dlc::runtime::cublaslt {

struct MatmulDesc {
  int compute = 0, scale = 0;
  int32_t transA = kAsIs, transB = kAsIs;
  uint32_t epilogue = kPlain;
  const void *bias = nullptr, *aux = nullptr;
  int64_t auxLeading = 0, auxBatchStride = 0;
};

struct MatrixLayout {
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  int32_t batch = 1;
  int64_t batchStride = 0;
  friend bool operator==(const MatrixLayout &, const MatrixLayout &) = default;
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = 7;
  uint32_t alignments[4] = {256, 256, 256, 256}; ///< of A, B, C, D
};

} // namespace dlc::runtime::cublaslt

namespace {

Alive<cublasLtContext> handles;
Alive<MatmulDesc> products;
Alive<MatrixLayout> layouts;
Alive<Preference> preferences;

/// Takes an attribute of exactly the size of its place.
template <typename T>
int set(T &place, const void *value, size_t bytes) {
  if (!value || bytes != sizeof place)
    return kInvalidValue;
  std::memcpy(static_cast<void *>(&place), value, sizeof place);
  return kSuccess;
}

std::optional<DType> elementOf(int type) {
  switch (type) {
  case kFloat32:
    return DType::F32;
  case kFloat16:
    return DType::F16;
  case kBfloat16:
    return DType::BF16;
  default:
    return std::nullopt;
  }
}

/// A product as it is asked for.
struct Product {
  MatmulDesc desc;
  MatrixLayout a, b, c, d;

  int64_t rows() const { return int64_t(d.rows); }
  int64_t columns() const { return int64_t(d.columns); }
  int64_t terms() const { return int64_t(desc.transA == kTransposed ? a.rows : a.columns); }
  bool hasBias() const { return (desc.epilogue & kBias) != 0; }
  bool hasAux() const { return desc.epilogue == kGeluGrad; }
};

bool fits(const MatrixLayout &layout) {
  return elementOf(layout.type) && layout.rows > 0 && layout.columns > 0 && layout.leading >= int64_t(layout.rows) &&
         layout.batch > 0 && layout.batchStride >= 0;
}

int64_t span(const MatrixLayout &layout) {
  return (layout.batch - 1) * layout.batchStride + int64_t(layout.columns - 1) * layout.leading + int64_t(layout.rows);
}

DeviceRange rangeOf(const void *address, const MatrixLayout &layout) {
  return {address, span(layout) * byteSize(*elementOf(layout.type))};
}

/// Which types go together, by NVIDIA's table for sums in f32.
bool typesFit(const Product &product) {
  bool isSingle = product.a.type == kFloat32;
  if (product.a.type != product.b.type || (product.desc.compute == kComputeTf32 && !isSingle))
    return false;
  return product.d.type == kFloat32 || (!isSingle && product.d.type == product.a.type);
}

bool epilogueFits(const Product &product) {
  constexpr int known[] = {kPlain, kRelu, kBias, kReluBias, kGelu, kGeluBias, kGeluGrad};
  const MatmulDesc &desc = product.desc;
  if (std::find(std::begin(known), std::end(known), int(desc.epilogue)) == std::end(known))
    return false;
  if (product.hasBias() && !desc.bias)
    return false;
  return !product.hasAux() || (desc.aux && desc.auxLeading >= product.rows() && desc.auxLeading % 8 == 0 &&
                               desc.auxBatchStride % 8 == 0 && std::bit_cast<uintptr_t>(desc.aux) % 16 == 0);
}

int check(const Product &product) {
  const auto &[desc, a, b, c, d] = product;
  if ((desc.compute != kCompute32F && desc.compute != kComputeTf32) || desc.scale != kFloat32)
    return kNotSupported;
  if (!fits(a) || !fits(b) || !fits(d) || !(c == d))
    return kInvalidValue;
  bool flipA = desc.transA == kTransposed, flipB = desc.transB == kTransposed;
  if ((flipA ? a.columns : a.rows) != d.rows || (flipB ? b.rows : b.columns) != d.columns ||
      (flipA ? a.rows : a.columns) != (flipB ? b.columns : b.rows) || a.batch != d.batch || b.batch != d.batch)
    return kInvalidValue;
  if (d.batch > 1 && d.batchStride < int64_t(d.columns - 1) * d.leading + int64_t(d.rows))
    return kInvalidValue;
  if (!epilogueFits(product))
    return kInvalidValue;
  return typesFit(product) ? kSuccess : kNotSupported;
}

/// What makes an algorithm one of this product; pointers are not part of it.
uint64_t fingerprint(const Product &product) {
  const auto &[desc, a, b, c, d] = product;
  uint64_t hash = 14695981039346656037U;
  auto add = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
  for (int64_t value : {int64_t(desc.compute), int64_t(desc.transA), int64_t(desc.transB), int64_t(desc.epilogue),
                        desc.auxLeading, desc.auxBatchStride})
    add(uint64_t(value));
  for (const MatrixLayout *layout : {&a, &b, &d})
    for (int64_t value : {int64_t(layout->type), int64_t(layout->rows), int64_t(layout->columns), layout->leading,
                          int64_t(layout->batch), layout->batchStride})
      add(uint64_t(value));
  return hash;
}

/// An algorithm's words: of which product it is, how pointers are aligned, how much workspace it needs.
enum Word : size_t { kProduct, kAligned, kNeeded = 5 };

/// `layout`'s elements as rows of op(matrix), or as columns of it.
std::vector<double> pack(const char *base, const MatrixLayout &layout, int64_t batch, bool byRows, bool flip,
                         bool tf32) {
  auto rows = int64_t(layout.rows), columns = int64_t(layout.columns);
  DType type = *elementOf(layout.type);
  std::vector<double> packed(size_t(rows * columns));
  bool rowsOutside = byRows != flip; // of the matrix in memory
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) {
      double value = readElement(base, batch * layout.batchStride + j * layout.leading + i, type);
      packed[size_t(rowsOutside ? i * columns + j : j * rows + i)] = tf32 ? asTf32(value) : value;
    }
  return packed;
}

// The tanh form; the vendor does not say which it is.
double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x)));
}
double geluGradient(double x) {
  double slope = std::sqrt(2 * std::numbers::inv_pi), tanh = std::tanh(slope * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * slope * (1 + 3 * 0.044715 * x * x);
}

/// A call, with what it needs when it runs.
struct Call {
  Product product;
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void *d = nullptr, *workspace = nullptr;
  int64_t workspaceBytes = 0;
  float alpha = 1, beta = 0;

  int run(CUctx_st &context) const;
  double finish(double value, int64_t i, int64_t j, int64_t batch, const char *bias, const char *aux) const;
};

double Call::finish(double value, int64_t i, int64_t j, int64_t batch, const char *bias, const char *aux) const {
  const MatmulDesc &desc = product.desc;
  DType type = *elementOf(product.d.type);
  if (product.hasBias())
    value += readElement(bias, i, type);
  if (product.hasAux())
    return value * geluGradient(readElement(aux, batch * desc.auxBatchStride + j * desc.auxLeading + i, type));
  if (desc.epilogue & kGelu)
    return gelu(value);
  return (desc.epilogue & kRelu) && value < 0 ? 0 : value;
}

int Call::run(CUctx_st &context) const {
  const auto &[desc, la, lb, lc, ld] = product;
  DType type = *elementOf(ld.type);
  MatrixLayout auxLayout{ld.type, ld.rows, ld.columns, desc.auxLeading, ld.batch, desc.auxBatchStride};
  std::vector<DeviceRange> ranges = {rangeOf(a, la),
                                     rangeOf(b, lb),
                                     {desc.bias, product.hasBias() ? product.rows() * byteSize(type) : 0},
                                     product.hasAux() ? rangeOf(desc.aux, auxLayout) : DeviceRange{},
                                     rangeOf(d, ld),
                                     {workspace, workspaceBytes}};
  std::vector<char *> memory = translate(context, ranges, 2);
  if (memory.empty())
    return runtime::kIllegalAddress;
  if (workspaceBytes > 0)
    std::memset(memory[5], 0xFF, size_t(workspaceBytes));
  bool tf32 = desc.compute == kComputeTf32;
  int64_t terms = product.terms();
  for (int64_t batch = 0; batch < ld.batch; ++batch) {
    std::vector<double> left = pack(memory[0], la, batch, true, desc.transA == kTransposed, tf32);
    std::vector<double> right = pack(memory[1], lb, batch, false, desc.transB == kTransposed, tf32);
    for (int64_t j = 0; j < product.columns(); ++j)
      for (int64_t i = 0; i < product.rows(); ++i) {
        double sum = 0;
        for (int64_t k = 0; k < terms; ++k)
          sum += left[size_t(i * terms + k)] * right[size_t(j * terms + k)];
        int64_t at = batch * ld.batchStride + j * ld.leading + i;
        double value = alpha * sum + (beta == 0 ? 0 : beta * readElement(memory[4], at, type));
        writeElement(memory[4], at, type, finish(value, i, j, batch, memory[2], memory[3]));
      }
  }
  return runtime::kSuccess;
}

} // namespace

namespace dlc::fakegpu {

size_t cublasLtHandlesAlive() { return handles.count(); }
size_t cublasLtDescriptorsAlive() { return products.count() + layouts.count() + preferences.count(); }

} // namespace dlc::fakegpu

extern "C" {

int cublasLtCreate(Handle *handle) {
  DLC_FAKE_LIBRARY(cublasLtCreate, kNotInitialized)
  if (!current)
    return kNotInitialized;
  *handle = handles.add(std::make_unique<cublasLtContext>(cublasLtContext{current}));
  return kSuccess;
}

int cublasLtDestroy(Handle handle) {
  DLC_FAKE_LIBRARY(cublasLtDestroy, kNotInitialized)
  return handles.remove(handle) ? kSuccess : kNotInitialized;
}

const char *cublasLtGetStatusName(int status) {
  switch (status) {
#define DLC_CUBLASLT_RESULT(ours, theirs, value, advice)                                                               \
  case value:                                                                                                          \
    return #theirs;
    DLC_CUBLASLT_RESULTS(DLC_CUBLASLT_RESULT)
#undef DLC_CUBLASLT_RESULT
  default:
    return "CUBLAS_STATUS_UNKNOWN";
  }
}

int cublasLtMatmulDescCreate(MatmulDesc **desc, int compute, int scale) {
  DLC_FAKE_LIBRARY(cublasLtMatmulDescCreate, kAllocFailed)
  *desc = products.add(std::make_unique<MatmulDesc>(MatmulDesc{.compute = compute, .scale = scale}));
  return kSuccess;
}

int cublasLtMatmulDescDestroy(MatmulDesc *desc) {
  DLC_FAKE_LIBRARY(cublasLtMatmulDescDestroy, kInvalidValue)
  return products.remove(desc) ? kSuccess : kInvalidValue;
}

int cublasLtMatmulDescSetAttribute(MatmulDesc *desc, int attribute, const void *value, size_t bytes) {
  DLC_FAKE_LIBRARY(cublasLtMatmulDescSetAttribute, kInvalidValue)
  if (!products.has(desc))
    return kInvalidValue;
  switch (attribute) {
  case kTransA:
    return set(desc->transA, value, bytes);
  case kTransB:
    return set(desc->transB, value, bytes);
  case kEpilogue:
    return set(desc->epilogue, value, bytes);
  case kBiasPointer:
    return set(desc->bias, value, bytes);
  case kAuxPointer:
    return set(desc->aux, value, bytes);
  case kAuxLeading:
    return set(desc->auxLeading, value, bytes);
  case kAuxBatchStride:
    return set(desc->auxBatchStride, value, bytes);
  default:
    return kInvalidValue;
  }
}

int cublasLtMatrixLayoutCreate(MatrixLayout **layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  DLC_FAKE_LIBRARY(cublasLtMatrixLayoutCreate, kAllocFailed)
  *layout = layouts.add(std::make_unique<MatrixLayout>(MatrixLayout{type, rows, columns, leading}));
  return kSuccess;
}

int cublasLtMatrixLayoutDestroy(MatrixLayout *layout) {
  DLC_FAKE_LIBRARY(cublasLtMatrixLayoutDestroy, kInvalidValue)
  return layouts.remove(layout) ? kSuccess : kInvalidValue;
}

int cublasLtMatrixLayoutSetAttribute(MatrixLayout *layout, int attribute, const void *value, size_t bytes) {
  DLC_FAKE_LIBRARY(cublasLtMatrixLayoutSetAttribute, kInvalidValue)
  if (!layouts.has(layout))
    return kInvalidValue;
  switch (attribute) {
  case kBatchCount:
    return set(layout->batch, value, bytes);
  case kBatchStride:
    return set(layout->batchStride, value, bytes);
  default:
    return kInvalidValue;
  }
}

int cublasLtMatmulPreferenceCreate(Preference **preference) {
  DLC_FAKE_LIBRARY(cublasLtMatmulPreferenceCreate, kAllocFailed)
  *preference = preferences.add(std::make_unique<Preference>());
  return kSuccess;
}

int cublasLtMatmulPreferenceDestroy(Preference *preference) {
  DLC_FAKE_LIBRARY(cublasLtMatmulPreferenceDestroy, kInvalidValue)
  return preferences.remove(preference) ? kSuccess : kInvalidValue;
}

int cublasLtMatmulPreferenceSetAttribute(Preference *preference, int attribute, const void *value, size_t bytes) {
  DLC_FAKE_LIBRARY(cublasLtMatmulPreferenceSetAttribute, kInvalidValue)
  if (!preferences.has(preference))
    return kInvalidValue;
  if (attribute == kMaxWorkspace)
    return set(preference->workspace, value, bytes);
  if (attribute == kReductionMask)
    return set(preference->reductions, value, bytes);
  if (attribute >= kAlignmentA && attribute <= kAlignmentD)
    return set(preference->alignments[attribute - kAlignmentA], value, bytes);
  return kInvalidValue;
}

int cublasLtMatmulAlgoGetHeuristic(Handle handle, MatmulDesc *desc, MatrixLayout *a, MatrixLayout *b, MatrixLayout *c,
                                   MatrixLayout *d, Preference *preference, int asked, HeuristicResult *results,
                                   int *found) {
  DLC_FAKE_LIBRARY(cublasLtMatmulAlgoGetHeuristic, kNotSupported)
  if (!handles.has(handle) || !products.has(desc) || !layouts.has(a) || !layouts.has(b) || !layouts.has(c) ||
      !layouts.has(d) || !preferences.has(preference) || asked < 1)
    return kInvalidValue;
  *found = 0;
  Product product{*desc, *a, *b, *c, *d};
  if (int refused = check(product))
    return refused;
  // Sums in the type of a result of 16 bits would round more than once.
  if (product.d.type != kFloat32 && preference->reductions != kReduceInComputeType)
    return kNotSupported;
  HeuristicResult &result = results[0];
  result = {};
  result.workspaceSize = std::min<uint64_t>(preference->workspace, uint64_t(4 * span(*d) + 255) / 256 * 256);
  result.algo.data[kProduct] = fingerprint(product);
  std::copy(std::begin(preference->alignments), std::end(preference->alignments), &result.algo.data[kAligned]);
  result.algo.data[kNeeded] = result.workspaceSize;
  *found = 1;
  return kSuccess;
}

int cublasLtMatmul(Handle handle, MatmulDesc *desc, const void *alpha, const void *a, MatrixLayout *aLayout,
                   const void *b, MatrixLayout *bLayout, const void *beta, const void *c, MatrixLayout *cLayout,
                   void *d, MatrixLayout *dLayout, const Algorithm *algorithm, void *workspace, size_t workspaceBytes,
                   CUstream stream) {
  DLC_FAKE_LIBRARY(cublasLtMatmul, kInternalError)
  if (!handles.has(handle) || !products.has(desc) || !layouts.has(aLayout) || !layouts.has(bLayout) ||
      !layouts.has(cLayout) || !layouts.has(dLayout) || !algorithm)
    return kInvalidValue;
  FakeDriver &driver = FakeDriver::get();
  {
    std::lock_guard guard(driver.lock);
    if (!driver.streams.contains(stream) || stream->context != handle->context || current != handle->context)
      return kInvalidValue;
  }
  if (handle->context->failure != runtime::kSuccess)
    return kExecutionFailed;
  Call call{{*desc, *aLayout, *bLayout, *cLayout, *dLayout}, a, b, c, d, workspace};
  if (int refused = check(call.product))
    return refused;
  std::memcpy(&call.alpha, alpha, sizeof call.alpha);
  std::memcpy(&call.beta, beta, sizeof call.beta);
  const void *pointers[] = {a, b, c, d};
  for (size_t i = 0; i < 4; ++i)
    if (!pointers[i] || std::bit_cast<uintptr_t>(pointers[i]) % algorithm->data[kAligned + i] != 0)
      return kInvalidValue;
  uint64_t needed = algorithm->data[kNeeded];
  if (algorithm->data[kProduct] != fingerprint(call.product) || workspaceBytes < needed || c != d ||
      (needed > 0 && (!workspace || std::bit_cast<uintptr_t>(workspace) % 256 != 0)))
    return kInvalidValue;
  call.workspaceBytes = int64_t(needed);
  CUctx_st *context = handle->context;
  return driver.submit(*stream, [call, context] { return call.run(*context); }) ? kInternalError : kSuccess;
}

} // extern "C"

// What the runtime looks up is what is here.
#define DLC_CUBLASLT_CHECK(result, name, ...) extern "C" result name(__VA_ARGS__);
DLC_CUBLASLT_API(DLC_CUBLASLT_CHECK)
#undef DLC_CUBLASLT_CHECK
