#include "ErrorText.h"

#include "../TestFile.h"

#include <cmath>
#include <set>

using namespace dlc;
using dlc::test::TemporaryFolder;

namespace {

struct Net : nn::Module {
  nn::Linear fc1, fc2;
  explicit Net(int64_t width = 8) : fc1(add("fc1", nn::Linear(4, width))), fc2(add("fc2", nn::Linear(width, 3))) {}
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }
};

TensorDataset samples(double scale = 1) {
  std::vector<float> inputs;
  std::vector<int64_t> targets;
  for (int i = 0; i < 22; ++i) {
    for (int j = 0; j < 4; ++j)
      inputs.push_back(float(scale * std::sin(i * 4 + j)));
    targets.push_back(i % 3);
  }
  return {tensor(inputs, {22, 4}), tensor(targets, {22})};
}

/// A training that can be cut after any step. Batches of 4, 6 a pass; the draw of a random number is part of a step.
struct Training {
  Net net;
  optim::Adam optimizer{net.parameters(), {.lr = 0.05}};
  DataLoader loader;
  int64_t step = 0;

  explicit Training(int64_t batchSize = 4, uint64_t seed = 9)
      : loader(samples(), {.batch_size = batchSize, .shuffle = true, .seed = seed}) {}

  /// Up to that step; after each, `act` with its loss.
  template <typename Act>
  void run(int64_t until, Act act) {
    while (step < until)
      for (auto [x, y] : loader) {
        optimizer.zero_grad();
        Tensor loss = nn::cross_entropy(net(x + 0.01 * rand({x.size(0), 4})), y);
        loss.backward();
        optimizer.step();
        ++step;
        act(loss.item<float>());
        if (step == until)
          return;
      }
  }
};

class CheckpointTest : public ::testing::Test {
protected:
  TemporaryFolder folder;
  std::string directory = folder.file("checkpoints");
};

// Weights, moments, step count, order, position in the epoch, random numbers: all go on as if nothing had happened.
TEST_F(CheckpointTest, AResumedTrainingHasTheSameLosses) {
  constexpr int64_t steps = 15; // more than two passes
  const std::set<int64_t> cuts = {1, 4, 6, 7, 12, 14};
  manual_seed(5);
  std::vector<float> expected;
  Training whole;
  whole.run(steps, [&](float loss) {
    expected.push_back(loss);
    if (cuts.contains(whole.step))
      save_checkpoint(directory, whole.step, {whole.net, whole.optimizer, whole.loader},
                      {.background = whole.step % 2 == 0, .notes = {{"step", std::to_string(whole.step)}}});
  });
  wait_for_checkpoints();
  for (int64_t cut : cuts) {
    std::filesystem::path latest = folder.file("checkpoints/LATEST");
    dlc::test::writeFile(latest, "step-000000" + std::string(cut < 10 ? "0" : "") + std::to_string(cut) + "\n");
    manual_seed(77);
    Training again(4, 1); // another seed: the checkpoint's counts
    Resumed from = resume(directory, {again.net, again.optimizer, again.loader});
    ASSERT_TRUE(from.found);
    ASSERT_EQ(from.step, cut);
    EXPECT_EQ(from.notes.at("step"), std::to_string(cut));
    again.step = from.step;
    std::vector<float> losses;
    again.run(steps, [&](float loss) { losses.push_back(loss); });
    EXPECT_EQ(losses, std::vector<float>(expected.begin() + cut, expected.end())) << "from step " << cut;
  }
}

TEST_F(CheckpointTest, WithoutACheckpointNothingChanges) {
  Training training;
  auto before = training.net.fc1.weight.to_vector<float>();
  Resumed from = resume(directory, {training.net, training.optimizer, training.loader});
  EXPECT_FALSE(from.found);
  EXPECT_EQ(from.step, 0);
  EXPECT_EQ(training.net.fc1.weight.to_vector<float>(), before);
  EXPECT_FALSE(std::filesystem::exists(directory));
}

