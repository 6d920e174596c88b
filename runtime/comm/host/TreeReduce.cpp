#include "comm/host/TreeReduce.h"

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

// Equal numbers differ in the sign of zero alone.
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a || b != b)
        return a + b;
      if (a == b)
        return std::signbit(a) ? b : a;
    }
    return a < b ? b : a;
  }
};

struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a || b != b)
        return a + b;
      if (a == b)
        return std::signbit(a) ? a : b;
    }
    return b < a ? b : a;
  }
};

template <typename T, typename Combine>
class Tree {
public:
  Tree(std::span<const void *const> inputs, Combine combine)
      : inputs(inputs), combine(combine), width(int(std::bit_ceil(inputs.size()))),
        partials(size_t(std::bit_width(inputs.size()) + 1) * kChunk) {}

  void run(T *out, int64_t count) {
    for (begin = 0; begin < count; begin += kChunk) {
      size = std::min(kChunk, count - begin);
      if (inputs.size() == 1) {
        std::memmove(out + begin, node(0, 1, nullptr), size_t(size) * sizeof(T));
        continue;
      }
      // The root goes right to its place, which may be that of an input: by then all others are partials.
      const T *left = node(0, width / 2, partials.data()),
              *right = node(width / 2, width / 2, partials.data() + kChunk);
      for (int64_t i = 0; i < size; ++i)
        out[begin + i] = combine(left[i], right[i]);
    }
  }

private:
  /// The chunk reduced over members [first, first + span): of a member itself, or in `place`, with room behind it.
  const T *node(int first, int span, T *place) {
    if (span == 1)
      return static_cast<const T *>(inputs[size_t(first)]) + begin;
    int middle = first + span / 2;
    const T *left = node(first, span / 2, place);
    if (middle >= int(inputs.size()))
      return left;
    const T *right = node(middle, span / 2, place + kChunk);
    for (int64_t i = 0; i < size; ++i)
      place[i] = combine(left[i], right[i]);
    return place;
  }

  std::span<const void *const> inputs;
  Combine combine;
  int width;
  std::vector<T> partials;
  int64_t begin = 0, size = 0;
};

template <typename T>
void reduceTyped(Reduce reduce, std::span<const void *const> inputs, void *out, int64_t count) {
  auto *to = static_cast<T *>(out);
  switch (reduce) {
  case Reduce::Sum:
    return Tree<T, Sum>(inputs, {}).run(to, count);
  case Reduce::Max:
    return Tree<T, Max>(inputs, {}).run(to, count);
  case Reduce::Min:
    return Tree<T, Min>(inputs, {}).run(to, count);
  }
}

} // namespace

void treeReduce(DType type, Reduce reduce, std::span<const void *const> inputs, void *out, int64_t count) {
  switch (type) {
  case DType::F64:
    return reduceTyped<double>(reduce, inputs, out, count);
  case DType::F32:
    return reduceTyped<float>(reduce, inputs, out, count);
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
