// What the engine over NCCL does beside what all engines do.
#include "Members.h"
#include "Values.h"

#include <cstdlib>

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
