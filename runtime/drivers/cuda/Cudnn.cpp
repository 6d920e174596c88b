#include "drivers/cuda/Cudnn.h"

#include <algorithm>
#include <climits>
#include <mutex>
#include <optional>

namespace dlc::runtime::cudnn {

namespace {

using Kind = ConvCall::Kind;
using Tensor = ConvCall::Tensor;

int typeOf(DType type) { return type == DType::F16 ? kFloat16 : type == DType::BF16 ? kBfloat16 : kFloat32; }

/// For f32 that must stay f32 the units that multiply and add; else what the device has.
int mathOf(const ConvCall &call) {
  if (call.dtype != DType::F32)
    return kTensorOpMath;
  return call.tf32 ? kDefaultMath : kFmaMath;
}

Status refused(std::string_view why) {
  return {StatusCode::InvalidInput, "cuDNN has no " + std::string(why) + "; compile with --conv=generated"};
}

/// Sizes as the library takes them (the manifest has none above its ints), with `filler` for a spatial axis in front of
/// a single one.
std::vector<int> narrow(const std::vector<int64_t> &values, size_t leading, int64_t filler) {
  std::vector<int> all;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i == leading && values.size() - leading == 1)
      all.push_back(int(filler));
    all.push_back(int(values[i]));
  }
  return all;
}

/// The order of a weight's axes in memory; the library has none but these.
std::optional<int> formatOf(const Tensor &weight) {
  size_t rank = weight.extents.size();
  std::vector<int64_t> first(rank), last(rank);
  int64_t step = 1;
  for (size_t i = rank; i-- > 0; step *= weight.extents[i])
    first[i] = step;
  last[1] = 1;
  step = weight.extents[1];
  for (size_t i = rank; i-- > 2; step *= weight.extents[i])
    last[i] = step;
  last[0] = step;
  // The stride of an axis with one place is not used.
  auto fits = [&](const std::vector<int64_t> &strides) {
    for (size_t i = 0; i < rank; ++i)
      if (weight.extents[i] > 1 && weight.strides[i] != strides[i])
        return false;
    return true;
  };
  if (fits(first))
    return kChannelsFirst;
  return fits(last) ? std::optional<int>(kChannelsLast) : std::nullopt;
}

/// Makes descriptors; remembers the first failure.
class Builder {
public:
  Builder(const Api &api, const ConvCall &call) : api(api), call(call) {}

  Status status;

  Owned<TensorDesc> tensor(const Tensor &tensor) {
    TensorDesc made = nullptr;
    note(api.cudnnCreateTensorDescriptor, "cudnnCreateTensorDescriptor", &made);
    Owned<TensorDesc> owned(made, api.cudnnDestroyTensorDescriptor);
    std::vector<int> extents = narrow(tensor.extents, 2, 1),
                     strides = narrow(tensor.strides, 2,
                                      std::min<int64_t>(tensor.extents.back() * tensor.strides.back(), INT_MAX));
    note(api.cudnnSetTensorNdDescriptor, "cudnnSetTensorNdDescriptor", made, typeOf(call.dtype), int(extents.size()),
         extents.data(), strides.data());
    return owned;
  }

  Owned<FilterDesc> filter(int format) {
    FilterDesc made = nullptr;
    note(api.cudnnCreateFilterDescriptor, "cudnnCreateFilterDescriptor", &made);
    Owned<FilterDesc> owned(made, api.cudnnDestroyFilterDescriptor);
    std::vector<int> extents = narrow(call.weight.extents, 2, 1);
    note(api.cudnnSetFilterNdDescriptor, "cudnnSetFilterNdDescriptor", made, typeOf(call.dtype), format,
         int(extents.size()), extents.data());
    return owned;
  }

