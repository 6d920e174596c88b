#include "ErrorText.h"

#include <algorithm>

using namespace dlc;

namespace {
std::vector<int64_t> epoch(DataLoader &loader, std::vector<int64_t> *sizes = nullptr) {
  std::vector<int64_t> seen;
  for (auto [x, y] : loader) {
    for (int64_t label : y.to_vector<int64_t>())
      seen.push_back(label);
    if (sizes)
      sizes->push_back(x.size(0));
    EXPECT_EQ(x.to_vector<float>()[0], float(y.to_vector<int64_t>()[0] * 2));
  }
  return seen;
}
TensorDataset numbers() { return TensorDataset((arange(20, f32)).view({10, 2}), arange(10)); }
} // namespace

TEST(Data, EveryEpochHasEverySampleInAnotherOrder) {
  DataLoader loader(numbers(), {.batch_size = 4, .shuffle = true, .seed = 3});
  std::vector<int64_t> sizes, first = epoch(loader, &sizes), second = epoch(loader);
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 2}));
  EXPECT_NE(first, second);
  loader.set_epoch(0);
  EXPECT_EQ(epoch(loader), first);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Data, ALoaderMadeInEachEpochGoesOn) {
  TensorDataset data = numbers();
  auto pass = [&] {
    DataLoader loader(data, {.batch_size = 10, .shuffle = true});
    return epoch(loader);
  };
  EXPECT_NE(pass(), pass());
}

TEST(Data, DropLastAndOrder) {
  DataLoader loader(numbers(), {.batch_size = 4, .drop_last = true});
  EXPECT_EQ(loader.size(), 2);
  EXPECT_EQ(epoch(loader), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Data, AStateGoesOnInTheMiddleOfAPass) {
  DataLoaderOptions options{.batch_size = 3, .shuffle = true, .seed = 3};
  DataLoader loader(numbers(), options);
  std::vector<int64_t> whole = epoch(loader), second = epoch(loader);
  // After each batch of the second pass; other batch sizes and seeds make no difference.
  loader.set_epoch(1);
  size_t given = 0;
  for (auto [x, y] : loader) {
    given += size_t(y.size(0));
    BatchState state = loader.state_dict();
    EXPECT_EQ(state.epoch, 1U);
    EXPECT_EQ(state.consumed, int64_t(given));
    for (int64_t batchSize : {1, 3, 4}) {
      DataLoader other(numbers(), {.batch_size = batchSize, .shuffle = true, .seed = 8});
      other.load_state_dict(state);
      EXPECT_EQ(other.state_dict(), state);
      EXPECT_EQ(other.epoch(), 1U);
      EXPECT_EQ(epoch(other), std::vector<int64_t>(second.begin() + int64_t(given), second.end()));
      EXPECT_EQ(other.epoch(), 2U);
      EXPECT_EQ(epoch(other).size(), 10U);
      other.set_epoch(0);
      EXPECT_EQ(epoch(other), whole) << "the order is that of the state's seed from then on";
    }
  }
  EXPECT_EQ(given, 10U);
  EXPECT_EQ(loader.state_dict().epoch, 2U);
  EXPECT_EQ(loader.state_dict().consumed, 0);
}

TEST(Data, AStateOfAPassThatWasLeft) {
  DataLoader loader(numbers(), {.batch_size = 4});
  DataLoader copy = loader;
  for (auto [x, y] : loader)
    break;
  EXPECT_EQ(copy.state_dict().consumed, 4) << "copies share the position";
  EXPECT_EQ(epoch(loader).size(), 10U) << "the next pass is a new one";
  loader.load_state_dict({.epoch = 5, .consumed = 8, .size = 10});
  loader.set_epoch(2);
  EXPECT_EQ(epoch(loader).size(), 10U) << "set_epoch is the last word";
}

TEST(Data, AStateOfOtherDataIsRefused) {
  DataLoader loader(numbers(), {.batch_size = 4}), fewer(TensorDataset(zeros({9, 2}), arange(9)), {.batch_size = 4}),
      others(TensorDataset(zeros({10, 2}), arange(10)), {.batch_size = 4});
  BatchState state = loader.state_dict();
  EXPECT_ERROR("load_state_dict: expected the loader state of a data set of 9 samples, found one of 10",
               fewer.load_state_dict(state));
  EXPECT_ERROR("load_state_dict: expected the loader state of this data set, found one of another with as many samples "
               "(their content differs)",
               others.load_state_dict(state));
  DataLoader same(numbers(), {.batch_size = 4});
  same.load_state_dict(state);
}

TEST(Data, AnyTypeWithSizeAndGet) {
  struct Squares {
    int64_t size() const { return 3; }
    std::pair<Tensor, Tensor> get(int64_t i) const { return {tensor({double(2 * i), 0}), tensor(double(i), i64)}; }
  };
  DataLoader loader(Squares(), {.batch_size = 2});
  EXPECT_EQ(epoch(loader), (std::vector<int64_t>{0, 1, 2}));
}

TEST(Data, BadOptionsAreRefused) {
  EXPECT_THROW(DataLoader(numbers(), {.batch_size = 0}), Error);
  EXPECT_ERROR("TensorDataset: inputs are [2], targets [3]; expected equal first dims",
               TensorDataset(zeros({2}), zeros({3})));
}
