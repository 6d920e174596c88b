#include "../TestFile.h"
#include "ErrorText.h"

#include <cmath>
#include <fstream>

using namespace dlc;
using Floats = std::vector<float>;

namespace {

struct Net : nn::Module {
  nn::Linear first = add("fc1", nn::Linear(3, 4));
  Parameter scale = parameter("scale", {4}, init::ones());
  Buffer count = buffer("count", {}, init::zeros());
  nn::Sequential rest = add("rest", nn::Sequential(nn::ReLU(), nn::Linear(4, 2), [](Tensor x) { return x * 2; }));
  Tensor forward(Tensor x) override { return rest(first(x) * scale); }
};

std::vector<std::string> names(const StateDict &state) {
  std::vector<std::string> list;
  for (const auto &[name, tensor] : state)
    list.push_back(name);
  return list;
}

} // namespace

TEST(Module, NamesAndOrderAreThoseOfPyTorch) {
  EXPECT_EQ(names(Net().state_dict()),
            (std::vector<std::string>{"scale", "count", "fc1.weight", "fc1.bias", "rest.1.weight", "rest.1.bias"}));
  nn::ModuleList<nn::Linear> list(2, [](int i) { return nn::Linear(i + 1, 1); });
  EXPECT_EQ(names(list.state_dict()), (std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias"}));
}

TEST(Module, CopiesAliasAndClonesDoNot) {
  Net model, alias = model, copy = nn::clone(model);
  {
    NoGrad off;
    model.scale = full({4}, 3);
  }
  EXPECT_EQ(alias.scale.to_vector<float>(), (Floats{3, 3, 3, 3}));
  EXPECT_EQ(copy.scale.to_vector<float>(), (Floats{1, 1, 1, 1}));
  EXPECT_EQ(copy.first.weight.to_vector<float>(), model.first.weight.to_vector<float>());
  EXPECT_FALSE(copy.first.weight.shares_storage_with(model.first.weight));
  Tensor x = tensor({{1, 2, 3}});
  EXPECT_NE(copy(x).to_vector<float>(), model(x).to_vector<float>());
}

TEST(Module, SeedsDecideInitialValues) {
  manual_seed(0);
  nn::Linear a(100, 7);
  manual_seed(0);
  nn::Linear b(100, 7);
  nn::Linear c(100, 7);
  EXPECT_EQ(a.weight.to_vector<float>(), b.weight.to_vector<float>());
  EXPECT_NE(a.weight.to_vector<float>(), c.weight.to_vector<float>());
  EXPECT_NE(a.weight.to_vector<float>()[0], a.bias.to_vector<float>()[0]);
  for (float value : a.weight.to_vector<float>())
    EXPECT_LE(std::abs(value), 0.1f);
}

TEST(Module, AssignmentWritesTheVariable) {
  Net model;
  Buffer alias = model.count;
  model.count = 0.9 * model.count + 1;
  model.count = 0.9 * model.count + 1;
  EXPECT_FLOAT_EQ(alias.item<float>(), 1.9f);
  EXPECT_EQ(model.scale.name(), "scale");
  EXPECT_EQ(model.first.weight.name(), "fc1.weight");
}

TEST(Module, MessagesNameTheParameterAndTheCallers) {
  Net model;
  try {
    model(zeros({2, 5}));
    FAIL() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.message(), "linear: input has 5 features, fc1.weight [4, 3] takes 3");
    EXPECT_EQ(error.where().line(), 17u) << "the call in forward()";
    ASSERT_EQ(error.chain().size(), 1u);
    EXPECT_EQ(error.chain()[0].line(), unsigned(__LINE__ - 6));
  }
}

TEST(Module, LoadStateDictListsAllFaultsAtOnce) {
  nn::Linear layer(2, 3);
  StateDict state;
  state.add("weight", zeros({3, 4}));
  state.add("head.bias", zeros({1}));
  EXPECT_ERROR("load_state_dict: missing 1: bias; unexpected 1: head.bias; shape differs 1: weight is [3, 2], file has "
               "[3, 4]",
               layer.load_state_dict(state));
  StateDict right;
  right.add("weight", full({3, 2}, 2));
  right.add("bias", ones({3}));
  layer.load_state_dict(right);
  EXPECT_EQ(layer(tensor({1, 1})).to_vector<float>(), (Floats{5, 5, 5}));
  EXPECT_TRUE(layer.weight.requires_grad());
}

TEST(Module, CheckpointsRoundTrip) {
  test::TemporaryFolder folder;
  std::string path = folder.file("module.safetensors");
  Net model, other;
  save(model.state_dict(), path);
  other.load_state_dict(load(path));
  EXPECT_EQ(other.first.weight.to_vector<float>(), model.first.weight.to_vector<float>());
  EXPECT_THROW(load(folder.file("missing.safetensors")), Error);
}

TEST(Module, StateIsLaidOutInOrderAndNeverMoves) {
  Net model;
  const float *weight = model.first.weight.data<float>().data();
  const float *bias = model.first.bias.data<float>().data(), *scale = model.scale.data<float>().data();
  EXPECT_EQ(weight - scale, 16);
  EXPECT_EQ(bias - weight, 16);
  model(zeros({1, 3})).sum().backward();
  EXPECT_EQ(model.first.weight.data<float>().data(), weight);
}

TEST(Loss, SHAPE_13_TransposedLogits) {
  Tensor logits = tensor({0, 0, 10, 0, 0, 10, 0, 0}).view({2, 2, 2});
  Tensor targets = tensor({{0, 1}, {0, 0}}, i64);
  Tensor loss =
      nn::cross_entropy(logits.transpose(0, 1).reshape({4, 2}), targets.view({4}), {.reduction = nn::Reduction::Sum});
  // Rows (b, s): [0,0]->0, [0,10]->1, [10,0]->0, [0,0]->0.
  EXPECT_NEAR(loss.item(), 1.3863851, 1e-6);
}

TEST(Loss, CrossEntropyMessages) {
  Tensor logits = zeros({64, 10});
  EXPECT_ERROR("cross_entropy: target is f32 [64]; expected i64 class indices [64] or probabilities [64, 10]",
               nn::cross_entropy(logits, zeros({64})));
  Tensor bad = zeros({64}, i64);
  bad[3] = 10;
  dlc::sync();
  EXPECT_ERROR("cross_entropy: target 10 of row 3 is outside [0, 10)", nn::cross_entropy(logits, bad));
}

TEST(Loss, ProbabilitiesAndIndicesAgree) {
  Tensor logits = tensor({{1, 2, 3}, {0, -1, 4}}), target = tensor({2, 0}, i64);
  double byIndex = nn::cross_entropy(logits, target).item();
  EXPECT_NEAR(nn::cross_entropy(logits, one_hot(target, 3).to(f32)).item(), byIndex, 1e-6);
  EXPECT_NEAR(nn::mse_loss(logits, logits + 2).item(), 4, 1e-6);
}