TEST_F(CheckpointTest, FaultsAreListedTogetherAndChangeNothing) {
  Training training;
  save_checkpoint(directory, 3, {training.net, training.optimizer, training.loader});
  Net wide(16);
  auto before = wide.fc2.weight.to_vector<float>();
  std::string step = directory + "/step-00000003";
  EXPECT_ERROR("resume: " + step +
                   ": does not fit the program; missing: none; unexpected: opt.exp_avg.fc1.weight opt.exp_avg.fc1.bias "
                   "opt.exp_avg.fc2.weight opt.exp_avg.fc2.bias opt.exp_avg_sq.fc1.weight opt.exp_avg_sq.fc1.bias "
                   "opt.exp_avg_sq.fc2.weight opt.exp_avg_sq.fc2.bias opt.step opt.lr opt.beta1 opt.beta2 opt.eps "
                   "opt.weight_decay; differing: fc1.weight is f32[16,4], the checkpoint has f32[8,4]; fc1.bias is "
                   "f32[16], the checkpoint has f32[8]; fc2.weight is f32[3,16], the checkpoint has f32[3,8];",
               resume(directory, {wide}));
  EXPECT_EQ(wide.fc2.weight.to_vector<float>(), before);
  // Only the model, on purpose.
  Net net;
  EXPECT_TRUE(resume(directory, {net}, {.strict = false}).found);
  EXPECT_EQ(net.fc1.weight.to_vector<float>(), training.net.fc1.weight.to_vector<float>());
  EXPECT_ERROR("resume: " + step + ": it has the state of more loaders than the 0 of the program",
               resume(directory, {training.net, training.optimizer}));
  DataLoader other(samples(2), {.batch_size = 4});
  EXPECT_ERROR("resume: " + step +
                   ": expected the loader state of this data set, found one of another with as many samples (their "
                   "content differs)",
               resume(directory, {training.net, training.optimizer, other}));
  EXPECT_ERROR("resume: " + step + ": it has the state of 1 loaders, the program asks for that of more",
               resume(directory, {training.net, training.optimizer, training.loader, training.loader}));
}

TEST_F(CheckpointTest, StateDictsAndOptions) {
  Training training;
  StateDict two;
  two.add("a", training.net.fc1.weight);
  for (int64_t step = 1; step < 4; ++step)
    save_checkpoint(directory, step, {two}, {.keep = 2});
  EXPECT_FALSE(std::filesystem::exists(directory + "/step-00000001"));
  StateDict into;
  Net net;
  into.add("a", net.fc1.weight);
  EXPECT_EQ(resume(directory, {into}).step, 3);
  EXPECT_EQ(net.fc1.weight.to_vector<float>(), training.net.fc1.weight.to_vector<float>());
  EXPECT_ERROR("checkpoint of step 4: tensor 'a': expects unique names, got it twice",
               save_checkpoint(directory, 4, {two, two}));
  EXPECT_ERROR("checkpoint of step 4: state 'note.best': is not JSON",
               save_checkpoint(directory, 4, {two}, {.notes = {{"best", "{"}}}));
  StateDict constant;
  constant.add("a", ones({8, 4}));
  EXPECT_ERROR("resume: 'a' is not the state of a module or an optimizer", resume(directory, {constant}));
  try {
    jit([&](Tensor x) {
      save_checkpoint(directory, 4, {two});
      return x + 1;
    })(ones({2}));
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), "save_checkpoint: not inside a jitted function; call it between steps");
  }
}

TEST_F(CheckpointTest, AnErrorInTheBackgroundSurfacesAtTheNextSave) {
  dlc::test::writeFile(directory, "in the way");
  Net net;
  std::string expected = "checkpoint of step 1: " + directory + ": cannot make the directory: Not a directory";
  save_checkpoint(directory, 1, {net}, {.background = true});
  EXPECT_ERROR(expected, save_checkpoint(directory, 2, {net}, {.background = true}));
  save_checkpoint(directory, 1, {net}, {.background = true});
  EXPECT_ERROR(expected, wait_for_checkpoints());
  wait_for_checkpoints();
}

} // namespace
