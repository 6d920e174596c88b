#include "Ranks.h"

#include <algorithm>
#include <cmath>

using namespace dlc;
using namespace dlc::test;

using Row = std::vector<double>;

namespace {

struct Net : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(3, 8)), fc2 = add("fc2", nn::Linear(8, 2));
  Tensor forward(Tensor x) override { return fc2(relu(fc1(x))); }
};

Tensor values(Shape shape) { return sin(arange(double(shape.numel())).to(f32)).reshape(shape); }

/// The last lines that were told.
std::vector<std::string> remarks;
void keepRemarks() {
  set_remark_handler([](const std::string &text) { remarks.push_back(text); });
}

/// All ranks have the same bits of every parameter.
void expectEqualState(const nn::Module &model) {
  for (const auto &[name, tensor] : model.state_dict()) {
    std::vector<Tensor> all = distributed::all_gather(tensor);
    for (const Tensor &one : all)
      EXPECT_EQ(one.to_vector<double>(), all[0].to_vector<double>()) << name;
  }
}

/// Losses of steps of SGD with momentum on batches of an epoch, two epochs.
Row losses(Net &model, const TensorDataset &data, bool split, bool jitted, const Device &device = {}) {
  optim::SGD optimizer(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  auto body = [&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = nn::mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  };
  auto step = jit(body);
  Row list;
  for (int epoch = 0; epoch < 2; ++epoch) {
    DataLoader loader(data, {.batch_size = 5, .shuffle = true, .seed = 3, .split = split});
    loader.set_epoch(uint64_t(epoch));
    for (auto [x, y] : loader)
      list.push_back((jitted ? step(x.to(device), y.to(device)) : body(x.to(device), y.to(device))).item());
  }
  return list;
}

/// 13 samples in batches of 5, 5 and 3: on two ranks and on four no batch is even, on four the last has a rank without
/// rows.
void expectTheCurveOfOneRank(int64_t ranks, bool jitted, const std::string &devices = "cpu") {
  auto compare = [&] {
    TensorDataset data(values({13, 3}), values({13, 2}));
    Net alone, model;
    model.load_state_dict(alone.state_dict());
    Row expected = losses(alone, data, false, jitted);
    Device device(devices.substr(0, devices.find(':')));
    model.to(device);
    auto parallel = distributed::DataParallel(model);
    Row found = losses(parallel.module, data, true, jitted, device);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-5 * std::abs(expected[i]) + 1e-7) << "step " << i;
    expectEqualState(model);
  };
  asRanks(ranks, compare, devices);
}

} // namespace

TEST(DataParallel, TwoRanksTrainAsOne) { expectTheCurveOfOneRank(2, true); }
TEST(DataParallel, FourRanksTrainAsOne) { expectTheCurveOfOneRank(4, true); }
TEST(DataParallel, TwoRanksTrainAsOneWithoutJit) { expectTheCurveOfOneRank(2, false); }

TEST(DataParallel, FourMembersOfAProcessTrainAsOne) { expectTheCurveOfOneRank(1, true, "cpu:4"); }
TEST(DataParallel, TwoRanksOfTwoMembersTrainAsOne) { expectTheCurveOfOneRank(2, true, "cpu:2"); }
TEST(DataParallel, MembersOfAProcessTrainAsOneWithoutJit) { expectTheCurveOfOneRank(1, false, "cpu:2"); }

TEST(DataParallel, TwoRanksTrainAsOneOnSimulatedDevices) { expectTheCurveOfOneRank(2, true, "sim"); }
TEST(DataParallel, SimulatedDevicesOfAProcessTrainAsOne) { expectTheCurveOfOneRank(1, true, "sim:2"); }
TEST(DataParallel, SimulatedDevicesOfAProcessTrainAsOneWithoutJit) { expectTheCurveOfOneRank(1, false, "sim:3"); }
TEST(DataParallel, TwoRanksOfTwoSimulatedDevicesTrainAsOne) { expectTheCurveOfOneRank(2, true, "sim:2"); }

TEST(DataParallel, RefusesModelsThatAreElsewhere) {
  asRanks(
      1,
      [] {
        Net model;
        std::string message;
        try {
          distributed::DataParallel(model);
        } catch (const Error &error) {
          message = error.message();
        }
        EXPECT_EQ(message, "DataParallel: fc1.weight is on cpu, this rank's device is sim:0; move the model with "
                           ".to(distributed::device()) before");
        model.to(distributed::device());
        distributed::DataParallel(model);
      },
      "sim:1");
}

// By the CUDA driver's code; ranks inherit the environment.
TEST(DataParallel, GpusTrainAsOne) {
  setenv("DLC_GPU_LIBRARY", DLC_TEST_GPU_LIBRARY, 0);
  setenv("DLCFAKE_DEVICES", "4", 1);
  expectTheCurveOfOneRank(1, true, "cuda:2");
  expectTheCurveOfOneRank(1, true, "cuda:4");
  expectTheCurveOfOneRank(2, true, "cuda");
  expectTheCurveOfOneRank(2, true, "cuda:2");
  unsetenv("DLCFAKE_DEVICES");
}

