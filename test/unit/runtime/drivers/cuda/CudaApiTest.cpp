// What the driver code declares of libcuda is what the toolkit's header declares.
#include "drivers/cuda/CudaApi.h"

#include <gtest/gtest.h>

#include <cuda.h>

#include <string_view>
#include <type_traits>

namespace {

namespace ours = dlc::runtime;

/// The type with every enum in it replaced by int, which is passed alike.
template <typename T, bool = std::is_enum_v<T>>
struct Plain {
  using Type = T;
};
template <typename T>
struct Plain<T, true> {
  static_assert(sizeof(T) == sizeof(int));
  using Type = int;
};
template <typename T>
struct Plain<T *, false> {
  using Type = typename Plain<T>::Type *;
};
template <typename Result, typename... Parameters>
struct Plain<Result(Parameters...), false> {
  using Type = typename Plain<Result>::Type(typename Plain<Parameters>::Type...);
};

#define DLC_TEXT_OF(...) #__VA_ARGS__
#define DLC_TEXT(...) DLC_TEXT_OF(__VA_ARGS__)

// The header's macros turn cuMemAlloc into the symbol of that signature; the list's second column must be that one.
#define DLC_CHECK_FUNCTION(name, symbol, ...)                                                                          \
  static_assert(std::is_same_v<Plain<decltype(::name)>::Type, int(__VA_ARGS__)>, #symbol);                             \
  static_assert(std::string_view(DLC_TEXT(name)) == #symbol);
DLC_CUDA_API(DLC_CHECK_FUNCTION)

#define DLC_CHECK_CONSTANT(mine, theirs, value) static_assert(int(ours::mine) == int(::theirs), #theirs);
DLC_CUDA_CONSTANTS(DLC_CHECK_CONSTANT)
#define DLC_CHECK_RESULT(mine, theirs, value, fatal, advice) static_assert(int(ours::mine) == int(::theirs), #theirs);
DLC_CUDA_RESULTS(DLC_CHECK_RESULT)

static_assert(std::is_same_v<ours::CUdeviceptr, ::CUdeviceptr> && std::is_same_v<ours::CUdevice, ::CUdevice>);
static_assert(std::is_same_v<ours::CUcontext, ::CUcontext> && std::is_same_v<ours::CUstream, ::CUstream>);

} // namespace

TEST(CudaApi, IsTheHeadersOne) { SUCCEED() << "checked when this was compiled, with CUDA " << CUDA_VERSION; }
