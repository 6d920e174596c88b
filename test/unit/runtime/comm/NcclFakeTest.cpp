// The fake of NVIDIA's collectives against sums by hand, and what it must catch.
#include "comm/nccl/NcclApi.h"
#include "drivers/cuda/CudaApi.h"

#include "dlc/runtime/Float16.h"

#include <gmock/gmock.h>

#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace dlc;
using namespace dlc::runtime;

namespace {

using Clock = std::chrono::steady_clock;

const CudaApi &cuda() {
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
  setenv("DLCFAKE_DEVICES", "8", 0);
  return **CudaApi::load();
}
const nccl::Api &api() {
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
  return **nccl::Api::load();
}

/// Asks until it holds, for 20 s.
bool soon(const std::function<bool()> &holds) {
  for (auto start = Clock::now(); Clock::now() - start < std::chrono::seconds(20);) {
    if (holds())
      return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return false;
}

/// One rank on a device of its own, with memory that its operations use.
class Rank {
public:
  static constexpr size_t kBytes = 1 << 16;

  Rank(int rank, int size, nccl::UniqueId id, int device) : rank(rank), size(size) {
    CUcontext context = nullptr;
    nccl::Config config;
    config.blocking = 0;
    EXPECT_EQ(cuda().cuInit(0), runtime::kSuccess);
    EXPECT_EQ(cuda().cuDevicePrimaryCtxRetain(&context, device), runtime::kSuccess);
    EXPECT_EQ(cuda().cuCtxSetCurrent(context), runtime::kSuccess);
    EXPECT_EQ(cuda().cuStreamCreate(&stream, kStreamNonBlocking), runtime::kSuccess);
    EXPECT_EQ(cuda().cuEventCreate(&event, kEventDisableTiming), runtime::kSuccess);
    EXPECT_EQ(cuda().cuMemAlloc(&in, kBytes), runtime::kSuccess);
    EXPECT_EQ(cuda().cuMemAlloc(&out, kBytes), runtime::kSuccess);
    int result = api().ncclCommInitRankConfig(&comm, size, id, rank, &config);
    EXPECT_TRUE(result == nccl::kSuccess || result == nccl::kInProgress || result == nccl::kInvalidUsage) << result;
    EXPECT_TRUE(soon([&] { return error() != nccl::kInProgress; }));
  }
  ~Rank() {
    EXPECT_EQ(api().ncclCommAbort(comm), nccl::kSuccess);
    EXPECT_EQ(cuda().cuStreamDestroy(stream), runtime::kSuccess);
    EXPECT_EQ(cuda().cuEventDestroy(event), runtime::kSuccess);
    EXPECT_EQ(cuda().cuMemFree(in), runtime::kSuccess);
    EXPECT_EQ(cuda().cuMemFree(out), runtime::kSuccess);
  }
  Rank(const Rank &) = delete;
  Rank &operator=(const Rank &) = delete;

  int error() const {
    int found = 0;
    EXPECT_EQ(api().ncclCommGetAsyncError(comm, &found), nccl::kSuccess);
    return found;
  }
  template <typename T>
  void give(const std::vector<T> &values) {
    EXPECT_EQ(cuda().cuMemcpyHtoDAsync(in, values.data(), values.size() * sizeof(T), stream), runtime::kSuccess);
    EXPECT_EQ(cuda().cuStreamSynchronize(stream), runtime::kSuccess);
  }
  template <typename T>
  std::vector<T> taken(size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(finishes());
    EXPECT_EQ(cuda().cuMemcpyDtoHAsync(values.data(), out, count * sizeof(T), stream), runtime::kSuccess);
    EXPECT_EQ(cuda().cuStreamSynchronize(stream), runtime::kSuccess);
    return values;
  }
  /// Whether what was submitted is done in the end, without an error.
  bool finishes() {
    EXPECT_EQ(cuda().cuEventRecord(event, stream), runtime::kSuccess);
    bool reached = false;
    return soon([&] {
             reached = cuda().cuEventQuery(event) == runtime::kSuccess;
             return reached || error() != nccl::kSuccess;
           }) &&
           reached;
  }
  const void *from() const { return std::bit_cast<const void *>(in); }
  void *to() const { return std::bit_cast<void *>(out); }

  const int rank, size;
  nccl::Comm comm = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr in = 0, out = 0;
};

nccl::UniqueId newId() {
  nccl::UniqueId id;
  EXPECT_EQ(api().ncclGetUniqueId(&id), nccl::kSuccess);
  return id;
}

void runRanks(int size, const std::function<void(Rank &)> &work, bool sameDevice = false) {
  cuda();
  nccl::UniqueId id = newId();
  std::vector<std::thread> threads;
  threads.reserve(size_t(size));
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      Rank mine(rank, size, id, sameDevice ? 0 : rank);
      work(mine);
    });
  for (std::thread &each : threads)
    each.join();
}

