#include "NcclRank.h"

#include "dlc/runtime/Float16.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

using namespace dlc;
using namespace dlc::fakegpu;
using namespace dlc::runtime::nccl;

size_t dlc::fakegpu::bytesOfNcclType(int type) {
  switch (type) {
  case kInt8:
  case kUint8:
    return 1;
  case kFloat16:
  case kBfloat16:
    return 2;
  case kInt32:
  case kFloat32:
    return 4;
  case kInt64:
  case kFloat64:
    return 8;
  default:
    return 0;
  }
}

namespace {

constexpr const char *kNames[] = {"", "all_reduce", "reduce_scatter", "all_gather", "broadcast", "send", "receive"};

using Clock = std::chrono::steady_clock;

double limitSeconds() {
  const char *text = std::getenv("DLCFAKE_NCCL_LIMIT");
  return text ? std::strtod(text, nullptr) : 20;
}

/// Of no bytes a pointer may be null.
void copyBytes(void *to, const void *from, size_t bytes) {
  if (bytes)
    std::memcpy(to, from, bytes);
}

template <typename T>
T combine(T a, T b, int reduce) {
  if (reduce == kMax)
    return a < b ? b : a;
  if (reduce == kMin)
    return b < a ? b : a;
  if constexpr (std::is_integral_v<T>)
    return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  else
    return a + b;
}
template <int mantissa>
Float16Bits<mantissa> combine(Float16Bits<mantissa> a, Float16Bits<mantissa> b, int reduce) {
  return Float16Bits<mantissa>(combine(double(a), double(b), reduce));
}

template <typename T>
void reduceAs(char *to, const NcclSegment &segment, int size, size_t first, size_t count, int reduce) {
  auto element = [&](int rank, size_t i) {
    T value;
    std::memcpy(&value, segment.collective(rank) + (first + i) * sizeof(T), sizeof value);
    return value;
  };
  for (size_t i = 0; i < count; ++i) {
    T sum = element(0, i);
    for (int rank = 1; rank < size; ++rank)
      sum = combine(sum, element(rank, i), reduce);
    std::memcpy(to + i * sizeof(T), &sum, sizeof sum);
  }
}

void reduceInto(char *to, const NcclSegment &segment, int size, size_t first, const NcclSegment::Signature &what) {
  auto run = [&]<typename T>(T) { reduceAs<T>(to, segment, size, first, what.count, what.reduce); };
  switch (what.type) {
  case kInt8:
    return run(int8_t{});
  case kUint8:
    return run(uint8_t{});
  case kInt32:
    return run(int32_t{});
  case kInt64:
    return run(int64_t{});
  case kFloat16:
    return run(Float16{});
  case kFloat32:
    return run(float{});
  case kFloat64:
    return run(double{});
  default:
    return run(BFloat16{});
  }
}

} // namespace

void ncclComm::fail(int result, const std::string &why) {
  std::lock_guard guard(textLock);
  if (error != kSuccess || aborted)
    return;
  text = why;
  error = result;
  std::fprintf(stderr, "fakegpu: nccl: rank %d: %s\n", rank, why.c_str());
}

bool ncclComm::complete() {
  if (made)
    return true;
  NcclSegment::Control &all = control();
  for (int m = 0; m < size; ++m)
    if (!all.ranks[m].attached)
      return false;
  for (int m = 0; m < size; ++m)
    for (int other = 0; other < m; ++other)
      if (all.ranks[m].device == all.ranks[other].device)
        fail(kInvalidUsage, "duplicate GPU detected: rank " + std::to_string(other) + " and rank " + std::to_string(m) +
                                " both on CUDA device " + std::to_string(all.ranks[m].device));
  NcclSegment::forget(id);
  id = {};
  made = true;
  return true;
}

void ncclComm::submit(const Call &call, const std::string &what, const std::function<bool(int)> &reached,
                      std::function<void()> work) {
  ++submitted;
  auto self = shared_from_this();
  auto ready = [self, what, reached, start = std::make_shared<Clock::time_point>()] {
    if (self->aborted)
      return true;
    if (self->error != kSuccess)
      return false;
    std::string missing;
    for (int m = 0; m < self->size; ++m)
      if (!reached(m))
        missing += " " + std::to_string(m);
    if (missing.empty())
      return self->error == kSuccess;
    if (*start == Clock::time_point{})
      *start = Clock::now();
    double waited = std::chrono::duration<double>(Clock::now() - *start).count();
    if (waited > limitSeconds())
      self->fail(kRemoteError, what + " waited " + std::to_string(waited) + " s for ranks" + missing);
    return false;
  };
  FakeDriver::get().submit(
      *call.stream,
      [self, work = std::move(work)] {
        std::lock_guard guard(self->lock);
        if (!self->aborted)
          work();
        ++self->done;
        return 0;
      },
      ready);
  progressTo(FakeDriver::get().schedule().mark(call.stream->queue));
}