  Owned<ConvDesc> convolution() {
    ConvDesc made = nullptr;
    note(api.cudnnCreateConvolutionDescriptor, "cudnnCreateConvolutionDescriptor", &made);
    Owned<ConvDesc> owned(made, api.cudnnDestroyConvolutionDescriptor);
    std::vector<int> padding = narrow(call.padding, 0, 0), strides = narrow(call.strides, 0, 1),
                     dilation = narrow(call.dilation, 0, 1);
    note(api.cudnnSetConvolutionNdDescriptor, "cudnnSetConvolutionNdDescriptor", made, int(strides.size()),
         padding.data(), strides.data(), dilation.data(), int(kCrossCorrelation), int(kFloat32));
    note(api.cudnnSetConvolutionMathType, "cudnnSetConvolutionMathType", made, mathOf(call));
    note(api.cudnnSetConvolutionGroupCount, "cudnnSetConvolutionGroupCount", made, int(call.groups));
    return owned;
  }

private:
  template <typename Function, typename... Arguments>
  void note(Function function, std::string_view name, Arguments... arguments) {
    if (status.ok())
      status = api.status(function(arguments...), name);
  }

  const Api &api;
  const ConvCall &call;
};

} // namespace

StatusOr<Descriptors> describe(const Api &api, const ConvCall &call) {
  std::optional<int> format = formatOf(call.weight);
  if (!format)
    return refused("weight that is stored neither by channels nor with channels last");
  Builder builder(api, call);
  Descriptors made{builder.tensor(call.input), builder.tensor(call.output), builder.filter(*format),
                   builder.convolution()};
  if (!builder.status.ok())
    return builder.status;
  return made;
}

namespace {

/// The handle has one stream at a time, so calls take turns.
class Cudnn : public DeviceLibrary {
public:
  Cudnn(const Api &api, Handle handle) : api(api), handle(handle) {}
  ~Cudnn() override { (void)api.cudnnDestroy(handle); }

  StatusOr<std::unique_ptr<LibraryKernel>> prepare(const LibraryCall &call) override;

  const Api &api;
  const Handle handle;
  std::mutex lock;
};

class Convolution : public LibraryKernel {
public:
  Convolution(std::shared_ptr<Cudnn> library, const LibraryCall &call, Descriptors descriptors)
      : library(std::move(library)), api(this->library->api), call(std::get<ConvCall>(call.what)), workspace(call),
        descriptors(std::move(descriptors)) {}

  Status choose();
  Status run(CUstream stream, void *const *pointers) override;

private:
  /// What the library thinks of its algorithms, the best first.
  StatusOr<std::vector<AlgorithmPerf>> propose();
  int workspaceSize(int candidate, size_t &bytes);

