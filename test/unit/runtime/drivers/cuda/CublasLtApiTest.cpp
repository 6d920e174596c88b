// What the runtime declares of cuBLASLt is what the vendor's header declares; compared while this is compiled.
#include "drivers/cuda/CublasLtApi.h"
#include "../../SameSignature.h"

#include <gtest/gtest.h>

#include <cublasLt.h>

namespace ours = dlc::runtime::cublaslt;

namespace dlc::test {

template <>
struct SameHandle<ours::MatmulDesc, cublasLtMatmulDescOpaque_t> : std::true_type {};
template <>
struct SameHandle<ours::MatrixLayout, cublasLtMatrixLayoutOpaque_t> : std::true_type {};
template <>
struct SameHandle<ours::Preference, cublasLtMatmulPreferenceOpaque_t> : std::true_type {};

} // namespace dlc::test

namespace {

#define DLC_CHECK_FUNCTION(result, name, ...)                                                                          \
  static_assert(dlc::test::SameSignature<decltype(ours::Api::name), decltype(&::name)>::value, #name);
DLC_CUBLASLT_API(DLC_CHECK_FUNCTION)

#define DLC_CHECK_CONSTANT(mine, theirs, value) static_assert(int(ours::mine) == int(::theirs), #theirs);
DLC_CUBLASLT_CONSTANTS(DLC_CHECK_CONSTANT)
#define DLC_CHECK_RESULT(mine, theirs, value, advice) static_assert(int(ours::mine) == int(::theirs), #theirs);
DLC_CUBLASLT_RESULTS(DLC_CHECK_RESULT)

#define DLC_CHECK_MEMBER(member)                                                                                       \
  static_assert(offsetof(ours::HeuristicResult, member) == offsetof(cublasLtMatmulHeuristicResult_t, member), #member);
DLC_CHECK_MEMBER(algo)
DLC_CHECK_MEMBER(workspaceSize)
DLC_CHECK_MEMBER(state)
DLC_CHECK_MEMBER(wavesCount)
DLC_CHECK_MEMBER(reserved)
static_assert(sizeof(ours::Algorithm) == sizeof(cublasLtMatmulAlgo_t));

} // namespace

TEST(CublasLtApi, IsTheHeadersOne) { SUCCEED() << "checked when this was compiled, with " << CUBLAS_VER_MAJOR; }