/// Bytes that a rank puts in.
size_t ncclComm::given(const NcclSegment::Signature &what) const {
  size_t bytes = what.count * bytesOfNcclType(what.type);
  if (what.kind == kBroadcast && what.root != rank)
    return 0;
  return what.kind == kReduceScatter ? bytes * size_t(size) : bytes;
}

void ncclComm::take(const Call &call) {
  const NcclSegment::Signature &what = call.signature;
  size_t bytes = what.count * bytesOfNcclType(what.type);
  switch (what.kind) {
  case kAllReduce:
    return reduceInto(call.to, *segment, size, 0, what);
  case kReduceScatter:
    return reduceInto(call.to, *segment, size, what.count * size_t(rank), what);
  case kAllGather:
    for (int m = 0; m < size; ++m)
      copyBytes(call.to + size_t(m) * bytes, segment->collective(m), bytes);
    return;
  default:
    copyBytes(call.to, segment->collective(what.root), bytes);
  }
}

void ncclComm::submitCollective(const Call &call) {
  uint64_t number = ++collectives;
  std::string what = std::string(kNames[call.signature.kind]) + " " + std::to_string(number);
  NcclSegment::Control &all = control();
  // Nobody still reads what this overwrites.
  submit(
      call, what, [&all, number](int m) { return all.ranks[m].taken + 1 >= number; },
      [this, &all, call, number] {
        copyBytes(segment->collective(rank), call.from, given(call.signature));
        all.ranks[rank].signatures[number % 2] = call.signature;
        all.ranks[rank].posted = number;
      });
  if (failing > 0 && number == uint64_t(failing)) {
    submit(
        call, what,
        [this, what](int) {
          fail(kSystemError, what + " fails by DLCFAKE_NCCL_FAIL");
          return false;
        },
        [] {});
    return;
  }
  submit(
      call, what,
      [this, &all, call, number, what](int m) {
        if (all.ranks[m].posted < number)
          return false;
        // One that has gone on has overwritten this only after we took ours.
        if (all.ranks[m].signatures[number % 2] != call.signature) {
          const NcclSegment::Signature &other = all.ranks[m].signatures[number % 2];
          fail(kInvalidUsage, what + " of " + std::to_string(call.signature.count) + " elements meets " +
                                  kNames[other.kind] + " of " + std::to_string(other.count) + " on rank " +
                                  std::to_string(m));
        }
        return true;
      },
      [this, &all, call, number] {
        take(call);
        all.ranks[rank].taken = number;
      });
}

void ncclComm::submit(const Call &call) {
  switch (call.signature.kind) {
  case kSend:
    return submitSend(call, true);
  case kReceive:
    return submitReceive(call);
  default:
    return submitCollective(call);
  }
}

void ncclComm::submitSend(const Call &call, bool withEnd) {
  int to = call.signature.root;
  uint64_t number = ++sent[to];
  NcclSegment::Pair &pair = control().pairs[rank][to];
  submit(
      call, "send to " + std::to_string(to), [&pair, number, to](int m) { return m != to || pair.taken + 1 >= number; },
      [this, &pair, call, number, to] {
        copyBytes(segment->transfer(rank, to), call.from, call.signature.count * bytesOfNcclType(call.signature.type));
        pair.count = call.signature.count;
        pair.type = call.signature.type;
        pair.posted = number;
      });
  if (withEnd)
    submitSendEnd(call, number);
}

void ncclComm::submitSendEnd(const Call &call, uint64_t number) {
  int to = call.signature.root;
  NcclSegment::Pair &pair = control().pairs[rank][to];
  submit(
      call, "send to " + std::to_string(to), [&pair, number, to](int m) { return m != to || pair.taken >= number; },
      [] {});
}

void ncclComm::submitReceive(const Call &call) {
  int from = call.signature.root;
  uint64_t number = ++received[from];
  NcclSegment::Pair &pair = control().pairs[from][rank];
  submit(
      call, "receive from " + std::to_string(from),
      [this, &pair, call, number, from](int m) {
        if (m != from)
          return true;
        if (pair.posted < number)
          return false;
        if (pair.count != call.signature.count || pair.type != call.signature.type)
          fail(kInvalidUsage, "receive of " + std::to_string(call.signature.count) + " elements meets a send of " +
                                  std::to_string(pair.count) + " on rank " + std::to_string(from));
        return true;
      },
      [this, &pair, call, number, from] {
        copyBytes(call.to, segment->transfer(from, rank), call.signature.count * bytesOfNcclType(call.signature.type));
        pair.taken = number;
      });
}
