#include "Ranks.h"

#include "../unit/TestFile.h"

#include <numeric>

using namespace dlc;
using namespace dlc::test;

namespace {

struct Net : nn::Module {
  nn::Linear fc;
  Net() : fc(add("fc", nn::Linear(4, 3))) {}
  Tensor forward(Tensor x) override { return fc(x); }
};

std::vector<float> numbered(int64_t count, float first) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

TensorDataset samples(float first = 0) { return {tensor(numbered(40, first), {10, 4}), arange(10)}; }

void fill(Net &net, float first) {
  net.fc.weight = tensor(numbered(12, first), {3, 4});
  net.fc.bias = tensor(numbered(3, first), {3});
}

} // namespace

TEST(Checkpoint, IsReadByAnyNumberOfRanks) {
  TemporaryFolder folder;
  std::string directory = folder.file("checkpoints");
  for (int64_t writers : {2, 1, 3}) {
    asRanks(writers, [&] {
      Net net;
      fill(net, float(writers));
      optim::Adam optimizer(net.parameters(), {.lr = 0.5});
      DataLoader loader(samples(), {.batch_size = 4, .shuffle = true, .seed = 6});
      for (auto [x, y] : loader)
        break;
      for (int64_t step = 1; step < 4; ++step)
        save_checkpoint(directory, writers * 10 + step, {net, optimizer, loader},
                        {.keep = 1, .background = step > 1, .notes = {{"writers", std::to_string(writers)}}});
      wait_for_checkpoints();
    });
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 2) << "LATEST and one checkpoint";
    for (int64_t readers : {1, 2, 4})
      asRanks(readers, [&] {
        Net net;
        optim::Adam optimizer(net.parameters(), {.lr = 0.1});
        DataLoader loader(samples(), {.batch_size = 3, .shuffle = true});
        Resumed from = resume(directory, {net, optimizer, loader});
        EXPECT_TRUE(from.found);
        EXPECT_EQ(from.step, writers * 10 + 3);
        EXPECT_EQ(from.notes.at("writers"), std::to_string(writers));
        EXPECT_EQ(net.fc.weight.to_vector<float>(), numbered(12, float(writers)));
        EXPECT_EQ(net.fc.bias.to_vector<float>(), numbered(3, float(writers)));
        EXPECT_EQ(optimizer.lr(), 0.5);
        int64_t rest = 0;
        for (auto [x, y] : loader)
          rest += y.size(0);
        EXPECT_EQ(rest, 6);
      });
  }
}

TEST(Checkpoint, WhatOneRankCannotDoIsTheErrorOfAll) {
  TemporaryFolder folder;
  std::string directory = folder.file("checkpoints");
  asRanks(3, [&] {
    Net net;
    fill(net, 1);
    DataLoader loader(samples(), {.batch_size = 4});
    save_checkpoint(directory, 1, {net, loader});
    fill(net, 2);
    std::string step = directory + "/step-00000001: ";
    DataLoader other(samples(distributed::rank() == 1 ? 5 : 0), {.batch_size = 4});
    EXPECT_EQ(
        errorOf([&] { resume(directory, {net, other}); }),
        "resume: " + step +
            "rank 1: expected the loader state of this data set, found one of another with as many samples (their "
            "content differs)");
    EXPECT_EQ(net.fc.bias.to_vector<float>(), numbered(3, 2)) << "nothing was written";
    StateDict more = net.state_dict();
    if (distributed::rank() == 2)
      more.add("more", net.fc.bias);
    EXPECT_EQ(
        errorOf([&] { save_checkpoint(directory, 2, {more}); }),
        "checkpoint of step 2: rank 2 saves other tensors than rank 0: names, types, shapes or their order differ");
    EXPECT_EQ(resume(directory, {net, loader}).step, 1) << "and the job goes on";
    EXPECT_EQ(net.fc.bias.to_vector<float>(), numbered(3, 1));
  });
}
