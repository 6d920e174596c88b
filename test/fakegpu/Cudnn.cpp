/// NVIDIA's convolutions, by the interface of descriptors, over the devices of this library: loops in double. Stricter
/// than the real one where that would read what is not there or give wrong numbers: descriptors must fit each other, an
/// algorithm must be deterministic and have its workspace, and what is written overlaps nothing else.
#include "FakeLibrary.h"

#include "drivers/cuda/CudnnApi.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

using namespace dlc;
using namespace dlc::fakegpu;
using namespace dlc::runtime::cudnn;
using runtime::CUstream;

struct cudnnContext {
  CUctx_st *context = nullptr;
  CUstream stream = nullptr;
};

struct cudnnTensorStruct {
  int type = -1;
  std::vector<int> extents, strides;
};

struct cudnnFilterStruct {
  int type = -1, format = kChannelsFirst;
  std::vector<int> extents;
};

struct cudnnConvolutionStruct {
  std::vector<int> padding, strides, dilation;
  int groups = 1, math = kDefaultMath;
};

namespace {

Alive<cudnnContext> handles;
Alive<cudnnTensorStruct> tensors;
Alive<cudnnFilterStruct> filters;
Alive<cudnnConvolutionStruct> convolutions;
thread_local std::string lastError;

int refuse(int result, const char *why) {
  lastError = why;
  return result;
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

enum class Kind { Forward, InputGrad, WeightGrad };

constexpr int kAxes = 3; ///< spatial ones; those there are not have one place

/// A tensor or a filter with three spatial axes.
struct View {
  int64_t outer = 0, channels = 0, outerStride = 0, channelStride = 0; ///< outer: batch, or channels of the output
  int64_t extents[kAxes] = {1, 1, 1}, strides[kAxes] = {};

  View(const std::vector<int> &sizes, const std::vector<int> &steps)
      : outer(sizes[0]), channels(sizes[1]), outerStride(steps[0]), channelStride(steps[1]) {
    size_t first = kAxes - (sizes.size() - 2);
    for (size_t i = 2; i < sizes.size(); ++i) {
      extents[first + i - 2] = sizes[i];
      strides[first + i - 2] = steps[i];
    }
  }

  int64_t span() const {
    int64_t last = (outer - 1) * outerStride + (channels - 1) * channelStride;
    for (int axis = 0; axis < kAxes; ++axis)
      last += (extents[axis] - 1) * strides[axis];
    return last + 1;
  }
  int64_t at(int64_t o, int64_t c, const int64_t (&place)[kAxes]) const {
    return o * outerStride + c * channelStride + place[0] * strides[0] + place[1] * strides[1] + place[2] * strides[2];
  }
};

View viewOf(const cudnnFilterStruct &filter) {
  std::vector<int> strides(filter.extents.size());
  int64_t step = filter.format == kChannelsLast ? filter.extents[1] : 1;
  for (size_t i = filter.extents.size(); i-- > 2; step *= filter.extents[i])
    strides[i] = int(step);
  strides[1] = filter.format == kChannelsLast ? 1 : int(step);
  strides[0] = filter.format == kChannelsLast ? int(step) : int(step * filter.extents[1]);
  return {filter.extents, strides};
}

/// A convolution as it is asked for; x * w = y.
struct Convolution {
  Kind kind;
  cudnnTensorStruct x, y;
  cudnnFilterStruct w;
  cudnnConvolutionStruct conv;

  DType type() const { return *elementOf(x.type); }
};

const char *mismatch(const Convolution &what) {
  const auto &[kind, x, y, w, conv] = what;
  size_t rank = x.extents.size();
  if (!elementOf(x.type) || x.type != y.type || x.type != w.type)
    return "tensors of different types, or none";
  if (y.extents.size() != rank || w.extents.size() != rank || conv.strides.size() != rank - 2)
    return "tensors of different ranks";
  if (x.extents[1] != w.extents[1] * conv.groups || w.extents[0] % conv.groups != 0 || y.extents[1] != w.extents[0] ||
      y.extents[0] != x.extents[0])
    return "channels or batches that do not fit";
  for (size_t i = 0; i < rank - 2; ++i) {
    int covered = (w.extents[i + 2] - 1) * conv.dilation[i] + 1;
    int room = x.extents[i + 2] + 2 * conv.padding[i] - covered;
    if (room < 0 || y.extents[i + 2] != room / conv.strides[i] + 1)
      return "an output of another extent";
  }
  return nullptr;
}

/// The algorithms there are here, the fastest first.
struct Algorithm {
  int number;
  bool deterministic, large;
};
std::vector<Algorithm> algorithmsOf(Kind kind) {
  if (kind == Kind::Forward)
    return {{6, true, true}, {1, true, false}, {0, true, false}};
  if (kind == Kind::InputGrad)
    return {{0, false, false}, {4, true, true}, {5, true, false}, {1, true, false}};
  return {{3, false, false}, {2, true, true}, {6, true, false}, {1, true, false}};
}

/// Its workspace: none of the last one, as much as an output of f32 of those before, more than there is of large ones.
size_t workspaceOf(const Convolution &what, int number) {
  std::vector<Algorithm> all = algorithmsOf(what.kind);
  if (number == all.back().number)
    return 0;
  for (const Algorithm &each : all)
    if (each.number == number && each.large)
      return size_t(1) << 40;
  return size_t(4 * View(what.y.extents, what.y.strides).span());
}

int propose(const Convolution &what, int asked, int *found, AlgorithmPerf *results) {
  *found = 0;
  if (const char *why = mismatch(what))
    return refuse(kBadParam, why);
  for (const Algorithm &each : algorithmsOf(what.kind)) {
    if (*found == asked)
      break;
    AlgorithmPerf &result = results[(*found)++];
    result = {};
    result.algo = each.number;
    result.status = kSuccess;
    result.memory = workspaceOf(what, each.number);
    result.determinism = each.deterministic ? kDeterministic : 0;
    result.mathType = what.conv.math;
  }
  return kSuccess;
}

int workspaceSize(const Convolution &what, int number, size_t *bytes) {
  if (const char *why = mismatch(what))
    return refuse(kBadParam, why);
  for (const Algorithm &each : algorithmsOf(what.kind))
    if (each.number == number) {
      *bytes = workspaceOf(what, number);
      return kSuccess;
    }
  return refuse(kNotSupported, "an algorithm that is not there");
}

/// A call, with what it needs when it runs; addresses are those of x, w and y whatever is computed.
struct Call {
  Convolution what;
  const void *x = nullptr, *w = nullptr, *y = nullptr;
  void *workspace = nullptr;
  int64_t workspaceBytes = 0;
  float alpha = 1, beta = 0;

  int run(CUctx_st &context) const;
};

/// Calls fn(place of x, of w, of y), in elements, for each product of the sum.
template <typename Function>
void forEachTerm(const Convolution &what, const View &x, const View &w, const View &y, Function fn) {
  int64_t step[kAxes] = {1, 1, 1}, padding[kAxes] = {}, dilation[kAxes] = {1, 1, 1};
  size_t first = kAxes - what.conv.strides.size();
  for (size_t i = 0; i < what.conv.strides.size(); ++i) {
    step[first + i] = what.conv.strides[i];
    padding[first + i] = what.conv.padding[i];
    dilation[first + i] = what.conv.dilation[i];
  }
  // One axis after the other: places of the output, then of the filter.
  int64_t out[kAxes], tap[kAxes], in[kAxes];
  auto overTaps = [&](auto &self, int axis, const auto &body) -> void {
    for (tap[axis] = 0; tap[axis] < w.extents[axis]; ++tap[axis]) {
      in[axis] = out[axis] * step[axis] - padding[axis] + tap[axis] * dilation[axis];
      if (in[axis] < 0 || in[axis] >= x.extents[axis])
        continue;
      if (axis + 1 < kAxes)
        self(self, axis + 1, body);
      else
        body();
    }
  };
  auto overOutputs = [&](auto &self, int axis, const auto &body) -> void {
    for (out[axis] = 0; out[axis] < y.extents[axis]; ++out[axis])
      if (axis + 1 < kAxes)
        self(self, axis + 1, body);
      else
        body();
  };
  int64_t perGroup = w.outer / what.conv.groups;
  for (int64_t n = 0; n < x.outer; ++n)
    for (int64_t k = 0; k < w.outer; ++k)
      for (int64_t c = 0; c < w.channels; ++c)
        overOutputs(overOutputs, 0, [&] {
          overTaps(overTaps, 0,
                   [&] { fn(x.at(n, k / perGroup * w.channels + c, in), w.at(k, c, tap), y.at(n, k, out)); });
        });
}

/// The place of each element.
std::vector<int64_t> placesOf(const View &view) {
  std::vector<int64_t> places;
  int64_t place[kAxes];
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t c = 0; c < view.channels; ++c)
      for (place[0] = 0; place[0] < view.extents[0]; ++place[0])
        for (place[1] = 0; place[1] < view.extents[1]; ++place[1])
          for (place[2] = 0; place[2] < view.extents[2]; ++place[2])
            places.push_back(view.at(o, c, place));
  return places;
}

int Call::run(CUctx_st &context) const {
  View views[] = {{what.x.extents, what.x.strides}, viewOf(what.w), {what.y.extents, what.y.strides}};
  DType type = what.type();
  const void *addresses[] = {x, w, y};
  // The one that is written comes last, before the workspace.
  size_t written = what.kind == Kind::InputGrad ? 0 : what.kind == Kind::WeightGrad ? 1 : 2;
  size_t first = written == 0 ? 1 : 0, second = written == 2 ? 1 : 2;
  std::vector<DeviceRange> ranges;
  for (size_t i : {first, second, written})
    ranges.push_back({addresses[i], views[i].span() * byteSize(type)});
  ranges.push_back({workspace, workspaceBytes});
  std::vector<char *> memory = translate(context, ranges, 2);
  if (memory.empty())
    return runtime::kIllegalAddress;
  if (workspaceBytes > 0)
    std::memset(memory[3], 0xFF, size_t(workspaceBytes));
  bool tf32 = type == DType::F32 && what.conv.math == kDefaultMath;
  std::vector<double> values[3];
  for (size_t i = 0; i < 3; ++i)
    values[i].resize(size_t(views[i].span()));
  for (size_t i : {first, second})
    for (int64_t place : placesOf(views[i])) {
      double value = readElement(memory[i == first ? 0 : 1], place, type);
      values[i][size_t(place)] = tf32 ? asTf32(value) : value;
    }
  forEachTerm(what, views[0], views[1], views[2], [&](int64_t inX, int64_t inW, int64_t inY) {
    size_t places[] = {size_t(inX), size_t(inW), size_t(inY)};
    values[written][places[written]] += values[first][places[first]] * values[second][places[second]];
  });
  for (int64_t place : placesOf(views[written])) {
    double old = beta == 0 ? 0 : beta * readElement(memory[2], place, type);
    writeElement(memory[2], place, type, alpha * values[written][size_t(place)] + old);
  }
  return runtime::kSuccess;
}

int give(Handle handle, Call call, const void *alpha, const void *beta, int algorithm, size_t workspaceBytes) {
  FakeDriver &driver = FakeDriver::get();
  {
    std::lock_guard guard(driver.lock);
    if (!handles.has(handle) || !driver.streams.contains(handle->stream) ||
        handle->stream->context != handle->context || current != handle->context)
      return refuse(kBadParam, "no handle with a stream of the thread's device");
  }
  if (handle->context->failure != runtime::kSuccess)
    return refuse(kExecutionFailed, "an earlier kernel failed");
  if (const char *why = mismatch(call.what))
    return refuse(kBadParam, why);
  std::memcpy(&call.alpha, alpha, sizeof call.alpha);
  std::memcpy(&call.beta, beta, sizeof call.beta);
  for (const Algorithm &each : algorithmsOf(call.what.kind))
    if (each.number == algorithm && !each.deterministic)
      return refuse(kNotSupported, "an algorithm that is not deterministic");
  size_t needed = 0;
  if (int refused = workspaceSize(call.what, algorithm, &needed))
    return refused;
  if (needed > workspaceBytes ||
      (needed > 0 && (!call.workspace || std::bit_cast<uintptr_t>(call.workspace) % 256 != 0)))
    return refuse(kBadParam, "too little workspace, or none at a multiple of 256 bytes");
  for (const void *pointer : {call.x, call.w, call.y})
    if (!pointer || std::bit_cast<uintptr_t>(pointer) % 16 != 0)
      return refuse(kBadParam, "a tensor that is not at a multiple of 16 bytes");
  call.workspaceBytes = int64_t(needed);
  CUctx_st *context = handle->context;
  int result = driver.submit(*handle->stream, [call = std::move(call), context] { return call.run(*context); });
  return result ? refuse(kInternalError, "a stream that takes no work") : int(kSuccess);
}

bool areAlive(TensorDesc x, FilterDesc w, ConvDesc conv, TensorDesc y) {
  return tensors.has(x) && filters.has(w) && convolutions.has(conv) && tensors.has(y);
}

bool arePositive(int rank, const int *values) {
  return rank >= 2 && rank <= kMostDims && std::all_of(values, values + rank, [](int each) { return each > 0; });
}

} // namespace