TEST(DataParallel, EverySampleIsLoadedOnce) {
  asRanks(3, [] {
    TensorDataset data(arange(13.0).reshape({13, 1}), arange(13));
    Net model;
    distributed::DataParallel(model);
    Row seen;
    for (auto [x, y] : DataLoader(data, {.batch_size = 4, .shuffle = true})) {
      EXPECT_EQ(x.size(0), y.size(0));
      Row own = localValues(x);
      EXPECT_EQ(own, localValues(y));
      seen.insert(seen.end(), own.begin(), own.end());
    }
    seen.resize(13, -1); // ranks have different counts
    Row all;
    for (const Tensor &one : distributed::all_gather(tensor(seen, {13})))
      for (double sample : one.to_vector<double>())
        if (sample >= 0)
          all.push_back(sample);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, arange(13.0).to_vector<double>());
  });
}

TEST(DataParallel, ALoaderMayGiveEveryRankTheWholeBatch) {
  asRanks(2, [] {
    Net model;
    distributed::DataParallel(model);
    TensorDataset data(arange(6.0).reshape({6, 1}), arange(6));
    for (auto [x, y] : DataLoader(data, {.batch_size = 6, .split = false})) {
      EXPECT_FALSE(distributed::is_split(x));
      EXPECT_EQ(x.to_vector<double>(), arange(6.0).to_vector<double>());
    }
  });
}

struct Normed : nn::Module {
  nn::Linear fc1 = add("fc1", nn::Linear(3, 8));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(8));
  nn::Linear fc2 = add("fc2", nn::Linear(8, 2));
  Tensor forward(Tensor x) override { return fc2(relu(norm(fc1(x)))); }
};

// Batch norm is over the whole batch, and running statistics are the same on all ranks.
TEST(DataParallel, BatchNormSeesTheWholeBatch) {
  asRanks(3, [] {
    Normed alone, model;
    model.load_state_dict(alone.state_dict());
    distributed::DataParallel(model);
    auto train = [](Normed &net, const Tensor &x, const Tensor &y) {
      optim::SGD optimizer(net.parameters(), {.lr = 0.1});
      Tensor loss;
      for (int i = 0; i < 3; ++i) {
        optimizer.zero_grad();
        loss = nn::mse_loss(net(x), y);
        loss.backward();
        optimizer.step();
      }
      return loss.item();
    };
    Tensor x = values({7, 3}), y = values({7, 2});
    double expected = train(alone, x, y);
    EXPECT_NEAR(train(model, distributed::shard(x), distributed::shard(y)), expected, 1e-5);
    Row mean = alone.norm.running_mean.to_vector<double>(), found = model.norm.running_mean.to_vector<double>();
    for (size_t i = 0; i < mean.size(); ++i)
      EXPECT_NEAR(found[i], mean[i], 1e-6);
    expectEqualState(model);
  });
}

// As PyTorch's DistributedDataParallel: each rank's rows by their own statistics, running ones of rank 0.
TEST(DataParallel, BatchNormWithoutSyncIsEachRanksOwn) {
  asRanks(2, [] {
    for (bool jitted : {true, false}) {
      nn::BatchNorm1d alone(3), apart(3, {.sync = false});
      distributed::DataParallel(apart);
      Tensor x = distributed::shard(values({8, 3}));
      auto forward = jit([&](Tensor in) { return apart(in) * 2; });
      Tensor y = jitted ? forward(x) : apart(x) * 2;
      Row found = localValues(y), expected = (alone(distributed::to_local(x)) * 2).to_vector<double>();
      ASSERT_EQ(found.size(), 12u);
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-5);
      distributed::broadcast(alone.running_mean);
      distributed::broadcast(alone.running_var);
      for (const auto &[buffer, own] :
           {std::pair(apart.running_mean, alone.running_mean), {apart.running_var, alone.running_var}}) {
        Row got = buffer.to_vector<double>(), want = own.to_vector<double>();
        for (size_t i = 0; i < got.size(); ++i)
          EXPECT_NEAR(got[i], want[i], 1e-6);
      }
      EXPECT_EQ(
          errorOf([&] { apart(distributed::shard(values({5, 3}))); }),
          "BatchNorm1d: without sync the batch is dealt out in 2 equal blocks, got 5 rows; drop_last of the loader "
          "leaves short batches out");
    }
  });
}

