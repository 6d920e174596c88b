/// NVIDIA's collectives over the devices of this library; ranks are threads or processes of one host. Sums are in the
/// order of ranks. Stricter than the real one where that would hang or give wrong numbers:
/// - ranks that disagree on a collective, or a send and its receive on a count, see ncclInvalidUsage asynchronously;
/// - what waits longer than DLCFAKE_NCCL_LIMIT seconds (20) for another rank is a ncclRemoteError, and a line on
/// stderr;
/// - DLCFAKE_NCCL_FAIL=rank:k makes collective k of that rank, counted from 1, fail asynchronously.
/// After such an error the stream stays where it is until the communicator is aborted, as on a device.
#include "NcclRank.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

using namespace dlc;
using namespace dlc::fakegpu;
using namespace dlc::runtime::nccl;

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
thread_local std::vector<std::pair<std::shared_ptr<ncclComm>, NcclCall>> grouped;

using Group = std::vector<std::pair<std::shared_ptr<ncclComm>, NcclCall>>;

/// Sends of a group first, so that they meet whatever order members wrote them in.
void give(const Group &group) {
  std::vector<std::pair<const Group::value_type *, uint64_t>> ends;
  for (const auto &each : group)
    if (each.second.signature.kind == kSend) {
      each.first->submitSend(each.second, false);
      ends.emplace_back(&each, each.first->sent[each.second.signature.root]);
    } else if (each.second.signature.kind != kReceive) {
      each.first->submit(each.second);
    }
  for (const auto &[comm, call] : group)
    if (call.signature.kind == kReceive)
      comm->submitReceive(call);
  for (const auto &[each, number] : ends)
    each->first->submitSendEnd(each->second, number);
}

/// Now, or whenever a graph that has them is launched.
void submitGroup() {
  Group group = std::exchange(grouped, {});
  if (group.empty() || !group.front().second.stream->capture.graph)
    return give(group);
  FakeDriver::get().noteGiver(*group.front().second.stream, [group](CUstream_st &stream) {
    Group here = group;
    for (auto &[comm, call] : here)
      call.stream = &stream;
    give(here);
  });
}

char *translate(const ncclComm &comm, const void *address, size_t bytes) {
  StatusOr<char *> found = comm.context->memory->translate(address, int64_t(bytes));
  return found.ok() ? *found : nullptr;
}

/// `given` and `taken` are in parts of `count` elements.
int enqueue(Comm handle, NcclSegment::Signature what, const void *from, size_t given, void *to, size_t taken,
            Stream stream) {
  std::shared_ptr<ncclComm> comm = known(handle);
  size_t bytes = what.count * bytesOfNcclType(what.type);
  if (!comm || bytesOfNcclType(what.type) == 0 || what.reduce == 1 || what.reduce > kMin || what.root < 0 ||
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
    if (!grouped.empty() && grouped.front().second.stream != stream && stream->capture.graph)
      return kInvalidUsage; // a group that is captured has one stream here
  }
  bool transfer = what.kind == kSend || what.kind == kReceive;
  if (std::max(given, taken) * bytes > (transfer ? NcclSegment::kTransferBytes : NcclSegment::kCollectiveBytes))
    return kInvalidUsage; // more than this has room for
  if (bytes == 0)
    return kSuccess;
  NcclCall call{what, nullptr, nullptr, stream};
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

} // namespace

namespace dlc::fakegpu {

size_t communicatorsAlive() {
  std::lock_guard guard(registryLock);
  return registry().size();
}

} // namespace dlc::fakegpu

/// First line of an entry point: DLCFAKE_FAIL=<entry point>:<k> makes its call k fail.
#define DLC_FAKE_NCCL(name)                                                                                            \
  if (int refused = FakeDriver::get().failing(#name, kSystemError))                                                    \
  return refused

extern "C" {

int ncclGetVersion(int *version) {
  DLC_FAKE_NCCL(ncclGetVersion);
  *version = 22809;
  return kSuccess;
}

int ncclGetUniqueId(UniqueId *id) {
  DLC_FAKE_NCCL(ncclGetUniqueId);
  return NcclSegment::create(*id) ? kSuccess : kSystemError;
}

int ncclCommInitRankConfig(Comm *out, int size, UniqueId id, int rank, Config *config) {
  DLC_FAKE_NCCL(ncclCommInitRankConfig);
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
  DLC_FAKE_NCCL(ncclCommFinalize);
  std::shared_ptr<ncclComm> comm = known(handle);
  if (!comm)
    return kInvalidArgument;
  return comm->error != kSuccess ? int(comm->error) : int(comm->submitted == comm->done ? kSuccess : kInProgress);
}

int ncclCommDestroy(Comm comm) {
  DLC_FAKE_NCCL(ncclCommDestroy);
  return remove(comm);
}
int ncclCommAbort(Comm comm) {
  DLC_FAKE_NCCL(ncclCommAbort);
  return remove(comm);
}

int ncclCommGetAsyncError(Comm handle, int *error) {
  DLC_FAKE_NCCL(ncclCommGetAsyncError);
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
  DLC_FAKE_NCCL(ncclAllReduce);
  return enqueue(comm, {kAllReduce, type, reduce, 0, count}, from, 1, to, 1, stream);
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int reduce, Comm comm, Stream stream) {
  DLC_FAKE_NCCL(ncclReduceScatter);
  std::shared_ptr<ncclComm> one = known(comm);
  return enqueue(comm, {kReduceScatter, type, reduce, 0, count}, from, size_t(one ? one->size : 1), to, 1, stream);
}

int ncclAllGather(const void *from, void *to, size_t count, int type, Comm comm, Stream stream) {
  DLC_FAKE_NCCL(ncclAllGather);
  std::shared_ptr<ncclComm> one = known(comm);
  return enqueue(comm, {kAllGather, type, 0, 0, count}, from, 1, to, size_t(one ? one->size : 1), stream);
}

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, Comm comm, Stream stream) {
  DLC_FAKE_NCCL(ncclBroadcast);
  std::shared_ptr<ncclComm> one = known(comm);
  return enqueue(comm, {kBroadcast, type, 0, root, count}, from, one && one->rank == root ? 1 : 0, to, 1, stream);
}

int ncclSend(const void *from, size_t count, int type, int to, Comm comm, Stream stream) {
  DLC_FAKE_NCCL(ncclSend);
  return enqueue(comm, {kSend, type, 0, to, count}, from, 1, nullptr, 0, stream);
}

int ncclRecv(void *to, size_t count, int type, int from, Comm comm, Stream stream) {
  DLC_FAKE_NCCL(ncclRecv);
  return enqueue(comm, {kReceive, type, 0, from, count}, nullptr, 0, to, 1, stream);
}

int ncclGroupStart(void) {
  DLC_FAKE_NCCL(ncclGroupStart);
  ++groupDepth;
  return kSuccess;
}

int ncclGroupEnd(void) {
  DLC_FAKE_NCCL(ncclGroupEnd);
  if (groupDepth == 0)
    return kInvalidUsage;
  if (--groupDepth == 0)
    submitGroup();
  return kSuccess;
}

} // extern "C"
