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

/// One launch of a kernel. Its operands lie side by side, the last one is the result.
struct Launch {
  SimKernel kernel;
  std::vector<char> memory;

  template <typename T>
  Launch &operand(const std::vector<T> &values, SimAccess access) {
    auto *bytes = reinterpret_cast<const char *>(values.data());
    kernel.operands.push_back({int64_t(values.size() * sizeof(T)), access});
    memory.insert(memory.end(), bytes, bytes + values.size() * sizeof(T));
    return *this;
  }
  std::vector<void *> pointers() {
    std::vector<void *> all;
    int64_t offset = 0;
    for (const SimOperand &operand : kernel.operands) {
      all.push_back(memory.data() + offset);
      offset += operand.bytes;
    }
    return all;
  }
  Status run(SimEngine &engine, GlobalShadow *shadow = nullptr) {
    return engine.run(kernel, pointers().data(), shadow);
  }
  std::vector<float> result() const {
    std::vector<float> values(size_t(kernel.operands.back().bytes) / sizeof(float));
    std::memcpy(values.data(), memory.data() + memory.size() - values.size() * sizeof(float),
                values.size() * sizeof(float));
    return values;
  }
};

struct Case {
  Launch launch;
  std::vector<float> expected;
  float tolerance; ///< relative; sums of n terms in f32 differ from those in double by some n/2 roundings
};

Case normalizeRows() {
  constexpr uint32_t rows = 3, columns = 300;
  std::vector<float> x = randomValues(size_t(rows) * columns), y(x.size()), expected(x.size());
  for (uint32_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (uint32_t c = 0; c < columns; ++c)
      sum += x[r * columns + c];
    for (uint32_t c = 0; c < columns; ++c)
      expected[r * columns + c] = float(x[r * columns + c] / sum);
  }
  Launch launch{{"normalize_rows", nullptr, {rows, 1, 1}, {256, 1, 1}, {}}, {}};
  launch.operand(x, SimAccess::Read).operand(y, SimAccess::Write);
  return {launch, expected, 1e-6f};
}

Case sumColumns() {
  constexpr uint32_t rows = 40, columns = 64;
  std::vector<float> x = randomValues(size_t(rows) * columns), y(columns), expected(columns);
  for (uint32_t c = 0; c < columns; ++c) {
    double sum = 0;
    for (uint32_t r = 0; r < rows; ++r)
      sum += x[r * columns + c];
    expected[c] = float(sum);
  }
  Launch launch{{"sum_columns", nullptr, {columns / 32, 1, 1}, {32, 8, 1}, {}}, {}};
  launch.operand(x, SimAccess::Read).operand(y, SimAccess::Write);
  return {launch, expected, 1e-6f};
}

Case transpose() {
  constexpr uint32_t rows = 64, columns = 96;
  std::vector<float> x = randomValues(size_t(rows) * columns), y(x.size()), expected(x.size());
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t c = 0; c < columns; ++c)
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
  constexpr uint32_t stages = 5, width = 256;
  std::vector<float> x = randomValues(size_t(stages) * width), y(width), expected(width);
  for (uint32_t t = 0; t < width; ++t)
    for (uint32_t s = 0; s < stages; ++s)
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

