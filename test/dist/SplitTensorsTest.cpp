#include "Ranks.h"

#include <sstream>

using namespace dlc;
using namespace dlc::test;

using Row = std::vector<double>;

namespace {
/// 0, 1, 2, … of the shape.
Tensor counted(Shape shape) { return arange(double(shape.numel())).reshape(shape); }
} // namespace

TEST(SplitTensors, ShowTheWholeAndHoldTheirRows) {
  asRanks(3, [] {
    Tensor whole = counted({7, 2}), x = distributed::shard(whole);
    EXPECT_TRUE(distributed::is_split(x));
    EXPECT_EQ(x.shape(), whole.shape());
    EXPECT_EQ(x.to_vector<double>(), whole.to_vector<double>());
    std::vector<Row> rows{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}, {12, 13}};
    EXPECT_EQ(localValues(x), rows[size_t(distributed::rank())]);
    EXPECT_EQ(x.data<float>()[13], 13);
    std::ostringstream text, expected;
    text << x;
    expected << whole;
    EXPECT_EQ(text.str(), expected.str());
  });
}

TEST(SplitTensors, ComeFromUnevenRowsOfRanks) {
  asRanks(3, [] {
    int64_t rank = distributed::rank(), first = rank * (rank + 1) / 2; // 0 rows, 1 row, 2 rows
    Tensor x = distributed::from_local(counted({3, 4}).slice(0, first - rank, first));
    EXPECT_EQ(x.shape(), (Shape{3, 4}));
    EXPECT_EQ(x.to_vector<double>(), counted({3, 4}).to_vector<double>());
    EXPECT_EQ(distributed::to_local(x).size(0), rank);
    std::string message = errorOf([&] { distributed::from_local(counted({2, rank == 2 ? 5 : 4})); });
    EXPECT_EQ(message, "from_local: rank 0 gives rows of f32 [*, 4], rank 2 of f32 [*, 5]");
    EXPECT_EQ(errorOf([] { distributed::from_local(tensor(1)); }), "from_local: expected rows, got a tensor of rank 0");
  });
}

TEST(SplitTensors, HaveViewsAsAnyTensor) {
  asRanks(2, [] {
    Tensor whole = counted({5, 4}), x = distributed::shard(whole);
    auto expectSame = [](const Tensor &got, const Tensor &want) {
      EXPECT_EQ(got.shape(), want.shape());
      EXPECT_EQ(got.to_vector<double>(), want.to_vector<double>());
    };
    expectSame(x.t(), whole.t());
    expectSame(x.slice(0, 1, 4), whole.slice(0, 1, 4));
    expectSame(x.slice(1, 1, 3), whole.slice(1, 1, 3));
    expectSame(x[3], whole[3]);
    expectSame(x.reshape({10, 2}), whole.reshape({10, 2}));
    auto f = jit([](Tensor in) { return in * in + 1; });
    for (int i = 0; i < 3; ++i) {
      expectSame(f(x.t()), whole.t() * whole.t() + 1);
      expectSame(f(x.slice(1, 0, 2)), whole.slice(1, 0, 2) * whole.slice(1, 0, 2) + 1);
      expectSame(f(x.flatten()), whole.flatten() * whole.flatten() + 1);
    }
    x += 1;
    expectSame(x, whole + 1);
    x[4].zero_();
    EXPECT_EQ(x.sum().item(), (whole + 1).slice(0, 0, 4).sum().item());
  });
}

// Two processes of two members: the second rank's second member has no rows.
TEST(SplitTensors, LieOnAllMembersOfAProcess) {
  asRanks(
      2,
      [] {
        EXPECT_EQ(distributed::num_members(), 4);
        EXPECT_EQ(distributed::world_size(), 2);
        Tensor whole = counted({5, 2}), x = distributed::shard(whole);
        EXPECT_EQ(x.to_vector<double>(), whole.to_vector<double>());
        EXPECT_EQ(localValues(x), distributed::rank() ? (Row{8, 9}) : (Row{0, 1, 2, 3, 4, 5, 6, 7}));
        int64_t first = 2 * distributed::rank();
        Tensor own = distributed::from_local(whole.slice(0, first, distributed::rank() ? 5 : 2));
        EXPECT_EQ(own.to_vector<double>(), whole.to_vector<double>());
        EXPECT_EQ(localValues(own), whole.slice(0, first, distributed::rank() ? 5 : 2).to_vector<double>());
        auto rank = double(distributed::rank());
        Tensor sum = tensor({rank + 1}), most = tensor({rank + 1});
        distributed::all_reduce(sum);
        distributed::all_reduce(most, distributed::ReduceOp::Max);
        EXPECT_EQ(sum.item(), 3);
        EXPECT_EQ(most.item(), 2);
        EXPECT_EQ(distributed::all_gather(tensor({rank}))[1].item(), 1);
        Tensor given = tensor({rank + 7});
        distributed::broadcast(given, 1);
        EXPECT_EQ(given.item(), 8);
      },
      "cpu:2");
}

TEST(SplitTensors, ReshapedWithinRowsStayWhereTheyAre) {
  asRanks(2, [] {
    Tensor whole = counted({5, 2, 3}), x = distributed::shard(whole);
    Tensor flat = x.flatten(1), one = x.unsqueeze(2);
    EXPECT_TRUE(distributed::is_split(flat));
    EXPECT_TRUE(distributed::is_split(one));
    EXPECT_EQ(flat.to_vector<double>(), whole.to_vector<double>());
    EXPECT_EQ(localValues(flat).size(), distributed::rank() ? 12u : 18u);
  });
}