namespace dlc::fakegpu {

size_t cudnnHandlesAlive() { return handles.count(); }
size_t cudnnDescriptorsAlive() { return tensors.count() + filters.count() + convolutions.count(); }

} // namespace dlc::fakegpu

/// Descriptors that are alive, as one value.
#define DLC_FAKE_CONVOLUTION(kind)                                                                                     \
  if (!handles.has(handle) || !areAlive(x, w, conv, y))                                                                \
    return refuse(kBadParam, "a descriptor that is not one");                                                          \
  Convolution what{kind, *x, *y, *w, *conv};

extern "C" {

int cudnnCreate(Handle *handle) {
  DLC_FAKE_LIBRARY(cudnnCreate, kNotInitialized)
  if (!current)
    return kNotInitialized;
  *handle = handles.add(std::make_unique<cudnnContext>(cudnnContext{current}));
  return kSuccess;
}

int cudnnDestroy(Handle handle) {
  DLC_FAKE_LIBRARY(cudnnDestroy, kBadParam)
  return handles.remove(handle) ? kSuccess : kBadParam;
}

int cudnnSetStream(Handle handle, CUstream stream) {
  DLC_FAKE_LIBRARY(cudnnSetStream, kBadParam)
  if (!handles.has(handle))
    return kBadParam;
  handle->stream = stream;
  return kSuccess;
}

const char *cudnnGetErrorString(int status) {
  switch (status) {
#define DLC_CUDNN_RESULT(ours, theirs, value)                                                                          \
  case value:                                                                                                          \
    return #theirs;
    DLC_CUDNN_RESULTS(DLC_CUDNN_RESULT)
#undef DLC_CUDNN_RESULT
  default:
    return "CUDNN_STATUS_UNKNOWN";
  }
}

void cudnnGetLastErrorString(char *text, size_t bytes) {
  if (bytes > 0)
    text[lastError.copy(text, bytes - 1)] = '\0';
  lastError.clear();
}

int cudnnCreateTensorDescriptor(TensorDesc *desc) {
  DLC_FAKE_LIBRARY(cudnnCreateTensorDescriptor, kHostMemory)
  *desc = tensors.add(std::make_unique<cudnnTensorStruct>());
  return kSuccess;
}

int cudnnDestroyTensorDescriptor(TensorDesc desc) {
  DLC_FAKE_LIBRARY(cudnnDestroyTensorDescriptor, kBadParam)
  return tensors.remove(desc) ? kSuccess : kBadParam;
}

int cudnnSetTensorNdDescriptor(TensorDesc desc, int type, int rank, const int *extents, const int *strides) {
  DLC_FAKE_LIBRARY(cudnnSetTensorNdDescriptor, kBadParam)
  if (!tensors.has(desc) || !elementOf(type) || rank < 4 || !arePositive(rank, extents) || !arePositive(rank, strides))
    return refuse(kBadParam, "a tensor that is none");
  *desc = {type, {extents, extents + rank}, {strides, strides + rank}};
  return kSuccess;
}

int cudnnCreateFilterDescriptor(FilterDesc *desc) {
  DLC_FAKE_LIBRARY(cudnnCreateFilterDescriptor, kHostMemory)
  *desc = filters.add(std::make_unique<cudnnFilterStruct>());
  return kSuccess;
}

int cudnnDestroyFilterDescriptor(FilterDesc desc) {
  DLC_FAKE_LIBRARY(cudnnDestroyFilterDescriptor, kBadParam)
  return filters.remove(desc) ? kSuccess : kBadParam;
}

int cudnnSetFilterNdDescriptor(FilterDesc desc, int type, int format, int rank, const int *extents) {
  DLC_FAKE_LIBRARY(cudnnSetFilterNdDescriptor, kBadParam)
  if (!filters.has(desc) || !elementOf(type) || rank < 4 || !arePositive(rank, extents) ||
      (format != kChannelsFirst && format != kChannelsLast))
    return refuse(kBadParam, "a filter that is none");
  *desc = {type, format, {extents, extents + rank}};
  return kSuccess;
}

int cudnnCreateConvolutionDescriptor(ConvDesc *desc) {
  DLC_FAKE_LIBRARY(cudnnCreateConvolutionDescriptor, kHostMemory)
  *desc = convolutions.add(std::make_unique<cudnnConvolutionStruct>());
  return kSuccess;
}

int cudnnDestroyConvolutionDescriptor(ConvDesc desc) {
  DLC_FAKE_LIBRARY(cudnnDestroyConvolutionDescriptor, kBadParam)
  return convolutions.remove(desc) ? kSuccess : kBadParam;
}

int cudnnSetConvolutionNdDescriptor(ConvDesc desc, int rank, const int *padding, const int *strides,
                                    const int *dilation, int mode, int compute) {
  DLC_FAKE_LIBRARY(cudnnSetConvolutionNdDescriptor, kBadParam)
  if (!convolutions.has(desc) || rank > kAxes || !arePositive(rank, strides) || !arePositive(rank, dilation) ||
      std::any_of(padding, padding + rank, [](int each) { return each < 0; }) || mode != kCrossCorrelation ||
      compute != kFloat32)
    return refuse(kBadParam, "a convolution that is none");
  *desc = {{padding, padding + rank}, {strides, strides + rank}, {dilation, dilation + rank}};
  return kSuccess;
}

int cudnnSetConvolutionMathType(ConvDesc desc, int math) {
  DLC_FAKE_LIBRARY(cudnnSetConvolutionMathType, kBadParam)
  if (!convolutions.has(desc) || (math != kDefaultMath && math != kTensorOpMath && math != kFmaMath))
    return kBadParam;
  desc->math = math;
  return kSuccess;
}

int cudnnSetConvolutionGroupCount(ConvDesc desc, int groups) {
  DLC_FAKE_LIBRARY(cudnnSetConvolutionGroupCount, kBadParam)
  if (!convolutions.has(desc) || groups < 1)
    return kBadParam;
  desc->groups = groups;
  return kSuccess;
}

int cudnnGetConvolutionForwardAlgorithm_v7(Handle handle, TensorDesc x, FilterDesc w, ConvDesc conv, TensorDesc y,
                                           int asked, int *found, AlgorithmPerf *results) {
  DLC_FAKE_LIBRARY(cudnnGetConvolutionForwardAlgorithm_v7, kNotSupported)
  DLC_FAKE_CONVOLUTION(Kind::Forward)
  return propose(what, asked, found, results);
}

int cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle handle, FilterDesc w, TensorDesc y, ConvDesc conv, TensorDesc x,
                                                int asked, int *found, AlgorithmPerf *results) {
  DLC_FAKE_LIBRARY(cudnnGetConvolutionBackwardDataAlgorithm_v7, kNotSupported)
  DLC_FAKE_CONVOLUTION(Kind::InputGrad)
  return propose(what, asked, found, results);
}

int cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle handle, TensorDesc x, TensorDesc y, ConvDesc conv,
                                                  FilterDesc w, int asked, int *found, AlgorithmPerf *results) {
  DLC_FAKE_LIBRARY(cudnnGetConvolutionBackwardFilterAlgorithm_v7, kNotSupported)
  DLC_FAKE_CONVOLUTION(Kind::WeightGrad)
  return propose(what, asked, found, results);
}

int cudnnGetConvolutionForwardWorkspaceSize(Handle handle, TensorDesc x, FilterDesc w, ConvDesc conv, TensorDesc y,
                                            int algorithm, size_t *bytes) {
  DLC_FAKE_LIBRARY(cudnnGetConvolutionForwardWorkspaceSize, kNotSupported)
  DLC_FAKE_CONVOLUTION(Kind::Forward)
  return workspaceSize(what, algorithm, bytes);
}

int cudnnGetConvolutionBackwardDataWorkspaceSize(Handle handle, FilterDesc w, TensorDesc y, ConvDesc conv, TensorDesc x,
                                                 int algorithm, size_t *bytes) {
  DLC_FAKE_LIBRARY(cudnnGetConvolutionBackwardDataWorkspaceSize, kNotSupported)
  DLC_FAKE_CONVOLUTION(Kind::InputGrad)
  return workspaceSize(what, algorithm, bytes);
}