  std::shared_ptr<Cudnn> library;
  const Api &api;
  ConvCall call;
  LibraryWorkspace workspace;
  Descriptors descriptors;
  int algorithm = 0;
  size_t workspaceBytes = 0; ///< of the algorithm
};

StatusOr<std::vector<AlgorithmPerf>> Convolution::propose() {
  const auto &[x, y, w, conv] = descriptors;
  std::vector<AlgorithmPerf> all(kForwardAlgorithms + kInputGradAlgorithms + kWeightGradAlgorithms);
  int most = int(all.size()), found = 0;
  Status status;
  switch (call.kind) {
  case Kind::Forward:
    status = api.status(api.cudnnGetConvolutionForwardAlgorithm_v7(library->handle, x.get(), w.get(), conv.get(),
                                                                   y.get(), most, &found, all.data()),
                        "cudnnGetConvolutionForwardAlgorithm_v7");
    break;
  case Kind::InputGrad:
    status = api.status(api.cudnnGetConvolutionBackwardDataAlgorithm_v7(library->handle, w.get(), y.get(), conv.get(),
                                                                        x.get(), most, &found, all.data()),
                        "cudnnGetConvolutionBackwardDataAlgorithm_v7");
    break;
  case Kind::WeightGrad:
    status = api.status(api.cudnnGetConvolutionBackwardFilterAlgorithm_v7(library->handle, x.get(), y.get(), conv.get(),
                                                                          w.get(), most, &found, all.data()),
                        "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
    break;
  }
  if (!status.ok())
    return status;
  all.resize(size_t(found));
  return all;
}

int Convolution::workspaceSize(int candidate, size_t &bytes) {
  const auto &[x, y, w, conv] = descriptors;
  switch (call.kind) {
  case Kind::Forward:
    return api.cudnnGetConvolutionForwardWorkspaceSize(library->handle, x.get(), w.get(), conv.get(), y.get(),
                                                       candidate, &bytes);
  case Kind::InputGrad:
    return api.cudnnGetConvolutionBackwardDataWorkspaceSize(library->handle, w.get(), y.get(), conv.get(), x.get(),
                                                            candidate, &bytes);
  case Kind::WeightGrad:
    return api.cudnnGetConvolutionBackwardFilterWorkspaceSize(library->handle, x.get(), y.get(), conv.get(), w.get(),
                                                              candidate, &bytes);
  }
  return kNotSupported;
}

// The fastest that always gives the same numbers in the memory there is. A proposal is only believed once the library
// has told its workspace with the descriptor as it will be used.
Status Convolution::choose() {
  std::lock_guard guard(library->lock);
  StatusOr<std::vector<AlgorithmPerf>> all = propose();
  if (!all.ok())
    return all.status();
  for (const AlgorithmPerf &each : *all) {
    if (each.status != kSuccess || each.determinism != kDeterministic)
      continue;
    // F32 that must stay f32 keeps its own.
    if (mathOf(call) != kFmaMath)
      if (int result = api.cudnnSetConvolutionMathType(descriptors.convolution.get(), each.mathType))
        return api.status(result, "cudnnSetConvolutionMathType");
    size_t bytes = 0;
    if (workspaceSize(each.algo, bytes) != kSuccess || bytes > size_t(workspace.bytes()))
      continue;
    algorithm = each.algo;
    workspaceBytes = bytes;
    return {};
  }
  return refused("deterministic algorithm for a convolution in " + std::to_string(workspace.bytes()) +
                 " bytes of workspace");
}

Status Convolution::run(CUstream stream, void *const *pointers) {
  auto at = [&](const Tensor &tensor) { return static_cast<char *>(pointers[tensor.operand]) + tensor.offset; };
  for (const Tensor *tensor : {&call.input, &call.weight, &call.output})
    if (Status status = checkAlignment(at(*tensor), kOperandAlignment, tensor->operand); !status.ok())
      return status;
  const auto &[x, y, w, conv] = descriptors;
  void *input = at(call.input), *weight = at(call.weight), *output = at(call.output);
  void *memory = workspaceBytes > 0 ? workspace.address(pointers) : nullptr;
  constexpr float one = 1, zero = 0;
  std::lock_guard guard(library->lock);
  if (int result = api.cudnnSetStream(library->handle, stream))
    return api.status(result, "cudnnSetStream");
  switch (call.kind) {
  case Kind::Forward:
    return api.status(api.cudnnConvolutionForward(library->handle, &one, x.get(), input, w.get(), weight, conv.get(),
                                                  algorithm, memory, workspaceBytes, &zero, y.get(), output),
                      "cudnnConvolutionForward");
  case Kind::InputGrad:
    return api.status(api.cudnnConvolutionBackwardData(library->handle, &one, w.get(), weight, y.get(), output,
                                                       conv.get(), algorithm, memory, workspaceBytes, &zero, x.get(),
                                                       input),
                      "cudnnConvolutionBackwardData");
  case Kind::WeightGrad:
    return api.status(api.cudnnConvolutionBackwardFilter(library->handle, &one, x.get(), input, y.get(), output,
                                                         conv.get(), algorithm, memory, workspaceBytes, &zero, w.get(),
                                                         weight),
                      "cudnnConvolutionBackwardFilter");
  }
  return {};
}

StatusOr<std::unique_ptr<LibraryKernel>> Cudnn::prepare(const LibraryCall &call) {
  StatusOr<Descriptors> made = describe(api, std::get<ConvCall>(call.what));
  if (!made.ok())
    return made.status();
  auto self = std::static_pointer_cast<Cudnn>(shared_from_this());
  auto kernel = std::make_unique<Convolution>(std::move(self), call, made.take());
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
  if (int result = (*api)->cudnnCreate(&handle); result != kSuccess)
    return (*api)->status(result, "cudnnCreate");
  return std::shared_ptr<DeviceLibrary>(std::make_shared<Cudnn>(**api, handle));
}

} // namespace dlc::runtime::cudnn
