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