/// Of rank + 1, and twice that, on each rank.
template <typename T>
void sums(int type) {
  runRanks(3, [type](Rank &mine) {
    auto value = [](double number) { return T(number); };
    mine.give<T>({value(mine.rank + 1), value(2 * mine.rank + 2)});
    auto result = [&](int reduce) {
      EXPECT_EQ(api().ncclAllReduce(mine.from(), mine.to(), 2, type, reduce, mine.comm, mine.stream), nccl::kSuccess);
      std::vector<double> numbers;
      for (T each : mine.taken<T>(2))
        numbers.push_back(double(each));
      return numbers;
    };
    EXPECT_EQ(result(nccl::kSum), (std::vector<double>{6, 12}));
    EXPECT_EQ(result(nccl::kMax), (std::vector<double>{3, 6}));
    EXPECT_EQ(result(nccl::kMin), (std::vector<double>{1, 2}));
  });
}

} // namespace

TEST(NcclFake, ReducesAllTypes) {
  sums<float>(nccl::kFloat32);
  sums<double>(nccl::kFloat64);
  sums<Float16>(nccl::kFloat16);
  sums<BFloat16>(nccl::kBfloat16);
  sums<int32_t>(nccl::kInt32);
  sums<int64_t>(nccl::kInt64);
  sums<int8_t>(nccl::kInt8);
  sums<uint8_t>(nccl::kUint8);
}

TEST(NcclFake, MovesParts) {
  runRanks(4, [](Rank &mine) {
    mine.give<int32_t>({mine.rank, 10 + mine.rank, 20 + mine.rank, 30 + mine.rank});
    EXPECT_EQ(api().ncclAllGather(mine.from(), mine.to(), 1, nccl::kInt32, mine.comm, mine.stream), nccl::kSuccess);
    EXPECT_EQ(mine.taken<int32_t>(4), (std::vector<int32_t>{0, 1, 2, 3}));
    EXPECT_EQ(api().ncclReduceScatter(mine.from(), mine.to(), 1, nccl::kInt32, nccl::kSum, mine.comm, mine.stream),
              nccl::kSuccess);
    EXPECT_EQ(mine.taken<int32_t>(1), (std::vector<int32_t>{6 + 40 * mine.rank}));
    EXPECT_EQ(api().ncclBroadcast(mine.from(), mine.to(), 2, nccl::kInt32, 2, mine.comm, mine.stream), nccl::kSuccess);
    EXPECT_EQ(mine.taken<int32_t>(2), (std::vector<int32_t>{2, 12}));
  });
}

// To all others and from them at once; without a group two sends would wait for each other.
TEST(NcclFake, SendsInGroups) {
  runRanks(3, [](Rank &mine) {
    for (int round = 0; round < 5; ++round) {
      mine.give<int32_t>({mine.rank * 10, mine.rank * 10 + 1, mine.rank * 10 + 2});
      EXPECT_EQ(api().ncclGroupStart(), nccl::kSuccess);
      for (int m = 0; m < 3; ++m) {
        auto *to = static_cast<int32_t *>(mine.to()) + m;
        EXPECT_EQ(api().ncclRecv(to, 1, nccl::kInt32, m, mine.comm, mine.stream), nccl::kSuccess);
        const auto *from = static_cast<const int32_t *>(mine.from()) + m;
        EXPECT_EQ(api().ncclSend(from, 1, nccl::kInt32, m, mine.comm, mine.stream), nccl::kSuccess);
      }
      EXPECT_EQ(api().ncclGroupEnd(), nccl::kSuccess);
      EXPECT_EQ(mine.taken<int32_t>(3), (std::vector<int32_t>{mine.rank, 10 + mine.rank, 20 + mine.rank}));
    }
  });
}

TEST(NcclFake, JoinsProcesses) {
  nccl::UniqueId id = newId();
  std::vector<int> processes;
  for (int rank = 0; rank < 2; ++rank) {
    processes.push_back(fork());
    if (processes.back() == 0) {
      cuda();
      bool right = false;
      {
        Rank mine(rank, 2, id, rank);
        mine.give<float>({float(rank + 1)});
        right = api().ncclAllReduce(mine.from(), mine.to(), 1, nccl::kFloat32, nccl::kSum, mine.comm, mine.stream) ==
                    nccl::kSuccess &&
                mine.taken<float>(1) == std::vector<float>{3};
      }
      _exit(right ? 0 : 1);
    }
  }
  for (int process : processes) {
    int state = -1;
    waitpid(process, &state, 0);
    EXPECT_EQ(state, 0);
  }
}

TEST(NcclFake, OtherCountsAreAnErrorAndNoHang) {
  runRanks(2, [](Rank &mine) {
    EXPECT_EQ(api().ncclAllReduce(mine.from(), mine.to(), size_t(5 + mine.rank), nccl::kFloat32, nccl::kSum, mine.comm,
                                  mine.stream),
              nccl::kSuccess);
    EXPECT_FALSE(mine.finishes());
    EXPECT_EQ(mine.error(), nccl::kInvalidUsage);
    EXPECT_THAT(api().ncclGetLastError(mine.comm), testing::HasSubstr("elements meets all_reduce of"));
  });
}

