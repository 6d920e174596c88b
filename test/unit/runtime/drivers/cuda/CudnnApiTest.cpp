// What the runtime declares of cuDNN is what the vendor's header declares; compared while this is compiled.
#include "drivers/cuda/CudnnApi.h"
#include "../../SameSignature.h"

#include <gtest/gtest.h>

// The interface of descriptors is said to be on its way out; 9 has all of it.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cudnn.h>

namespace ours = dlc::runtime::cudnn;

namespace {

#define DLC_CHECK_FUNCTION(result, name, ...)                                                                          \
  static_assert(dlc::test::SameSignature<decltype(ours::Api::name), decltype(&::name)>::value, #name);
DLC_CUDNN_API(DLC_CHECK_FUNCTION)

#define DLC_CHECK_CONSTANT(mine, theirs, value) static_assert(int(ours::mine) == int(theirs), #theirs);
DLC_CUDNN_CONSTANTS(DLC_CHECK_CONSTANT)
DLC_CUDNN_RESULTS(DLC_CHECK_CONSTANT)

template <typename Theirs>
constexpr bool isAlike() {
  using Ours = ours::AlgorithmPerf;
  return sizeof(Ours) == sizeof(Theirs) && offsetof(Ours, algo) == offsetof(Theirs, algo) &&
         offsetof(Ours, status) == offsetof(Theirs, status) && offsetof(Ours, time) == offsetof(Theirs, time) &&
         offsetof(Ours, memory) == offsetof(Theirs, memory) &&
         offsetof(Ours, determinism) == offsetof(Theirs, determinism) &&
         offsetof(Ours, mathType) == offsetof(Theirs, mathType) &&
         offsetof(Ours, reserved) == offsetof(Theirs, reserved);
}
static_assert(isAlike<cudnnConvolutionFwdAlgoPerf_t>());
static_assert(isAlike<cudnnConvolutionBwdDataAlgoPerf_t>());
static_assert(isAlike<cudnnConvolutionBwdFilterAlgoPerf_t>());

} // namespace

TEST(CudnnApi, IsTheHeadersOne) { SUCCEED() << "checked when this was compiled, with " << CUDNN_VERSION; }
