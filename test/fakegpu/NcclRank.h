#pragma once

#include "FakeDriver.h"
#include "NcclSegment.h"

namespace dlc::fakegpu {

using Kind = int;
constexpr Kind kAllReduce = 1, kReduceScatter = 2, kAllGather = 3, kBroadcast = 4, kSend = 5, kReceive = 6;

/// A call, checked, with addresses the host can use.
struct NcclCall {
  NcclSegment::Signature signature;
  const char *from = nullptr;
  char *to = nullptr;
  CUstream_st *stream = nullptr;
};

/// Of an element; 0: no type that is known.
size_t bytesOfNcclType(int type);

/// Collectives on a device go on whoever waits for them, also where streams do nothing before somebody waits: brings a
/// stream up to here in a while (50 ms), if nobody else has.
void progressTo(const runtime::SimSchedule::Point &point);

} // namespace dlc::fakegpu

/// One rank of a communicator. Work in streams keeps it alive, and does nothing once it is aborted.
struct ncclComm : std::enable_shared_from_this<ncclComm> {
  using Call = dlc::fakegpu::NcclCall;
  using Segment = dlc::fakegpu::NcclSegment;

  std::shared_ptr<Segment> segment;
  dlc::runtime::nccl::UniqueId id{};
  int rank = 0, size = 1, failing = 0;
  CUctx_st *context = nullptr;
  std::atomic<bool> aborted = false, made = false;
  std::atomic<int> error{dlc::runtime::nccl::kSuccess};
  std::atomic<uint64_t> submitted = 0, done = 0;
  std::mutex lock; ///< held while elements move
  std::mutex textLock;
  std::string text; ///< of the first error
  uint64_t collectives = 0, sent[Segment::kMostRanks] = {}, received[Segment::kMostRanks] = {};

  Segment::Control &control() const { return segment->control(); }

  void fail(int result, const std::string &why);
  /// Whether all ranks have come; the first time, whether they fit together.
  bool complete();
  /// Puts a call of its own into the stream.
  void submit(const Call &call);
  void submitSend(const Call &call, bool withEnd);
  void submitSendEnd(const Call &call, uint64_t number);
  void submitReceive(const Call &call);

private:
  void submitCollective(const Call &call);
  /// In the stream: when `reached` holds for all ranks, or after an abort; says who is waited for at the limit.
  void submit(const Call &call, const std::string &what, const std::function<bool(int)> &reached,
              std::function<void()> work);
  size_t given(const Segment::Signature &what) const;
  void take(const Call &call);
};
