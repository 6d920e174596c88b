// What the engine over NCCL does beside what all engines do.
#include "Members.h"
#include "Values.h"

#include "comm/DeviceCollectives.h"
#include "dlc/runtime/Device.h"

#include <cstdlib>
#include <thread>

namespace dlc::test {

namespace {

/// What members of two ranks on these devices are told.
std::vector<std::string> messagesOn(const std::vector<std::string> &devices) {
  std::vector<std::string> messages(devices.size());
  runRanks(int(devices.size()), [&](int rank, runtime::Store &store) {
    runtime::Group group = groupOf(rank, int(devices.size()));
    group.device = devices[size_t(rank)];
    auto made = (*runtime::CommunicatorFactory::open("nccl"))->create(store, group, 0, 1, ample());
    messages[size_t(rank)] = made.status().message();
  });
  return messages;
}

} // namespace

TEST(Nccl, AFailureOfTheLibraryIsAStatusOfAllMembers) {
  setenv("DLCFAKE_NCCL_FAIL", "1:3", 1);
  runMembers("nccl", 3, CommunicatorOptions(), [](Communicator &end) {
    std::vector<float> values(1000, 1);
    for (uint32_t i : {0, 1})
      EXPECT_TRUE(done(finish(end.allReduce(op(i), elements(values), Reduce::Sum))));
    // The others have all that they need of the third, but hear of it at the latest with the next one.
    (void)finish(end.allReduce(op(2), elements(values), Reduce::Sum));
    Status status = finish(end.allReduce(op(3), elements(values), Reduce::Sum));
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find("all_reduce 3 fails by DLCFAKE_NCCL_FAIL"), std::string::npos) << status.message();
  });
  unsetenv("DLCFAKE_NCCL_FAIL");
}

namespace {

/// A member's elements on its device, and a stream that makes and reads them.
class OnDevice {
public:
  OnDevice(Communicator &end) : end(end), collectives(*end.onDevice()) {
    device = *runtime::Device::open({"cuda", end.rank()});
    memory = device->allocate("elements", 2 * kBytes).take();
    stream = device->createStream().take();
    ready = device->createEvent().take();
    over = device->createEvent().take();
  }

