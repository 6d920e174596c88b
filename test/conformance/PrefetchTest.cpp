#include "dlc/runtime/Prefetch.h"
#include "Conformance.h"
#include "Program.h"

#include <gmock/gmock.h>

#include <algorithm>

using testing::HasSubstr;

namespace dlc::test {

namespace {

constexpr int64_t kRows = 37, kCount = Program::kCount;

/// Rows of numbers that tell where they come from, and labels.
struct Data {
  std::vector<float> numbers = std::vector<float>(size_t(kRows * kCount));
  std::vector<int64_t> labels = std::vector<int64_t>(size_t(kRows));

  Data() {
    for (int64_t row = 0; row < kRows; ++row) {
      labels[size_t(row)] = 7 * row;
      for (int64_t i = 0; i < kCount; ++i)
        numbers[size_t(row * kCount + i)] = float(row) + float(i) / 1024;
    }
  }
  std::vector<TensorView> views() const {
    return {{"x", DType::F32, {kRows, kCount}, numbers.data()}, {"y", DType::I64, {kRows}, labels.data()}};
  }
};

std::unique_ptr<Session> sessionOn(const char *device) {
  return Session::create({.threads = 1, .device = DeviceId::parse(device).take()}).take();
}

/// The batch as the host sees it.
Status expectRows(Session &session, const Prefetch::Batch &batch, const Data &data, const std::vector<int64_t> &rows) {
  std::vector<float> numbers(rows.size() * size_t(kCount));
  std::vector<int64_t> labels(rows.size());
  if (Status status = session.download(numbers.data(), batch.data(0), std::ssize(numbers) * 4); !status.ok())
    return status;
  if (Status status = session.download(labels.data(), batch.data(1), std::ssize(labels) * 8); !status.ok())
    return status;
  for (size_t i = 0; i < rows.size(); ++i) {
    const float *expected = data.numbers.data() + rows[i] * kCount;
    if (labels[i] != 7 * rows[i] || !std::equal(expected, expected + kCount, numbers.data() + int64_t(i) * kCount))
      return {StatusCode::Internal, "row " + std::to_string(i) + " is not row " + std::to_string(rows[i])};
  }
  return {};
}

} // namespace

// The next batch is on its way while a step's work waits in the stream, and takes the memory of one that is used up.
TEST_P(Conformance, BatchesArriveBesideTheSteps) {
  Data data;
  std::unique_ptr<Session> session = sessionOn(GetParam());
  auto program = session->attach(Program::make().take()).take();
  std::vector<float> w(kCount);
  ASSERT_TRUE(done(session->read("w", std::as_writable_bytes(std::span(w)))));
  runtime::Arena results = allocate(4 * kCount);
  int64_t before = device->memoryStats().count;
  {
    auto prefetch = Prefetch::create(*session, data.views()).take();
    prefetch->begin({0});
    for (int64_t step = 0; step < 100; ++step) {
      auto batch = prefetch->take();
      ASSERT_TRUE(done(batch.status()));
      prefetch->begin({(step + 1) * 5 % kRows});
      DlcBuffer x{batch->data(0), 4 * kCount}, y{results.base(), 4 * kCount};
      ASSERT_TRUE(done(program->callOnDevice(Program::kStep, {&x, 1}, {&y, 1})));
      for (int64_t i = 0; i < kCount; ++i)
        w[size_t(i)] += data.numbers[size_t(step * 5 % kRows * kCount + i)];
    }
    // One in use and one on its way.
    EXPECT_LE(device->memoryStats().count, before + 2);
    std::vector<float> state(kCount);
    ASSERT_TRUE(done(session->read("w", std::as_writable_bytes(std::span(state)))));
    EXPECT_EQ(state, w);
  }
}

TEST_P(Conformance, BatchesThatAreKeptStayAsTheyAre) {
  Data data;
  std::unique_ptr<Session> session = sessionOn(GetParam());
  std::vector<Prefetch::Batch> kept;
  std::vector<std::vector<int64_t>> rows;
  {
    auto prefetch = Prefetch::create(*session, data.views()).take();
    for (int64_t i = 0; i < 6; ++i) {
      rows.push_back({i, kRows - 1, 2 * i});
      prefetch->begin(rows.back());
    }
    for (int64_t i = 0; i < 6; ++i) {
      auto batch = prefetch->take();
      ASSERT_TRUE(done(batch.status()));
      kept.push_back(batch.take());
    }
    prefetch->begin({1, 2}); // never taken
  }
  for (size_t i = 0; i < kept.size(); ++i)
    EXPECT_TRUE(done(expectRows(*session, kept[i], data, rows[i])));
}

TEST_P(Conformance, BatchesOfMoreRowsThanBeforeHaveRoom) {
  Data data;
  std::unique_ptr<Session> session = sessionOn(GetParam());
  auto prefetch = Prefetch::create(*session, data.views()).take();
  for (size_t size : {1, 3, 20, 2, 0, 37}) {
    std::vector<int64_t> rows(size);
    for (size_t i = 0; i < size; ++i)
      rows[i] = int64_t(i * 3) % kRows;
    prefetch->begin(rows);
    auto batch = prefetch->take();
    ASSERT_TRUE(done(batch.status()));
    EXPECT_TRUE(done(expectRows(*session, *batch, data, rows)));
  }
}

TEST_P(Conformance, ARowThereIsNotIsTheErrorOfItsBatchAlone) {
  Data data;
  std::unique_ptr<Session> session = sessionOn(GetParam());
  auto prefetch = Prefetch::create(*session, data.views()).take();
  EXPECT_THAT(prefetch->take().status().message(), HasSubstr("no batch was begun"));
  prefetch->begin({kRows});
  prefetch->begin({4});
  EXPECT_THAT(prefetch->take().status().message(), HasSubstr("expected a row from 0 to 36, found 37"));
  auto batch = prefetch->take();
  ASSERT_TRUE(done(batch.status()));
  EXPECT_TRUE(done(expectRows(*session, *batch, data, {4})));
}

} // namespace dlc::test