/// The kernels with occurrence `nth` of a text of one of them replaced.
std::string change(const std::string &kernel, const std::string &from, const std::string &to, int nth = 0) {
  std::string text = kernelText();
  size_t at = text.find("@" + kernel + "(");
  for (int i = 0; i <= nth && at != std::string::npos; ++i)
    at = text.find(from, at + 1);
  EXPECT_NE(at, std::string::npos) << kernel << " has no " << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string lineOf(const std::string &text, const std::string &kernel, const std::string &part, int nth = 0) {
  size_t at = text.find("@" + kernel + "(");
  for (int i = 0; i <= nth; ++i)
    at = text.find(part, at + 1);
  return "kernels.mlir:" + std::to_string(1 + std::count(text.begin(), text.begin() + at, '\n')) + ":";
}

/// A broken kernel, run with checks in every mode: the messages.
std::vector<std::string> messages(const std::string &text, const Case &original) {
  std::vector<std::string> found;
  auto kernels = SimKernels::load(text, true);
  if (!kernels)
    return found;
  Case one = original;
  one.launch.kernel.function = kernels->find(one.launch.kernel.name);
  for (const SimOptions &options : modes(true)) {
    SimEngine engine(options);
    Status status = one.launch.run(engine);
    EXPECT_FALSE(status.ok()) << one.launch.kernel.name << " is not refused";
    found.push_back(status.message());
  }
  return found;
}

TEST(SimCheck, OverrunIntoTheNextOperand) {
  std::string text = change("normalize_rows", "constant 300", "constant 301");
  for (const std::string &message : messages(text, normalizeRows())) {
    EXPECT_THAT(message, HasSubstr("kernel 'normalize_rows', block (2,0,0), thread ("));
    EXPECT_THAT(message, testing::ContainsRegex("reads 4 bytes at offset 36[0-9]+ of operand 0, which has 3600 bytes"));
    EXPECT_THAT(message, HasSubstr(lineOf(text, "normalize_rows", "llvm.load %p")));
  }
}

TEST(SimCheck, OverrunOfASharedVariable) {
  std::string text = change("sum_columns", "constant 33", "constant 40");
  for (const std::string &message : messages(text, sumColumns())) {
    EXPECT_THAT(message, HasSubstr("of shared variable 'column_tile', which has 1056 bytes"));
    EXPECT_THAT(message, HasSubstr(lineOf(text, "sum_columns", "llvm.store")));
  }
}

TEST(SimCheck, MissingBarriers) {
  for (const Case &one : {normalizeRows(), sumColumns(), transpose()}) {
    const std::string &kernel = one.launch.kernel.name;
    for (const std::string &message : messages(change(kernel, "gpu.barrier", ""), one))
      EXPECT_THAT(message, testing::AnyOf(HasSubstr("nothing orders the two: a barrier is missing"),
                                          HasSubstr("which nobody has written")));
  }
  // A buffer filled again before everybody has read it.
  for (const std::string &message : messages(change("pipeline", "gpu.barrier", "", 1), pipeline()))
    EXPECT_THAT(message,
                testing::AnyOf(testing::ContainsRegex("writes offset [0-9]+ of shared variable 'stages', which "
                                                      "thread \\([0-9]+,0,0\\) read; nothing orders the two"),
                               HasSubstr("where an asynchronous copy may still be under way")));
}

TEST(SimCheck, CopiesNobodyWaitedFor) {
  for (const std::string &message : messages(change("pipeline", "wait.group 1", "wait.group 2"), pipeline()))
    EXPECT_THAT(message, HasSubstr("of shared variable 'stages', where an asynchronous copy may still be under way"));
}

TEST(SimCheck, SharedMemoryNobodyWrote) {
  for (const std::string &message : messages(change("transpose", "%ty to %c32", "%ty to %c8"), transpose()))
    EXPECT_THAT(message, HasSubstr("of shared variable 'transpose_tile', which nobody has written"));
}

TEST(SimCheck, GlobalMemoryNobodyWrote) {
  Case one = sumColumns();
  auto kernels = SimKernels::load(kernelText(), true);
  ASSERT_TRUE(kernels);
  one.launch.kernel.function = kernels->find("sum_columns");
  char *memory = one.launch.memory.data();
  for (const SimOptions &options : modes(true)) {
    GlobalShadow shadow;
    shadow.markWritten(memory, one.launch.memory.size());
    shadow.markUnwritten(memory + 400, 4);
    SimEngine engine(options);
    EXPECT_THAT(one.launch.run(engine, &shadow).message(),
                HasSubstr("reads offset 400 of operand 0, which nobody has written"));
    // What an earlier launch did, on whichever engine, is over.
    shadow.markWritten(memory, one.launch.memory.size());
    EXPECT_TRUE(SimEngine(options).run(one.launch.kernel, one.launch.pointers().data(), &shadow).ok());
    EXPECT_TRUE(one.launch.run(engine, &shadow).ok());
  }
}

TEST(SimCheck, KernelsMarkWhatTheyWrite) {
  Case one = sumColumns();
  GlobalShadow shadow;
  size_t bytes = size_t(one.launch.kernel.operands[0].bytes);
  shadow.markUnwritten(one.launch.memory.data(), one.launch.memory.size());
  shadow.markWritten(one.launch.memory.data(), bytes);
  auto kernels = SimKernels::load(kernelText(), true);
  ASSERT_TRUE(kernels);
  one.launch.kernel.function = kernels->find("sum_columns");
  one.launch.kernel.grid[0] = 1; // the first 32 of 64 columns
  SimEngine engine(with(SimOrder::Warp, SimCopy::Late, true));
  Status status = one.launch.run(engine, &shadow);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(shadow.firstUnwritten(one.launch.memory.data(), one.launch.memory.size()), bytes + 32 * sizeof(float));
}

TEST(SimCheck, TwoThreadsWriteOneElement) {
  for (const std::string &message : messages(change("sum_columns", "cmpi eq, %ty", "cmpi uge, %ty"), sumColumns()))
    EXPECT_THAT(message, testing::ContainsRegex("writes offset [0-9]+ of operand 1, which thread \\([0-9]+,[0-9],0\\) "
                                                "wrote; nothing orders the two"));
}

TEST(SimCheck, BlocksThatUpdateWithoutAtomics) {
  std::string atomic = "%old = llvm.atomicrmw fadd %o, %v monotonic : !llvm.ptr<1>, f32";
  std::string plain = "%old = llvm.load %o : !llvm.ptr<1> -> f32\n %new = llvm.fadd %old, %v : f32\n"
                      "llvm.store %new, %o : f32, !llvm.ptr<1>";
  for (const std::string &message : messages(change("scatter_add", atomic, plain), scatterAdd()))
    EXPECT_THAT(message, HasSubstr("of operand 2, which thread ("));
}

TEST(SimCheck, WritesToAnInput) {
  Case one = transpose();
  one.launch.kernel.operands[1].access = SimAccess::Read;
  for (const std::string &message : messages(kernelText(), one))
    EXPECT_THAT(message, HasSubstr("writes operand 1, which the kernel may only read"));
}

TEST(SimCheck, BarriersOfTwoBranches) {
  std::string branches =
      "%low = arith.cmpi ult, %ty, %c1 : index\n"
      "scf.if %low { llvm.store %part, %place : f32, !llvm.ptr<3>\n gpu.barrier } else { gpu.barrier }";
  for (const std::string &message : messages(change("sum_columns", "gpu.barrier", branches), sumColumns()))
    EXPECT_THAT(message, HasSubstr("all threads of a block must reach the same one"));
}

// Without checks a wrong kernel is found by what it computes, or by threads that wait forever.

TEST(SimKernel, WrongResultsShowInOneOfTheModes) {
  std::pair<std::string, Case> broken[] = {
      {change("normalize_rows", "gpu.barrier", ""), normalizeRows()},
      {change("transpose", "gpu.barrier", ""), transpose()},
      {change("pipeline", "wait.group 1", "wait.group 2"), pipeline()},
      {change("pipeline", "gpu.barrier", "", 1), pipeline()},
      {change("tensor_core", "layout<col>, shape", "layout<row>, shape"), tensorCore()}};
  for (auto &[text, one] : broken) {
    auto kernels = SimKernels::load(text);
    ASSERT_TRUE(kernels);
    one.launch.kernel.function = kernels->find(one.launch.kernel.name);
    bool found = false;
    for (const SimOptions &options : modes(false)) {
      SimEngine engine(options);
      Launch launch = one.launch;
      found |= !launch.run(engine).ok() || !isClose(one, launch.result());
    }
    EXPECT_TRUE(found) << one.launch.kernel.name;
  }
}

TEST(SimKernel, ShuffleInABranchIsADeadlock) {
  std::string text = change("normalize_rows", "scf.if %is0 {",
                            "%c16 = arith.constant 16 : index\n"
                            "%low = arith.cmpi ult, %lane, %c16 : index\n"
                            "scf.if %low { %u, %up = gpu.shuffle xor %s5, %o1, %width : f32\n"
                            "%w = arith.index_cast %warp : index to i64\n"
                            "%p = llvm.getelementptr %parts[%w] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32\n"
                            "llvm.store %u, %p : f32, !llvm.ptr<3> }\n scf.if %is0 {");
  for (const std::string &message : messages(text, normalizeRows()))
    EXPECT_THAT(message, HasSubstr("deadlock: "));
}

TEST(SimKernel, UnknownDeviceCodeIsNamed) {
  std::pair<std::string, std::string> codes[] = {
      {"%id = arith.constant 1 : i32\n nvvm.barrier id = %id", "llvm.nvvm.barrier.cta.sync.aligned.all in 'transpose'"},
      {"llvm.inline_asm has_side_effects \"nanosleep.u32 1;\", \"\" : () -> ()",
       "inline assembly 'nanosleep.u32 1;' in 'transpose'"}};
  for (const auto &[code, message] : codes) {
    StatusOr<std::string> object = SimKernels::compile(change("transpose", "gpu.barrier", code), false);
    ASSERT_FALSE(object.ok());
    EXPECT_EQ(object.status().message(), "expects device code that simulated devices can run, got " + message);
  }
}

} // namespace
