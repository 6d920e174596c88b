#include "dlc/codegen/Compiler.h"
#include "dlc/runtime/Abi.h"
#include "dlc/runtime/Executable.h"
#include "dlc/runtime/Job.h"

#include <gmock/gmock.h>

#include <cmath>

/// What the double of the runtime below notes.
struct DlcExecutor {
  std::vector<std::string> calls;
  size_t failingCall = SIZE_MAX;

  int32_t note(const std::string &call) {
    calls.push_back(call);
    return calls.size() - 1 == failingCall ? DLC_PEER_FAILED : DLC_OK;
  }
};

// Compiled collectives between members: a step of two layers, whose gradients are sums over members, against the same
// step on the joined batch in double precision.

namespace dlc::test {

namespace {

using Matrix = std::vector<double>;

constexpr int64_t kRows = 3, kIn = 8, kHidden = 5, kOut = 4; // 5: pieces of buckets have gaps

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// loss = sum((x w v)^2), w -= 0.125 dw, v -= 0.125 dv, and the batch of all members.
std::string program(int members) {
  std::string text = R"(module attributes {dl.local} {
dl.mesh @mesh ["data" = MEMBERS]
dl.variable @w : tensor<8x5xf32> role(parameter) init(#dl.uniform<-1.0 : f64, 1.0 : f64>)
dl.variable @v : tensor<5x4xf32> role(parameter) init(#dl.uniform<-1.0 : f64, 1.0 : f64, offset = 40>)
func.func @step(%x: tensor<3x8xf32> {dl.name = "x", dl.sharding = #dl.sharding<[data, _]>, dl.global = tensor<ALLx8xf32>})
    -> (tensor<f32> {dl.name = "loss"}, tensor<ALLx8xf32> {dl.name = "all"}) attributes {dl.entry} {
  %w = dl.read @w : tensor<8x5xf32>
  %v = dl.read @v : tensor<5x4xf32>
  %h = dl.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
  %y = dl.dot_general %h, %v batch [] x [] contract [1] x [0] : (tensor<3x5xf32>, tensor<5x4xf32>) -> tensor<3x4xf32>
  %l0 = dl.mul %y, %y : tensor<3x4xf32>
  %l1 = dl.reduce_sum %l0 over [0, 1] : (tensor<3x4xf32>) -> tensor<f32>
  %loss = dl.all_reduce sum(data) %l1 : tensor<f32>
  %dy = dl.add %y, %y : tensor<3x4xf32>
  %dv = dl.dot_general %h, %dy batch [] x [] contract [0] x [0] : (tensor<3x5xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  %gv = dl.all_reduce sum(data) %dv : tensor<5x4xf32>
  %dh = dl.dot_general %dy, %v batch [] x [] contract [1] x [1] : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %dw = dl.dot_general %x, %dh batch [] x [] contract [0] x [0] : (tensor<3x8xf32>, tensor<3x5xf32>) -> tensor<8x5xf32>
  %gw = dl.all_reduce sum(data) %dw : tensor<8x5xf32>
  %rate = dl.constant dense<0.125> : tensor<f32>
  %rw = dl.broadcast %rate dims [] : (tensor<f32>) -> tensor<8x5xf32>
  %uw = dl.mul %rw, %gw : tensor<8x5xf32>
  %nw = dl.sub %w, %uw : tensor<8x5xf32>
  %rv = dl.broadcast %rate dims [] : (tensor<f32>) -> tensor<5x4xf32>
  %uv = dl.mul %rv, %gv : tensor<5x4xf32>
  %nv = dl.sub %v, %uv : tensor<5x4xf32>
  %all = dl.all_gather(data) %x dim(0) : tensor<3x8xf32> -> tensor<ALLx8xf32>
  dl.write @w, %nw : tensor<8x5xf32>
  dl.write @v, %nv : tensor<5x4xf32>
  return %loss, %all : tensor<f32>, tensor<ALLx8xf32>
}
})";
  text = replaceAll(text, "MEMBERS", std::to_string(members));
  return replaceAll(text, "ALL", std::to_string(members * kRows));
}

/// a (m x k) times b (k x n); `ta`, `tb`: of the transposed.
Matrix product(const Matrix &a, bool ta, const Matrix &b, bool tb, int64_t m, int64_t k, int64_t n) {
  Matrix c(size_t(m * n), 0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        c[size_t(i * n + j)] += a[size_t(ta ? l * m + i : i * k + l)] * b[size_t(tb ? j * k + l : l * n + j)];
  return c;
}

struct Case {
  const char *devices;
  const char *target;
  int64_t bucketBytes;
};

struct CompiledCollectives : testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(, CompiledCollectives,
                         testing::Values(Case{"cpu:1", "cpu", 0}, Case{"cpu:2", "cpu", 0}, Case{"cpu:2", "cpu", 1},
                                         Case{"cpu:3", "cpu", 0}, Case{"sim:2", "sim", 0}, Case{"sim:2", "sim", 1}),
                         [](const auto &info) {
                           std::string buckets = info.param.bucketBytes ? "_small_buckets" : "";
                           return replaceAll(info.param.devices, ":", "_") + buckets;
                         });

TEST_P(CompiledCollectives, AStepIsThatOfTheJoinedBatch) {
  auto job = runtime::Job::join(runtime::Contract(),
                                {.devices = runtime::parseDevices(GetParam().devices).take(), .threads = 1, .seed = 3});
  ASSERT_TRUE(job.ok()) << job.status().message();
  int members = (*job)->members();
  codegen::CompileOptions options;
  options.targets = {GetParam().target};
  options.bucketBytes = GetParam().bucketBytes;
  auto compiled = codegen::compile(program(members), "step.mlir", options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  auto executable = (*compiled)->load();
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  EXPECT_EQ((*executable)->manifest().mesh.size(), members);
  EXPECT_EQ((*executable)->manifest().collectives.size(), GetParam().bucketBytes ? 4U : 3U);
  auto programs = (*job)->attach(*executable);
  ASSERT_TRUE(programs.ok()) << programs.status().message();

  size_t count = size_t(members);
  std::vector<std::vector<float>> x(count), all(count);
  std::vector<float> loss(x.size()), w(kIn * kHidden), v(kHidden * kOut);
  std::vector<std::vector<DlcBuffer>> arguments(x.size()), results(x.size());
  Matrix joined;
  for (size_t m = 0; m < x.size(); ++m) {
    for (int64_t i = 0; i < kRows * kIn; ++i)
      x[m].push_back(float(std::sin(double(1 + i) * double(1 + m))) / 8);
    joined.insert(joined.end(), x[m].begin(), x[m].end());
    all[m].resize(size_t(members * kRows * kIn));
    arguments[m] = {{x[m].data(), kRows * kIn * 4}};
    results[m] = {{&loss[m], 4}, {all[m].data(), int64_t(all[m].size() * 4)}};
  }
  auto read = [&](int member) {
    ASSERT_TRUE((*job)->session(member).read("w", std::as_writable_bytes(std::span(w))).ok());
    ASSERT_TRUE((*job)->session(member).read("v", std::as_writable_bytes(std::span(v))).ok());
  };
  read(0);
  Matrix weight(w.begin(), w.end()), second(v.begin(), v.end());
  int64_t rows = members * kRows;
  for (int step = 0; step < 3; ++step) {
    Status status = (*job)->call(*programs, 0, arguments, results);
    ASSERT_TRUE(status.ok()) << status.message();
    Matrix h = product(joined, false, weight, false, rows, kIn, kHidden);
    Matrix y = product(h, false, second, false, rows, kHidden, kOut);
    double expected = 0;
    for (double &element : y) {
      expected += element * element;
      element *= 2;
    }
    Matrix dv = product(h, true, y, false, kHidden, rows, kOut);
    Matrix dh = product(y, false, second, true, rows, kOut, kHidden);
    Matrix dw = product(joined, true, dh, false, kIn, rows, kHidden);
    for (size_t i = 0; i < weight.size(); ++i)
      weight[i] -= 0.125 * dw[i];
    for (size_t i = 0; i < second.size(); ++i)
      second[i] -= 0.125 * dv[i];
    // Sums of at most 40 products of numbers up to 1, three steps deep.
    constexpr double kTolerance = 1e-4;
    for (int m = 0; m < members; ++m) {
      EXPECT_NEAR(loss[size_t(m)], expected, kTolerance * std::max(1.0, expected));
      EXPECT_THAT(all[size_t(m)], testing::Pointwise(testing::Eq(), joined)) << "member " << m;
      read(m);
      EXPECT_THAT(w, testing::Pointwise(testing::DoubleNear(kTolerance), weight)) << "member " << m;
      EXPECT_THAT(v, testing::Pointwise(testing::DoubleNear(kTolerance), second)) << "member " << m;
    }
  }
}

/// Calls the entry with memory of its own and a runtime that only notes.
int32_t callNoting(const Executable &executable, DlcExecutor &executor) {
  DlcApi api = {};
  api.version = DLC_ABI_VERSION;
  api.size = sizeof api;
  api.parallelFor = [](DlcExecutor *, int64_t extent, int64_t, DlcRange fn, void *const *pointers,
                       const int64_t *dims) { fn(pointers, dims, 0, extent); };
  api.collectiveStart = [](DlcExecutor *executor, uint32_t index, const void *from, void *to) {
    return executor->note("start " + std::to_string(index) + (from == to ? " in place" : ""));
  };
  api.collectiveWait = [](DlcExecutor *executor, uint32_t index) {
    return executor->note("wait " + std::to_string(index));
  };
  auto bytesFor = [](int64_t bytes) { return std::vector<double>(size_t(bytes / 8 + 16)); };
  std::vector<std::vector<double>> memory;
  std::vector<char *> arenas;
  for (const ArenaInfo &arena : executable.manifest().arenas) {
    memory.push_back(bytesFor(arena.bytes));
    uintptr_t base = (reinterpret_cast<uintptr_t>(memory.back().data()) + 63) / 64 * 64;
    arenas.push_back(reinterpret_cast<char *>(base));
  }
  std::vector<DlcBuffer> arguments, results;
  const EntryInfo &entry = executable.manifest().entries[0];
  for (const ValueInfo &value : entry.arguments) {
    memory.push_back(bytesFor(value.type.bytes()));
    arguments.push_back({memory.back().data(), value.type.bytes()});
  }
  for (const ValueInfo &value : entry.results) {
    memory.push_back(bytesFor(value.type.bytes()));
    results.push_back({memory.back().data(), value.type.bytes()});
  }
  DlcFrame frame = {};
  frame.size = sizeof frame;
  frame.api = &api;
  frame.executor = &executor;
  frame.arenas = arenas.data();
  frame.arguments = arguments.data();
  frame.results = results.data();
  return executable.entry(0)(&frame);
}

TEST(CompiledCollectivesAlone, EachStartsOnceAndEndsLater) {
  codegen::CompileOptions options;
  options.bucketBytes = 1;
  auto compiled = codegen::compile(program(2), "step.mlir", options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  auto executable = (*compiled)->load();
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  DlcExecutor executor;
  ASSERT_EQ(callNoting(**executable, executor), DLC_OK);
  // The gather takes what was there before, the reductions what was computed.
  EXPECT_THAT(executor.calls, testing::ElementsAre("start 0", "start 1 in place", "start 2 in place",
                                                   "start 3 in place", "wait 0", "wait 1", "wait 2", "wait 3"));
}

TEST(CompiledCollectivesAlone, AnEntryEndsWithTheFirstFailure) {
  auto compiled = codegen::compile(program(2), "step.mlir", {});
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  auto executable = (*compiled)->load();
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  for (size_t failing = 0; failing < 6; ++failing) {
    DlcExecutor executor;
    executor.failingCall = failing;
    EXPECT_EQ(callNoting(**executable, executor), DLC_PEER_FAILED);
    EXPECT_EQ(executor.calls.size(), failing + 1);
  }
}

TEST(CompiledCollectivesAlone, AProgramOfSeveralMembersNeedsAJob) {
  auto compiled = codegen::compile(program(2), "step.mlir", {});
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  auto executable = (*compiled)->load();
  ASSERT_TRUE(executable.ok()) << executable.status().message();
  auto session = Session::create({});
  ASSERT_TRUE(session.ok());
  EXPECT_FALSE((*session)->attach(*executable).ok());
}

} // namespace

} // namespace dlc::test
