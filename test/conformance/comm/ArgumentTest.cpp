#include "Members.h"
#include "Values.h"

#include <limits>

namespace dlc::test {

namespace {

bool refuses(const StatusOr<WorkPtr> &started) {
  return !started.ok() && started.status().code() == StatusCode::InvalidInput;
}

} // namespace

TEST_P(Engine, WrongArgumentsAreRefusedAndChangeNothing) {
  runMembers(GetParam(), 2, [&](Communicator &end) {
    std::vector<float> a(8), b(8);
    std::vector<int32_t> c(8);
    std::vector<Bit> bits(4);
    Elements all = elements(a), half{b.data(), 4, DType::F32};
    std::vector<int64_t> even = {4, 4}, negative = {-1, 9}, few = {8}, more = {4, 5}, less = {4, 3};
    EXPECT_TRUE(refuses(end.allReduce(op(0), {nullptr, 1, DType::F32}, Reduce::Sum)));
    EXPECT_TRUE(refuses(end.allReduce(op(0), {a.data(), -1, DType::F32}, Reduce::Sum)));
    EXPECT_TRUE(
        refuses(end.allReduce(op(0), {a.data(), std::numeric_limits<int64_t>::max(), DType::F32}, Reduce::Sum)));
    EXPECT_TRUE(refuses(end.allReduce(op(0), {a.data(), 1, DType(77)}, Reduce::Sum)));
    EXPECT_TRUE(refuses(end.allReduce(op(0), all, Reduce(9))));
    EXPECT_TRUE(refuses(end.allReduce(op(0), elements(bits), Reduce::Sum)));
    EXPECT_TRUE(refuses(end.reduceScatter(op(0), all, elements(b), Reduce::Sum)));
    EXPECT_TRUE(refuses(end.reduceScatter(op(0), all, {c.data(), 4, DType::I32}, Reduce::Sum)));
    EXPECT_TRUE(refuses(end.reduceScatter(op(0), all, {a.data() + 2, 4, DType::F32}, Reduce::Sum)));
    EXPECT_TRUE(refuses(end.allGather(op(0), {b.data(), 3, DType::F32}, all)));
    EXPECT_TRUE(refuses(end.allGather(op(0), {a.data() + 4 - 4 * end.rank(), 4, DType::F32}, all)));
    EXPECT_TRUE(refuses(end.broadcast(op(0), all, 2)));
    EXPECT_TRUE(refuses(end.broadcast(op(0), all, -1)));
    EXPECT_TRUE(refuses(end.allToAll(op(0), all, all, even, even)));
    for (const std::vector<int64_t> &wrong : {negative, few, more, less}) {
      EXPECT_TRUE(refuses(end.allToAll(op(0), all, elements(b), wrong, even)));
      EXPECT_TRUE(refuses(end.allToAll(op(0), all, elements(b), even, wrong)));
    }
    EXPECT_TRUE(refuses(end.send(op(0), half, end.rank())));
    EXPECT_TRUE(refuses(end.receive(op(0), half, 2)));
    StatusOr<WorkPtr> refused = end.broadcast({{3, 7, 12}, nullptr}, all, 2);
    EXPECT_EQ(refused.status().message(), "broadcast #7 of executable 3, step 12: expects a member below 2, got 2");
    EXPECT_TRUE(done(finish(end.reduceScatter(op(0), all, half, Reduce::Sum))));
  });
}

TEST(Engines, UnknownOnesAreRefused) {
  for (const char *name : {"nope", "", "../gloo", "Gloo", "a/b"}) {
    StatusOr<runtime::CommunicatorFactory *> factory = runtime::CommunicatorFactory::open(name);
    ASSERT_FALSE(factory.ok()) << name;
    EXPECT_EQ(factory.status().code(), StatusCode::InvalidInput);
  }
}

TEST_P(Engine, GroupsMustMakeSense) {
  FolderStore store;
  runtime::CommunicatorFactory *factory = *runtime::CommunicatorFactory::open(GetParam());
  EXPECT_EQ(factory->create(store, {"data", 0, {}}, 0, 1, ample()).status().code(), StatusCode::InvalidInput);
  EXPECT_EQ(factory->create(store, {"data", 1, {"a"}}, 0, 1, ample()).status().code(), StatusCode::InvalidInput);
  EXPECT_EQ(factory->create(store, {"data", -1, {"a"}}, 0, 1, ample()).status().code(), StatusCode::InvalidInput);
}

} // namespace dlc::test