TEST(DataParallel, ResultsStaySplitUntilTheyAreRead) {
  asRanks(2, [] {
    Net model;
    distributed::DataParallel(model);
    Tensor whole = values({6, 3}), x = distributed::shard(whole);
    auto predict = jit([&](Tensor in) {
      NoGrad off;
      return model(in);
    });
    Tensor y = predict(x);
    EXPECT_TRUE(distributed::is_split(y));
    Row found = y.to_vector<double>(), expected = model(whole).to_vector<double>();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-6);
    EXPECT_NEAR(predict(distributed::shard(whole * 2)).sum().item(), model(whole * 2).sum().item(), 1e-5)
        << "the memory of a result is used again";
    Tensor row = x[4] + x.slice(1, 1, 2).sum();
    EXPECT_NEAR(row.sum().item(), (whole[4] + whole.slice(1, 1, 2).sum()).sum().item(), 1e-5);
  });
}

TEST(DataParallel, TakesTheStateOfRankZero) {
  asRanks(2, [] {
    keepRemarks();
    manual_seed(uint64_t(distributed::rank()));
    Net model;
    distributed::DataParallel(model);
    expectEqualState(model);
    ASSERT_EQ(remarks.size(), distributed::rank() == 0 ? 1u : 0u);
    if (!remarks.empty())
      EXPECT_NE(remarks[0].find("rank 1 had other values of fc1.weight, fc1.bias, fc2.weight and 1 more; all ranks "
                                "have those of rank 0 now"),
                std::string::npos)
          << remarks[0];
  });
}

TEST(DataParallel, RefusesModelsThatDiffer) {
  asRanks(2, [] {
    struct Changed : Net {
      explicit Changed(bool extra) {
        if (extra)
          add("fc3", nn::Linear(2, 4));
      }
    } model(distributed::rank() == 1);
    EXPECT_EQ(errorOf([&] { distributed::DataParallel(model); }),
              "DataParallel: the model of rank 1 is another than that of rank 0: it has fc3.weight f32 [4, 2] where "
              "rank 0 has no more");
  });
  Net model;
  EXPECT_EQ(errorOf([&] { distributed::DataParallel(model); }),
            "DataParallel: this process is in no job; call distributed::init() before");
}

// PyTorch's habit: rank 0 prints, the others do not look.
TEST(DataParallel, OneRankMayReadTheLossOfAStepAlone) {
  for (bool jitted : {true, false})
    asRanks(2, [&] {
      Net model;
      distributed::DataParallel(model);
      optim::SGD optimizer(model.parameters(), {.lr = 0.1});
      Tensor x = distributed::shard(values({4, 3})), y = distributed::shard(values({4, 2}));
      auto body = [&](Tensor in, Tensor target) {
        optimizer.zero_grad();
        Tensor loss = nn::mse_loss(model(in), target);
        loss.backward();
        optimizer.step();
        return loss;
      };
      auto step = jit(body);
      std::vector<Tensor> kept;
      double last = 1e9;
      for (int i = 0; i < 4; ++i) {
        Tensor loss = jitted ? step(x, y) : body(x, y);
        if (distributed::rank() != 0)
          continue;
        EXPECT_LT(loss.item(), last);
        last = loss.item();
        kept.push_back(loss);
      }
      expectEqualState(model);
    });
}

// One rank has a step more: the others have left, and nobody hangs.
TEST(DataParallel, ARankThatStopsEarlyIsNamed) {
  std::string message = errorOf([] {
    distributed::spawn(
        [](int64_t rank) {
          distributed::init({.timeout = std::chrono::seconds(100)});
          Net model;
          distributed::DataParallel(model);
          Tensor x = distributed::shard(values({4, 3}));
          auto forward = jit([&](Tensor in) { return model(in).sum(); });
          for (int step = 0; step < (rank == 0 ? 4 : 3); ++step)
            forward(x).item();
        },
        2);
  });
  EXPECT_TRUE(message.starts_with("spawn: rank 0 failed: ")) << message;
  EXPECT_NE(message.find("left early: it ended after step 3"), std::string::npos) << message;
}

TEST(DataParallel, TrainsOnRowsThatRanksLoadedThemselves) {
  asRanks(3, [] {
    int64_t rank = distributed::rank();
    Tensor x = values({6, 3}), y = values({6, 2}); // ranks have 1, 2 and 3 rows
    Net alone, model;
    model.load_state_dict(alone.state_dict());
    int64_t first = rank * (rank + 1) / 2, stop = first + rank + 1;
    distributed::DataParallel(model);
    auto train = [](Net &net, const Tensor &input, const Tensor &target) {
      optim::SGD optimizer(net.parameters(), {.lr = 0.1});
      nn::mse_loss(net(input), target).backward();
      optimizer.step();
      return nn::mse_loss(net(input), target).item();
    };
    double expected = train(alone, x, y);
    EXPECT_NEAR(train(model, distributed::from_local(x.slice(0, first, stop)),
                      distributed::from_local(y.slice(0, first, stop))),
                expected, 1e-6);
  });
}
