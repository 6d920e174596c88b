#pragma once

#include "dlc/runtime/Digits.h"
#include "dlc/runtime/Safetensors.h"

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

/// Training curves of hand-written modules. DLC_SOURCE is this repository.
namespace dlc::test {

struct Curve {
  const char *name;      ///< of the golden file
  const char *module;    ///< relative to the source tree
  const char *optimizer; ///< as for --train
  double momentum;

  /// Names the test.
  friend std::ostream &operator<<(std::ostream &out, const Curve &curve) { return out << curve.name; }
};

inline std::string sourcePath(const std::string &relative) { return std::string(DLC_SOURCE) + "/" + relative; }

inline std::string readText(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T>
std::vector<T> values(const TensorView &tensor) {
  int64_t count = std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t(1), std::multiplies<>());
  std::vector<T> result(static_cast<size_t>(count));
  std::memcpy(result.data(), tensor.data, result.size() * sizeof(T));
  return result;
}

/// A golden file: initial weights, batches, PyTorch's losses.
class Golden {
public:
  explicit Golden(const Curve &curve)
      : file(Safetensors::open(sourcePath(std::string("test/golden/") + curve.name + ".safetensors")).take()),
        digits(readDigits(sourcePath("examples/digits/data/digits.csv.gz")).take()) {}

  int64_t steps() const { return file.find("loss_f64")->shape[0]; }
  const Safetensors &tensors() const { return file; }
  double loss64(int64_t step) const { return values<double>(*file.find("loss_f64"))[size_t(step)]; }
  float loss32(int64_t step) const { return values<float>(*file.find("loss_f32"))[size_t(step)]; }

  /// An argument of a step: floats or integers.
  struct Argument {
    std::vector<float> floats;
    std::vector<int64_t> integers;
  };
  using Batch = std::array<Argument, 2>; // inputs, targets
  Batch batch(int64_t step) const {
    if (file.find("indices"))
      return images(step);
    if (file.find("starts"))
      return text(step);
    return {Argument{rowOf<float>("inputs", step), {}}, Argument{rowOf<float>("targets", step), {}}};
  }

private:
  template <typename T>
  std::vector<T> rowOf(const char *name, int64_t step) const {
    std::vector<T> all = values<T>(*file.find(name));
    auto size = ptrdiff_t(all.size() / size_t(steps()));
    return std::vector<T>(all.begin() + step * size, all.begin() + (step + 1) * size);
  }

  Batch images(int64_t step) const {
    Batch batch;
    for (int64_t index : rowOf<int64_t>("indices", step)) {
      auto image = digits.images.begin() + index * Digits::pixels;
      batch[0].floats.insert(batch[0].floats.end(), image, image + Digits::pixels);
      batch[1].integers.push_back(digits.labels[size_t(index)]);
    }
    return batch;
  }

  Batch text(int64_t step) const {
    constexpr ptrdiff_t context = 32;
    Batch batch;
    std::vector<int64_t> tokens = values<int64_t>(*file.find("tokens"));
    for (int64_t start : rowOf<int64_t>("starts", step))
      for (int64_t next : {0, 1}) {
        auto first = tokens.begin() + start + next;
        batch[size_t(next)].integers.insert(batch[size_t(next)].integers.end(), first, first + context);
      }
    return batch;
  }

  Safetensors file;
  Digits digits;
};

constexpr std::string_view kInitial = "initial.";

} // namespace dlc::test
