#include "comm/host/TreeReduce.h"

#include "dlc/runtime/Float16.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

namespace dlc::runtime {

namespace {

// Elements at a time: the partials of all levels stay in the first cache.
constexpr int64_t kChunk = 1024;

struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
    else
      return a + b;
  }
};

// The larger or smaller one. A NaN wins; equal numbers differ in the sign of zero alone.
template <bool isMax>
struct Extreme {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a || b != b)
        return a + b;
      if (a == b)
        return std::signbit(a) == isMax ? b : a;
    }
    return (a < b) == isMax ? b : a;
  }
};

/// Of members of type T, added up as A: 16-bit floats as f32, rounded once in the end.
template <typename T, typename A, typename Combine>
class Tree {
public:
  Tree(std::span<const void *const> inputs, Combine combine)
      : inputs(inputs), combine(combine), width(int(std::bit_ceil(inputs.size()))),
        partials(size_t(std::bit_width(inputs.size()) + 1) * kChunk) {}

  void run(T *out, int64_t count) {
    for (begin = 0; begin < count; begin += kChunk) {
      size = std::min(kChunk, count - begin);
      if (inputs.size() == 1) {
        std::memmove(out + begin, static_cast<const T *>(inputs[0]) + begin, size_t(size) * sizeof(T));
        continue;
      }
      // The root goes right to its place, which may be that of an input: by then all others are partials.
      const A *left = node(0, width / 2, partials.data()),
              *right = node(width / 2, width / 2, partials.data() + kChunk);
      for (int64_t i = 0; i < size; ++i)
        out[begin + i] = T(combine(left[i], right[i]));
    }
  }

private:
  /// The chunk reduced over members [first, first + span): of a member itself, or in `place`, with room behind it.
  const A *node(int first, int span, A *place) {
    if (span == 1)
      return leaf(inputs[size_t(first)], place);
    int middle = first + span / 2;
    const A *left = node(first, span / 2, place);
    if (middle >= int(inputs.size()))
      return left;
    const A *right = node(middle, span / 2, place + kChunk);
    for (int64_t i = 0; i < size; ++i)
      place[i] = combine(left[i], right[i]);
    return place;
  }

  const A *leaf(const void *input, A *place) {
    const T *from = static_cast<const T *>(input) + begin;
    if constexpr (std::is_same_v<T, A>) {
      return from;
    } else {
      for (int64_t i = 0; i < size; ++i)
        place[i] = A(from[i]);
      return place;
    }
  }

  std::span<const void *const> inputs;
  Combine combine;
  int width;
  std::vector<A> partials;
  int64_t begin = 0, size = 0;
};

template <typename T, typename A = T>
void reduceTyped(Reduce reduce, std::span<const void *const> inputs, void *out, int64_t count) {
  auto *to = static_cast<T *>(out);
  switch (reduce) {
  case Reduce::Sum:
    return Tree<T, A, Sum>(inputs, {}).run(to, count);
  case Reduce::Max:
    return Tree<T, A, Extreme<true>>(inputs, {}).run(to, count);
  case Reduce::Min:
    return Tree<T, A, Extreme<false>>(inputs, {}).run(to, count);
  }
}

} // namespace

void treeReduce(DType type, Reduce reduce, std::span<const void *const> inputs, void *out, int64_t count) {
  switch (type) {
  case DType::F64:
    return reduceTyped<double>(reduce, inputs, out, count);
  case DType::F32:
    return reduceTyped<float>(reduce, inputs, out, count);
  case DType::F16:
    return reduceTyped<Float16, float>(reduce, inputs, out, count);
  case DType::BF16:
    return reduceTyped<BFloat16, float>(reduce, inputs, out, count);
  case DType::I64:
    return reduceTyped<int64_t>(reduce, inputs, out, count);
  case DType::I32:
    return reduceTyped<int32_t>(reduce, inputs, out, count);
  case DType::I8:
    return reduceTyped<int8_t>(reduce, inputs, out, count);
  case DType::I1:
    return reduceTyped<uint8_t>(reduce, inputs, out, count);
  }
}

} // namespace dlc::runtime