int cudnnGetConvolutionBackwardFilterWorkspaceSize(Handle handle, TensorDesc x, TensorDesc y, ConvDesc conv,
                                                   FilterDesc w, int algorithm, size_t *bytes) {
  DLC_FAKE_LIBRARY(cudnnGetConvolutionBackwardFilterWorkspaceSize, kNotSupported)
  DLC_FAKE_CONVOLUTION(Kind::WeightGrad)
  return workspaceSize(what, algorithm, bytes);
}

int cudnnConvolutionForward(Handle handle, const void *alpha, TensorDesc x, const void *xData, FilterDesc w,
                            const void *wData, ConvDesc conv, int algorithm, void *workspace, size_t workspaceBytes,
                            const void *beta, TensorDesc y, void *yData) {
  DLC_FAKE_LIBRARY(cudnnConvolutionForward, kExecutionFailed)
  DLC_FAKE_CONVOLUTION(Kind::Forward)
  return give(handle, {what, xData, wData, yData, workspace}, alpha, beta, algorithm, workspaceBytes);
}

int cudnnConvolutionBackwardData(Handle handle, const void *alpha, FilterDesc w, const void *wData, TensorDesc y,
                                 const void *yData, ConvDesc conv, int algorithm, void *workspace,
                                 size_t workspaceBytes, const void *beta, TensorDesc x, void *xData) {
  DLC_FAKE_LIBRARY(cudnnConvolutionBackwardData, kExecutionFailed)
  DLC_FAKE_CONVOLUTION(Kind::InputGrad)
  return give(handle, {what, xData, wData, yData, workspace}, alpha, beta, algorithm, workspaceBytes);
}

int cudnnConvolutionBackwardFilter(Handle handle, const void *alpha, TensorDesc x, const void *xData, TensorDesc y,
                                   const void *yData, ConvDesc conv, int algorithm, void *workspace,
                                   size_t workspaceBytes, const void *beta, FilterDesc w, void *wData) {
  DLC_FAKE_LIBRARY(cudnnConvolutionBackwardFilter, kExecutionFailed)
  DLC_FAKE_CONVOLUTION(Kind::WeightGrad)
  return give(handle, {what, xData, wData, yData, workspace}, alpha, beta, algorithm, workspaceBytes);
}

} // extern "C"

// What the runtime looks up is what is here.
#define DLC_CUDNN_CHECK(result, name, ...) extern "C" result name(__VA_ARGS__);
DLC_CUDNN_API(DLC_CUDNN_CHECK)
#undef DLC_CUDNN_CHECK
