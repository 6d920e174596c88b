#include "SimKernels.h"
#include "gmock/gmock.h"

#include <bit>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

using namespace dlc;
using testing::HasSubstr;

namespace {

const std::string &kernelText() {
  static const std::string text = [] {
    std::stringstream all;
    all << std::ifstream(DLC_SIM_KERNELS).rdbuf();
    return all.str();
  }();
  return text;
}

std::vector<float> randomValues(size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> values(0.5f, 2);
  std::vector<float> all(count);
  for (float &value : all)
    value = values(random);
  return all;
}

/// One launch of a kernel: operands as bytes, the last one written.
struct Launch {
  SimKernel kernel;
  std::vector<std::vector<char>> memory;

  template <typename T>
  Launch &operand(const std::vector<T> &values, SimAccess access) {
    kernel.operands.push_back({int64_t(values.size() * sizeof(T)), access});
    auto *bytes = reinterpret_cast<const char *>(values.data());
    memory.emplace_back(bytes, bytes + values.size() * sizeof(T));
    return *this;
  }
  Status run(SimEngine &engine) {
    std::vector<void *> pointers;
    for (auto &bytes : memory)
      pointers.push_back(bytes.data());
    return engine.run(kernel, pointers.data());
  }
  std::vector<float> result() const {
    std::vector<float> values(memory.back().size() / sizeof(float));
    std::memcpy(values.data(), memory.back().data(), memory.back().size());
    return values;
  }
};

struct Case {
  Launch launch;
  std::vector<float> expected;
  float tolerance; ///< relative; sums of n terms in f32 differ from those in double by some n/2 roundings
};

Case normalizeRows() {
  constexpr int rows = 3, columns = 300;
  std::vector<float> x = randomValues(rows * columns), y(x.size()), expected(x.size());
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < columns; ++c)
      sum += x[r * columns + c];
    for (int c = 0; c < columns; ++c)
      expected[r * columns + c] = float(x[r * columns + c] / sum);
  }
  Launch launch{{"normalize_rows", nullptr, {rows, 1, 1}, {256, 1, 1}, {}}, {}};
  launch.operand(x, SimAccess::Read).operand(y, SimAccess::Write);
  return {launch, expected, 1e-6f};
}

Case sumColumns() {
  constexpr int rows = 40, columns = 64;
  std::vector<float> x = randomValues(rows * columns), y(columns), expected(columns);
  for (int c = 0; c < columns; ++c) {
    double sum = 0;
    for (int r = 0; r < rows; ++r)
      sum += x[r * columns + c];
    expected[c] = float(sum);
  }
  Launch launch{{"sum_columns", nullptr, {columns / 32, 1, 1}, {32, 8, 1}, {}}, {}};
  launch.operand(x, SimAccess::Read).operand(y, SimAccess::Write);
  return {launch, expected, 1e-6f};
}

Case transpose() {
  constexpr int rows = 64, columns = 96;
  std::vector<float> x = randomValues(rows * columns), y(x.size()), expected(x.size());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      expected[c * rows + r] = x[r * columns + c];
  Launch launch{{"transpose", nullptr, {columns / 32, rows / 32, 1}, {32, 8, 1}, {}}, {}};
  launch.operand(x, SimAccess::Read).operand(y, SimAccess::Write);
  return {launch, expected, 0};
}

Case scatterAdd() {
  std::vector<float> x = randomValues(1000), y(17);
  std::vector<int32_t> index(1000);
  std::vector<double> sums(17);
  for (int i = 0; i < 1000; ++i) {
    index[i] = i * 37 % 17;
    sums[index[i]] += x[i];
  }
  Launch launch{{"scatter_add", nullptr, {8, 1, 1}, {128, 1, 1}, {}}, {}};
  launch.operand(x, SimAccess::Read).operand(index, SimAccess::Read).operand(y, SimAccess::ReadWrite);
  return {launch, {sums.begin(), sums.end()}, 4e-6f};
}

Case pipeline() {
  constexpr int stages = 5, width = 256;
  std::vector<float> x = randomValues(stages * width), y(width), expected(width);
  for (int t = 0; t < width; ++t)
    for (int s = 0; s < stages; ++s)
      expected[t] += x[s * width + (t + 1) % width];
  Launch launch{{"pipeline", nullptr, {1, 1, 1}, {64, 1, 1}, {}}, {}};
  launch.operand(x, SimAccess::Read).operand(y, SimAccess::Write);
  return {launch, expected, 0};
}

Case tensorCore() {
  // Values of a few bits: products and sums are exact.
  std::vector<uint16_t> a(256), b(128);
  std::vector<float> fa(256), fb(128), y(128), expected(128);
  auto fill = [](std::vector<uint16_t> &bits, std::vector<float> &values, int step) {
    for (size_t i = 0; i < bits.size(); ++i) {
      values[i] = float(int(i * step % 15) - 7);
      bits[i] = uint16_t(std::bit_cast<uint32_t>(values[i]) >> 16);
    }
  };
  fill(a, fa, 7);
  fill(b, fb, 11);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 16; ++k)
        expected[i * 8 + j] += fa[i * 16 + k] * fb[k * 8 + j];
  Launch launch{{"tensor_core", nullptr, {1, 1, 1}, {32, 1, 1}, {}}, {}};
  launch.operand(a, SimAccess::Read).operand(b, SimAccess::Read).operand(y, SimAccess::Write);
  return {launch, expected, 0};
}

std::vector<Case> cases() {
  return {normalizeRows(), sumColumns(), transpose(), scatterAdd(), pipeline(), tensorCore()};
}

Case caseOf(const std::string &name) {
  for (Case &one : cases())
    if (one.launch.kernel.name == name)
      return one;
  ADD_FAILURE() << name;
  return {};
}

bool isClose(const Case &one, const std::vector<float> &found) {
  for (size_t i = 0; i < found.size(); ++i)
    if (!(std::fabs(found[i] - one.expected[i]) <= one.tolerance * std::fabs(one.expected[i])))
      return false;
  return true;
}

SimOptions with(SimOrder order, SimCopy copy, bool check) {
  SimOptions options;
  options.order = order;
  options.copy = copy;
  options.check = check;
  options.threads = 2;
  return options;
}

std::vector<SimOptions> modes(bool check) {
  return {with(SimOrder::Warp, SimCopy::Late, check), with(SimOrder::Warp, SimCopy::Eager, check),
          with(SimOrder::Reverse, SimCopy::Late, check)};
}

TEST(SimKernel, EqualsPlainLoops) {
  for (bool check : {false, true}) {
    auto kernels = SimKernels::load(kernelText(), check);
    ASSERT_TRUE(kernels);
    for (const SimOptions &options : modes(check)) {
      SimEngine engine(options);
      for (Case &one : cases()) {
        one.launch.kernel.function = kernels->find(one.launch.kernel.name);
        Status status = one.launch.run(engine);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(isClose(one, one.launch.result())) << one.launch.kernel.name;
      }
    }
  }
}

} // namespace