  /// What a collective makes of `values`, or how it fails.
  StatusOr<std::vector<int32_t>> run(CollectiveKind kind, std::vector<int32_t> values, int64_t count, size_t results,
                                     uint32_t index = 0, bool waits = true) {
    std::vector<int32_t> found(results, -7);
    runtime::DeviceCollectives::Call call{kind, Reduce::Sum, DType::I32, count, memory.base(), memory.base() + kBytes};
    const std::function<Status()> parts[] = {
        [&] { return stream->copyToDevice(memory.base(), values.data(), 4 * std::ssize(values)); },
        [&] { return stream->record(*ready); },
        [&] { return collectives.agree(op(index), call); },
        [&] { return waits ? collectives.stream().wait(*ready) : Status(); },
        [&] { return collectives.enqueue(op(index), call); },
        [&] { return collectives.stream().record(*over); },
        [&] { return settle(); },
        [&] { return stream->wait(*over); },
        [&] { return stream->copyToHost(found.data(), memory.base() + kBytes, 4 * std::ssize(found)); },
        [&] { return stream->record(*over); },
        [&] { return settle(); }};
    Status status;
    for (const std::function<Status()> &next : parts)
      status = status.ok() ? next() : status;
    if (status.ok())
      return found;
    end.abort(status);
    (void)stream->synchronize();
    return status;
  }

private:
  Status settle() {
    while (true) {
      StatusOr<bool> reached = over->query();
      if (!reached.ok() || *reached)
        return reached.status();
      if (Status lost = collectives.look(); !lost.ok())
        return lost;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  static constexpr int64_t kBytes = 4096;
  Communicator &end;
  runtime::DeviceCollectives &collectives;
  runtime::Device *device = nullptr;
  runtime::Arena memory;
  std::unique_ptr<runtime::Stream> stream;
  std::unique_ptr<runtime::Event> ready, over;
};

/// Each kind once on each of three members; the first failure.
Status everyKind(OnDevice &mine, int rank) {
  using Kind = CollectiveKind;
  struct Case {
    Kind kind;
    int64_t count;
    std::vector<int32_t> results;
  };
  // Member r gives r, 10 + r, 20 + r.
  const std::vector<Case> cases = {{Kind::AllReduce, 3, {3, 33, 63}},
                                   {Kind::ReduceScatter, 1, {3 + 30 * rank}},
                                   {Kind::AllGather, 1, {0, 1, 2}},
                                   {Kind::AllToAll, 1, {10 * rank, 10 * rank + 1, 10 * rank + 2}}};
  for (uint32_t i = 0; i < cases.size(); ++i) {
    auto found = mine.run(cases[i].kind, {rank, 10 + rank, 20 + rank}, cases[i].count, cases[i].results.size(), i);
    if (!found.ok())
      return found.status();
    EXPECT_EQ(*found, cases[i].results) << name(cases[i].kind);
  }
  return {};
}

} // namespace

TEST(Nccl, CollectivesStayOnTheDevice) {
  runMembers("nccl", 3, CommunicatorOptions(), [](Communicator &end) {
    OnDevice mine(end);
    for (int round = 0; round < 3; ++round)
      EXPECT_TRUE(done(everyKind(mine, end.rank())));
  });
}

TEST(Nccl, AloneToo) {
  runMembers("nccl", 1, CommunicatorOptions(), [](Communicator &end) {
    OnDevice mine(end);
    auto found = mine.run(CollectiveKind::AllReduce, {4, 5}, 2, 2);
    ASSERT_TRUE(done(found.status()));
    EXPECT_EQ(*found, (std::vector<int32_t>{4, 5}));
  });
}

// Streams do nothing before somebody waits: what a collective reads too early are the bytes of fresh memory.
TEST(Nccl, AMissingEventShows) {
  runMembers("nccl", 2, CommunicatorOptions(), [](Communicator &end) {
    auto found = OnDevice(end).run(CollectiveKind::AllReduce, {4, 5}, 2, 2, 0, false);
    ASSERT_TRUE(done(found.status()));
    EXPECT_EQ(*found, (std::vector<int32_t>{-2, -2}));
  });
}

TEST(Nccl, OtherCountsAreNamedBeforeElementsMove) {
  runMembers("nccl", 2, CommunicatorOptions(), [](Communicator &end) {
    auto found = OnDevice(end).run(CollectiveKind::AllReduce, {4, 5}, 1 + end.rank(), 2);
    EXPECT_TRUE(failsWith(found.status(), {"expects the same collective on all members", "1 x i32", "2 x i32"}));
  });
}

// Whose failure it is says so; the others hear of it.
TEST(Nccl, EachEntryPointFailsOnce) {
  for (const std::string function :
       {"ncclGetUniqueId", "ncclCommInitRankConfig", "ncclCommGetAsyncError", "ncclAllReduce", "ncclReduceScatter",
        "ncclAllGather", "ncclGroupStart", "ncclSend", "ncclRecv", "ncclGroupEnd"}) {
    std::atomic<int> named = 0;
    setenv("DLCFAKE_FAIL", (function + ":2").c_str(), 1);
    if (function == "ncclGetUniqueId" || function == "ncclGroupEnd")
      setenv("DLCFAKE_FAIL", (function + ":1").c_str(), 1);
    runRanks(3, [&](int rank, runtime::Store &store) {
      auto made = create("nccl", store, rank, 3, 0, ample(), CommunicatorOptions());
      Status status = made.status();
      if (made.ok()) {
        OnDevice mine(**made);
        for (int round = 0; round < 2 && status.ok(); ++round)
          status = everyKind(mine, rank);
      }
      named += !status.ok() && status.message().find("ncclSystemError") != std::string::npos;
    });
    EXPECT_GE(named, 1) << function;
    unsetenv("DLCFAKE_FAIL");
  }
}

TEST(Nccl, EachMemberNeedsADeviceOfItsOwn) {
  for (const std::string &message : messagesOn({"cuda:0", "cpu:1"}))
    EXPECT_EQ(message, "group 'data': no NCCL on rank 1 (host h1): nccl expects members on CUDA devices, got cpu:1");
  for (const std::string &message : messagesOn({"cuda:64", "cuda:0"}))
    EXPECT_NE(message.find("no NCCL on rank 0 (host h0): cuda:64: cuDeviceGet: CUDA_ERROR_INVALID_DEVICE"),
              std::string::npos)
        << message;
  for (const std::string &message : messagesOn({"cuda:2", "cuda:2"}))
    EXPECT_NE(message.find("duplicate GPU detected"), std::string::npos) << message;
}

} // namespace dlc::test
