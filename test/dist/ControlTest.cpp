#include "../unit/TestFile.h"
#include "Ranks.h"

#include <cmath>

using namespace dlc;
using namespace dlc::test;

using Row = std::vector<double>;

namespace {

Tensor values(Shape shape) { return sin(arange(double(shape.numel())).to(f32)).reshape(shape); }

/// A step through time and a choice by the loss of the whole batch, which all ranks make alike.
struct Net : nn::Module {
  nn::Linear in = add("in", nn::Linear(3, 4)), next = add("next", nn::Linear(4, 4)), out = add("out", nn::Linear(4, 2));
  Tensor forward(Tensor x) override { // [N, T, 3]
    auto step = [&](Tensor h, Tensor now) {
      Tensor after = tanh(in(now) + next(h));
      return std::pair<Tensor, Tensor>{after, after};
    };
    auto [last, all] = scan(step, zeros({x.size(0), 4}), x.permute({1, 0, 2}));
    return out(last) + all.mean({0}).slice(1, 0, 2);
  }
};

/// The loss and all gradients.
Row gradientsOf(Net &net, const Tensor &x, const Tensor &y) {
  auto step = jit([&](Tensor a, Tensor b) {
    Tensor loss = nn::mse_loss(net(a), b);
    Tensor chosen = cond(loss > 0.1, [&] { return loss * 2; }, [&] { return (net.next.weight * loss).sum(); });
    chosen.backward();
    std::vector<Tensor> all{chosen};
    for (auto &parameter : net.parameters()) {
      all.push_back(parameter.grad());
      parameter.zero_grad();
    }
    return all;
  });
  Row numbers;
  for (const Tensor &tensor : step(x, y))
    for (double value : tensor.to_vector<double>())
      numbers.push_back(value);
  return numbers;
}

std::string bytesOf(int64_t ranks) {
  TemporaryFolder folder;
  asRanks(
      ranks,
      [&] {
        manual_seed(3);
        Net net;
        distributed::DataParallel(net);
        Row found = gradientsOf(net, distributed::shard(values({13, 5, 3})), distributed::shard(values({13, 2})));
        if (distributed::rank() == 0)
          writeFile(folder.file("bytes"), std::string(reinterpret_cast<const char *>(found.data()), found.size() * 8));
      },
      "cpu", "data:8");
  return readFile(folder.file("bytes"));
}

} // namespace

TEST(Control, LoopsAndBranchesOnEachRanksRows) {
  asRanks(2, [] {
    for (int64_t rows : {8, 7, 1}) {
      Net alone, net;
      net.load_state_dict(alone.state_dict());
      Row expected = gradientsOf(alone, values({rows, 5, 3}), values({rows, 2}));
      distributed::DataParallel(net);
      Row found = gradientsOf(net, distributed::shard(values({rows, 5, 3})), distributed::shard(values({rows, 2})));
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-5 * std::abs(expected[i]) + 1e-6) << rows << " rows, number " << i;
    }
  });
}

TEST(Control, LoopsAndBranchesHaveInvariantBits) {
  std::string one = bytesOf(1);
  ASSERT_FALSE(one.empty());
  for (int64_t ranks : {2, 4})
    EXPECT_TRUE(bytesOf(ranks) == one) << ranks << " ranks";
}
