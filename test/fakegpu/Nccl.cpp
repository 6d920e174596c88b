/// NVIDIA's collectives over the devices of this library; ranks are threads or processes of one host. Sums are in the
/// order of ranks. Stricter than the real one where that would hang or give wrong numbers:
/// - ranks that disagree on a collective, or a send and its receive on a count, see ncclInvalidUsage asynchronously;
/// - what waits longer than DLCFAKE_NCCL_LIMIT seconds (20) for another rank is a ncclRemoteError, and a line on
/// stderr;
/// - DLCFAKE_NCCL_FAIL=rank:k makes collective k of that rank, counted from 1, fail asynchronously.
/// After such an error the stream stays where it is until the communicator is aborted, as on a device.
#include "FakeDriver.h"
#include "NcclSegment.h"

#include "dlc/runtime/Float16.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <type_traits>

using namespace dlc;
using namespace dlc::fakegpu;
using namespace dlc::runtime::nccl;
using Kind = int;

namespace {

constexpr Kind kAllReduce = 1, kReduceScatter = 2, kAllGather = 3, kBroadcast = 4, kSend = 5, kReceive = 6;
constexpr const char *kNames[] = {"", "all_reduce", "reduce_scatter", "all_gather", "broadcast", "send", "receive"};

using Clock = std::chrono::steady_clock;

double limitSeconds() {
  const char *text = std::getenv("DLCFAKE_NCCL_LIMIT");
  return text ? std::strtod(text, nullptr) : 20;
}

size_t bytesOfType(int type) {
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

/// A call, checked, with addresses the host can use.
struct Call {
  NcclSegment::Signature signature;
  const char *from = nullptr;
  char *to = nullptr;
  CUstream_st *stream = nullptr;
};

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

/// One rank of a communicator. Work in streams keeps it alive, and does nothing once it is aborted.
struct ncclComm : std::enable_shared_from_this<ncclComm> {
  std::shared_ptr<NcclSegment> segment;
  UniqueId id{};
  int rank = 0, size = 1, failing = 0;
  CUctx_st *context = nullptr;
  std::atomic<bool> aborted = false, made = false;
  std::atomic<int> error{kSuccess};
  std::atomic<uint64_t> submitted = 0, done = 0;
  std::mutex lock; ///< held while elements move
  std::mutex textLock;
  std::string text; ///< of the first error
  uint64_t collectives = 0, sent[NcclSegment::kMostRanks] = {}, received[NcclSegment::kMostRanks] = {};

  NcclSegment::Control &control() const { return segment->control(); }

  void fail(int result, const std::string &why) {
    std::lock_guard guard(textLock);
    if (error != kSuccess || aborted)
      return;
    text = why;
    error = result;
    std::fprintf(stderr, "fakegpu: nccl: rank %d: %s\n", rank, why.c_str());
  }

  /// Whether all ranks have come; the first time, whether they fit together.
  bool complete() {
    if (made)
      return true;
    NcclSegment::Control &all = control();
    for (int m = 0; m < size; ++m)
      if (!all.ranks[m].attached)
        return false;
    for (int m = 0; m < size; ++m)
      for (int other = 0; other < m; ++other)
        if (all.ranks[m].device == all.ranks[other].device)
          fail(kInvalidUsage, "duplicate GPU detected: rank " + std::to_string(other) + " and rank " +
                                  std::to_string(m) + " both on CUDA device " + std::to_string(all.ranks[m].device));
    NcclSegment::forget(id);
    id = {};
    made = true;
    return true;
  }

  /// In the stream: when all of `members` hold, or after an abort; says who is waited for at the limit.
  void submit(const Call &call, const std::string &what, const std::function<bool(int)> &reached,
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
  }

  void submitCollective(const Call &call);
  void submitSend(const Call &call, bool withEnd);
  void submitSendEnd(const Call &call, uint64_t number);
  void submitReceive(const Call &call);
  size_t given(const NcclSegment::Signature &what) const;
  void take(const Call &call);
};

/// Bytes that a rank puts in.
size_t ncclComm::given(const NcclSegment::Signature &what) const {
  size_t bytes = what.count * bytesOfType(what.type);
  if (what.kind == kBroadcast && what.root != rank)
    return 0;
  return what.kind == kReduceScatter ? bytes * size_t(size) : bytes;
}

void ncclComm::take(const Call &call) {
  const NcclSegment::Signature &what = call.signature;
  size_t bytes = what.count * bytesOfType(what.type);
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

void ncclComm::submitSend(const Call &call, bool withEnd) {
  int to = call.signature.root;
  uint64_t number = ++sent[to];
  NcclSegment::Pair &pair = control().pairs[rank][to];
  submit(
      call, "send to " + std::to_string(to), [&pair, number, to](int m) { return m != to || pair.taken + 1 >= number; },
      [this, &pair, call, number, to] {
        copyBytes(segment->transfer(rank, to), call.from, call.signature.count * bytesOfType(call.signature.type));
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
        copyBytes(call.to, segment->transfer(from, rank), call.signature.count * bytesOfType(call.signature.type));
        pair.taken = number;
      });
}

namespace {

std::mutex registryLock;
std::map<ncclComm *, std::shared_ptr<ncclComm>> &registry() {
  static auto &all = *new std::map<ncclComm *, std::shared_ptr<ncclComm>>;
  return all;
}

std::shared_ptr<ncclComm> known(Comm comm) {
  std::lock_guard guard(registryLock);
  auto found = registry().find(comm);
  return found == registry().end() ? nullptr : found->second;
}

int remove(Comm handle) {
  std::shared_ptr<ncclComm> comm = known(handle);
  if (!comm)
    return kInvalidArgument;
  {
    std::lock_guard guard(comm->lock);
    comm->aborted = true;
  }
  if (!comm->made)
    NcclSegment::forget(comm->id);
  std::lock_guard guard(registryLock);
  registry().erase(handle);
  return kSuccess;
}

thread_local int groupDepth = 0;
thread_local std::vector<std::pair<std::shared_ptr<ncclComm>, Call>> grouped;

/// Sends of a group first, so that they meet whatever order members wrote them in.
void submitGroup() {
  std::vector<std::pair<const std::pair<std::shared_ptr<ncclComm>, Call> *, uint64_t>> ends;
  for (const auto &each : grouped)
    if (each.second.signature.kind == kSend) {
      each.first->submitSend(each.second, false);
      ends.emplace_back(&each, each.first->sent[each.second.signature.root]);
    } else if (each.second.signature.kind != kReceive) {
      each.first->submitCollective(each.second);
    }
  for (const auto &[comm, call] : grouped)
    if (call.signature.kind == kReceive)
      comm->submitReceive(call);
  for (const auto &[each, number] : ends)
    each->first->submitSendEnd(each->second, number);
  grouped.clear();
}

char *translate(const ncclComm &comm, const void *address, size_t bytes) {
  StatusOr<char *> found = comm.context->memory->translate(address, int64_t(bytes));
  return found.ok() ? *found : nullptr;
}

/// `given` and `taken` are in parts of `count` elements.
int enqueue(Comm handle, NcclSegment::Signature what, const void *from, size_t given, void *to, size_t taken,
            Stream stream) {
  std::shared_ptr<ncclComm> comm = known(handle);
  size_t bytes = what.count * bytesOfType(what.type);
  if (!comm || bytesOfType(what.type) == 0 || what.reduce == 1 || what.reduce > kMin || what.root < 0 ||
      what.root >= comm->size)
    return kInvalidArgument;
  if (!comm->complete())
    return kInvalidUsage;
  if (int error = comm->error)
    return error;
  {
    FakeDriver &driver = FakeDriver::get();
    std::lock_guard guard(driver.lock);
    if (!driver.streams.contains(stream) || stream->context != comm->context || current != comm->context)
      return kInvalidArgument;
    if (stream->capture.graph)
      return kInvalidUsage; // collectives are not captured here yet
  }
  bool transfer = what.kind == kSend || what.kind == kReceive;
  if (std::max(given, taken) * bytes > (transfer ? NcclSegment::kTransferBytes : NcclSegment::kCollectiveBytes))
    return kInvalidUsage; // more than this has room for
  if (bytes == 0)
    return kSuccess;
  Call call{what, nullptr, nullptr, stream};
  call.from = given > 0 ? translate(*comm, from, given * bytes) : nullptr;
  call.to = taken > 0 ? translate(*comm, to, taken * bytes) : nullptr;
  if ((given > 0 && !call.from) || (taken > 0 && !call.to))
    return kInvalidArgument;
  grouped.emplace_back(std::move(comm), call);
  if (groupDepth == 0)
    submitGroup();
  return kSuccess;
}

/// k of "rank:k", where it is for this rank.
int failingCollective(int rank) {
  const char *text = std::getenv("DLCFAKE_NCCL_FAIL");
  char *end = nullptr;
  if (!text || std::strtol(text, &end, 10) != rank || *end != ':')
    return 0;
  return int(std::strtol(end + 1, nullptr, 10));
}

/// The driver of this process numbers what CUDA_VISIBLE_DEVICES lists.
int deviceOfHost(int index) {
  const char *list = std::getenv("CUDA_VISIBLE_DEVICES");
  for (int left = index; list && *list && left > 0; --left) {
    const char *comma = std::strchr(list, ',');
    list = comma ? comma + 1 : nullptr;
  }
  return list && *list ? int(std::strtol(list, nullptr, 10)) : index;
}

} // namespace

namespace dlc::fakegpu {

size_t communicatorsAlive() {
  std::lock_guard guard(registryLock);
  return registry().size();
}

} // namespace dlc::fakegpu

extern "C" {

int ncclGetVersion(int *version) {
  *version = 22809;
  return kSuccess;
}

int ncclGetUniqueId(UniqueId *id) { return NcclSegment::create(*id) ? kSuccess : kSystemError; }

int ncclCommInitRankConfig(Comm *out, int size, UniqueId id, int rank, Config *config) {
  if (!current || size < 1 || size > NcclSegment::kMostRanks || rank < 0 || rank >= size || config->magic != 0xcafebeef)
    return kInvalidArgument;
  auto comm = std::make_shared<ncclComm>();
  comm->segment = NcclSegment::attach(id);
  if (!comm->segment)
    return kSystemError;
  comm->id = id;
  comm->rank = rank;
  comm->size = size;
  comm->context = current;
  comm->failing = failingCollective(rank);
  NcclSegment::Control &all = comm->control();
  int none = 0;
  if (!all.size.compare_exchange_strong(none, size) && none != size)
    return kInvalidArgument;
  all.ranks[rank].device = deviceOfHost(current->index);
  if (all.ranks[rank].attached.exchange(true))
    return kInvalidUsage;
  {
    std::lock_guard guard(registryLock);
    registry().emplace(comm.get(), comm);
  }
  *out = comm.get();
  if (config->blocking == 0)
    return comm->complete() ? int(comm->error) : int(kInProgress);
  while (!comm->complete())
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  return comm->error;
}

// Work is what matters of it here: the state is "in progress" until what was submitted is done.
int ncclCommFinalize(Comm handle) {
  std::shared_ptr<ncclComm> comm = known(handle);
  if (!comm)
    return kInvalidArgument;
  return comm->error != kSuccess ? int(comm->error) : int(comm->submitted == comm->done ? kSuccess : kInProgress);
}

int ncclCommDestroy(Comm comm) { return remove(comm); }
int ncclCommAbort(Comm comm) { return remove(comm); }

int ncclCommGetAsyncError(Comm handle, int *error) {
  std::shared_ptr<ncclComm> comm = known(handle);
  if (!comm)
    return kInvalidArgument;
  *error = !comm->complete() ? int(kInProgress) : int(comm->error);
  return kSuccess;
}

const char *ncclGetErrorString(int result) {
  switch (result) {
#define DLC_NCCL_NAME(ours, theirs, value)                                                                             \
  case value:                                                                                                          \
    return #theirs;
    DLC_NCCL_NAME(kSuccess, ncclSuccess, 0)
    DLC_NCCL_NAME(kSystemError, ncclSystemError, 2)
    DLC_NCCL_NAME(kInvalidArgument, ncclInvalidArgument, 4)
    DLC_NCCL_NAME(kInvalidUsage, ncclInvalidUsage, 5)
    DLC_NCCL_NAME(kRemoteError, ncclRemoteError, 6)
    DLC_NCCL_NAME(kInProgress, ncclInProgress, 7)
#undef DLC_NCCL_NAME
  default:
    return "unknown result code";
  }
}

const char *ncclGetLastError(Comm handle) {
  static thread_local std::string text;
  std::shared_ptr<ncclComm> comm = known(handle);
  if (!comm)
    return "";
  std::lock_guard guard(comm->textLock);
  text = comm->text;
  return text.c_str();
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int reduce, Comm comm, Stream stream) {
  return enqueue(comm, {kAllReduce, type, reduce, 0, count}, from, 1, to, 1, stream);
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int reduce, Comm comm, Stream stream) {
  std::shared_ptr<ncclComm> one = known(comm);
  return enqueue(comm, {kReduceScatter, type, reduce, 0, count}, from, size_t(one ? one->size : 1), to, 1, stream);
}

int ncclAllGather(const void *from, void *to, size_t count, int type, Comm comm, Stream stream) {
  std::shared_ptr<ncclComm> one = known(comm);
  return enqueue(comm, {kAllGather, type, 0, 0, count}, from, 1, to, size_t(one ? one->size : 1), stream);
}

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, Comm comm, Stream stream) {
  std::shared_ptr<ncclComm> one = known(comm);
  return enqueue(comm, {kBroadcast, type, 0, root, count}, from, one && one->rank == root ? 1 : 0, to, 1, stream);
}

int ncclSend(const void *from, size_t count, int type, int to, Comm comm, Stream stream) {
  return enqueue(comm, {kSend, type, 0, to, count}, from, 1, nullptr, 0, stream);
}

int ncclRecv(void *to, size_t count, int type, int from, Comm comm, Stream stream) {
  return enqueue(comm, {kReceive, type, 0, from, count}, nullptr, 0, to, 1, stream);
}

int ncclGroupStart(void) {
  ++groupDepth;
  return kSuccess;
}

int ncclGroupEnd(void) {
  if (groupDepth == 0)
    return kInvalidUsage;
  if (--groupDepth == 0)
    submitGroup();
  return kSuccess;
}

} // extern "C"