TEST(NcclFake, ASkippedCollectiveIsReportedAtTheLimit) {
  setenv("DLCFAKE_NCCL_LIMIT", "0.2", 1);
  runRanks(2, [](Rank &mine) {
    if (mine.rank == 1)
      return;
    EXPECT_EQ(api().ncclAllReduce(mine.from(), mine.to(), 5, nccl::kFloat32, nccl::kSum, mine.comm, mine.stream),
              nccl::kSuccess);
    EXPECT_FALSE(mine.finishes());
    EXPECT_EQ(mine.error(), nccl::kRemoteError);
    EXPECT_THAT(api().ncclGetLastError(mine.comm), testing::EndsWith("for ranks 1"));
  });
  unsetenv("DLCFAKE_NCCL_LIMIT");
}

TEST(NcclFake, ACollectiveFailsWhereItIsTold) {
  setenv("DLCFAKE_NCCL_FAIL", "1:2", 1);
  setenv("DLCFAKE_NCCL_LIMIT", "0.5", 1);
  runRanks(2, [](Rank &mine) {
    for (int number : {1, 2}) {
      EXPECT_EQ(api().ncclAllReduce(mine.from(), mine.to(), 5, nccl::kFloat32, nccl::kSum, mine.comm, mine.stream),
                nccl::kSuccess);
      // Rank 0 has all it needs.
      EXPECT_EQ(mine.finishes(), number == 1 || mine.rank == 0);
    }
    EXPECT_EQ(mine.error(), mine.rank == 1 ? nccl::kSystemError : nccl::kSuccess);
  });
  unsetenv("DLCFAKE_NCCL_FAIL");
  unsetenv("DLCFAKE_NCCL_LIMIT");
}

TEST(NcclFake, TwoRanksOnOneDeviceAreRefused) {
  runRanks(2, [](Rank &mine) { EXPECT_EQ(mine.error(), nccl::kInvalidUsage); }, true);
}

// A graph's collectives meet those of the others' graphs at each launch, whatever order its other work has.
TEST(NcclFake, CollectivesInGraphs) {
  for (const char *order : {"forward", "reverse"}) {
    setenv("DLCFAKE_GRAPH", order, 1);
    runRanks(3, [](Rank &mine) {
      mine.give<float>({float(mine.rank), 1});
      CUgraph graph = nullptr;
      CUgraphExec ready = nullptr;
      EXPECT_EQ(cuda().cuStreamBeginCapture(mine.stream, kCaptureThreadLocal), runtime::kSuccess);
      EXPECT_EQ(api().ncclAllReduce(mine.from(), mine.to(), 2, nccl::kFloat32, nccl::kSum, mine.comm, mine.stream),
                nccl::kSuccess);
      EXPECT_EQ(cuda().cuMemcpyDtoDAsync(mine.in, mine.out, 8, mine.stream), runtime::kSuccess);
      EXPECT_EQ(cuda().cuStreamEndCapture(mine.stream, &graph), runtime::kSuccess);
      EXPECT_EQ(cuda().cuGraphInstantiate(&ready, graph, 0), runtime::kSuccess);
      for (int i = 0; i < 3; ++i)
        EXPECT_EQ(cuda().cuGraphLaunch(ready, mine.stream), runtime::kSuccess);
      EXPECT_EQ(mine.taken<float>(2), (std::vector<float>{27, 27}));
      EXPECT_EQ(cuda().cuGraphDestroy(graph), runtime::kSuccess);
      EXPECT_EQ(cuda().cuGraphExecDestroy(ready), runtime::kSuccess);
    });
  }
  unsetenv("DLCFAKE_GRAPH");
}

// A rank that launches its graph once less is missed by the others, with the limit's message and no hang.
TEST(NcclFake, ASkippedGraphIsReportedAtTheLimit) {
  setenv("DLCFAKE_NCCL_LIMIT", "0.2", 1);
  runRanks(2, [](Rank &mine) {
    CUgraph graph = nullptr;
    CUgraphExec ready = nullptr;
    EXPECT_EQ(cuda().cuStreamBeginCapture(mine.stream, kCaptureThreadLocal), runtime::kSuccess);
    EXPECT_EQ(api().ncclAllReduce(mine.from(), mine.to(), 2, nccl::kInt32, nccl::kSum, mine.comm, mine.stream),
              nccl::kSuccess);
    EXPECT_EQ(cuda().cuStreamEndCapture(mine.stream, &graph), runtime::kSuccess);
    EXPECT_EQ(cuda().cuGraphInstantiate(&ready, graph, 0), runtime::kSuccess);
    for (int i = 0; i < 2 - mine.rank; ++i)
      EXPECT_EQ(cuda().cuGraphLaunch(ready, mine.stream), runtime::kSuccess);
    EXPECT_EQ(mine.finishes(), mine.rank == 1);
    EXPECT_EQ(mine.error(), mine.rank == 1 ? nccl::kSuccess : nccl::kRemoteError);
    EXPECT_EQ(cuda().cuGraphDestroy(graph), runtime::kSuccess);
    EXPECT_EQ(cuda().cuGraphExecDestroy(ready), runtime::kSuccess);
  });
  unsetenv("DLCFAKE_NCCL_LIMIT");
}
