#include "comm/mpi/MpiEngine.h"
#include "comm/host/Host.h"
#include "comm/host/HostCommunicator.h"

#include <charconv>
#include <cstring>
#include <thread>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlc::runtime {

namespace {

using Clock = std::chrono::steady_clock;

// What goes through the stage at a time: of all members together, and of one at least.
constexpr int64_t kStageBytes = 16 << 20, kLeastPiece = 256 << 10;
// Who waits for others to come sleeps in between; data that flows needs us all the time.
constexpr std::chrono::microseconds kYield{50}, kSleep{50};
// Between two looks at whether processes are still there.
constexpr std::chrono::milliseconds kLook{10};
// What a member sent before its end may come a moment after the news of it.
constexpr std::chrono::milliseconds kLastWords{100};

} // namespace

MpiEngine::MpiEngine(MpiProcess &process, const Group &group, MpiChannel joined, bool fixedOrder)
    : TransferEngine(group), process(process), channel(std::move(joined)), fixedOrder(fixedOrder) {}

MpiEngine::~MpiEngine() {
  tell(MpiNotice::Left, {});
  process.retire(std::move(channel), !why.ok());
}

void MpiEngine::interrupt(const Status &reason) noexcept { (void)end(reason, nameOf(rank) + ": " + reason.message()); }

Status MpiEngine::end(const Status &reason, const std::string &told) noexcept {
  std::lock_guard guard(lock);
  if (!why.ok())
    return why;
  why = reason;
  // Members that disagree see it themselves, and this would only come in between.
  if (!hasDisagreed())
    tell(MpiNotice::Failed, told);
  return why;
}

void MpiEngine::tell(MpiNotice::Kind kind, const std::string &text) noexcept {
  if (std::exchange(hasTold, true) || size() == 1)
    return;
  MpiCall call(process);
  channel.told->kind = kind;
  std::strncpy(channel.told->text, text.c_str(), sizeof channel.told->text - 1);
  for (int m = 0; m < size(); ++m)
    if (m != rank)
      MPI_Isend(channel.told.get(), sizeof(MpiNotice), MPI_BYTE, m, kMpiNoticeTag, channel.group,
                &channel.tells[size_t(m)]);
}

std::vector<int> MpiEngine::awaited() const {
  std::lock_guard guard(lock);
  return givers.empty() ? takers : givers;
}

char *MpiEngine::stageFor(int64_t bytes) {
  if (bytes > stageBytes) {
    channel.stage = std::make_unique_for_overwrite<char[]>(size_t(bytes));
    stageBytes = bytes;
  }
  return channel.stage.get();
}

Status MpiEngine::exchange(const std::vector<Move> &moves) {
  int64_t most = std::max(kStageBytes / std::max<int64_t>(int64_t(moves.size()), 1), kLeastPiece), longest = 0;
  for (const Move &each : moves)
    longest = std::max(longest, each.bytes);
  for (int64_t begin = 0; begin < longest; begin += most)
    if (Status status = exchangePiece(moves, begin, most); !status.ok())
      return status;
  return {};
}

Status MpiEngine::exchangePiece(const std::vector<Move> &moves, int64_t begin, int64_t most) {
  std::vector<Message> messages;
  int64_t total = 0;
  for (const Move &each : moves)
    if (int64_t bytes = std::min(each.bytes - begin, most); bytes > 0) {
      messages.push_back({&each, nullptr, bytes});
      total += (bytes + 63) / 64 * 64;
    }
  char *next = stageFor(total);
  for (Message &each : messages) {
    each.stage = next;
    next += (each.bytes + 63) / 64 * 64;
    if (each.move->sends)
      std::memcpy(each.stage, static_cast<char *>(each.move->data) + begin, size_t(each.bytes));
  }
  std::vector<MPI_Request> requests(messages.size(), MPI_REQUEST_NULL);
  Status status;
  {
    MpiCall call(process);
    for (bool sends : {false, true})
      for (size_t i = 0; i < messages.size() && status.ok(); ++i) {
        const Message &each = messages[i];
        int tag = kMpiFirstDataTag + int(phaseOf(each.move->slot));
        if (each.move->sends == sends)
          status = mpiStatus(sends ? MPI_Isend(each.stage, int(each.bytes), MPI_BYTE, each.move->member, tag,
                                               channel.group, &requests[i])
                                   : MPI_Irecv(each.stage, int(each.bytes), MPI_BYTE, each.move->member, tag,
                                               channel.group, &requests[i]));
      }
  }
  if (!status.ok())
    return end(status, status.message());
  if (status = complete(requests, messages, total <= 64 * int64_t(messages.size()) * 2); !status.ok())
    return status;
  for (const Message &each : messages)
    if (!each.move->sends)
      std::memcpy(static_cast<char *>(each.move->data) + begin, each.stage, size_t(each.bytes));
  return {};
}

Status MpiEngine::complete(std::vector<MPI_Request> &requests, const std::vector<Message> &messages, bool patient) {
  auto start = Clock::now(), looked = start;
  std::vector<int> indices(requests.size());
  while (true) {
    int count = 0;
    Status status;
    bool over = true;
    {
      MpiCall call(process);
      status =
          mpiStatus(MPI_Testsome(int(requests.size()), requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE));
      for (MPI_Request each : requests)
        over = over && each == MPI_REQUEST_NULL;
    }
    if (!status.ok())
      return end({status.code(), "group '" + groupName + "': " + status.message()}, status.message());
    if (over)
      break;
    auto now = Clock::now();
    if (count > 0 || looked == start) {
      std::lock_guard guard(lock);
      givers.clear();
      takers.clear();
      for (size_t i = 0; i < messages.size(); ++i)
        if (requests[i] != MPI_REQUEST_NULL)
          (messages[i].move->sends ? takers : givers).push_back(messages[i].move->member);
    }
    bool atProcesses = now - looked >= kLook;
    if (atProcesses)
      looked = now;
    if (status = look(atProcesses); !status.ok())
      return status;
    if (patient && now - start > kYield)
      std::this_thread::sleep_for(kSleep);
    else
      MpiCall::giveWay(process);
  }
  std::lock_guard guard(lock);
  givers.clear();
  takers.clear();
  return {};
}

Status MpiEngine::look(bool atProcesses) {
  std::string failed;
  {
    MpiCall call(process);
    int index = 0, done = 0;
    MPI_Testany(int(channel.hears.size()), channel.hears.data(), &index, &done, MPI_STATUS_IGNORE);
    if (done && index != MPI_UNDEFINED) {
      const MpiNotice &notice = channel.heard[size_t(index)];
      std::string text(notice.text, strnlen(notice.text, sizeof notice.text));
      if (notice.kind == MpiNotice::Failed)
        failed = text;
      else if (goneText.empty()) {
        gone = Clock::now();
        goneText = nameOf(index) + " has left";
      }
    }
  }
  if (!failed.empty())
    return end({StatusCode::PeerFailed, "group '" + groupName + "': " + failed}, failed);
  if (atProcesses && goneText.empty()) {
    std::vector<pollfd> files;
    files.reserve(channel.processes.size());
    for (const FileDescriptor &each : channel.processes)
      files.push_back({each.get(), POLLIN, 0});
    if (poll(files.data(), files.size(), 0) > 0)
      for (size_t m = 0; m < files.size(); ++m)
        if (files[m].revents && goneText.empty()) {
          gone = Clock::now();
          goneText = "lost " + nameOf(int(m));
        }
  }
  if (!goneText.empty() && Clock::now() - gone > kLastWords)
    return end({StatusCode::PeerFailed, "group '" + groupName + "': " + goneText}, goneText);
  std::lock_guard guard(lock);
  return why;
}

namespace {

/// The type as MPI calls it; none where its sums are not ours: Open MPI 4.1 adds 8-bit integers with saturation,
/// and 16-bit floats not at all.
std::optional<MPI_Datatype> typeOfSums(DType type) {
  switch (type) {
  case DType::F64:
    return MPI_DOUBLE;
  case DType::F32:
    return MPI_FLOAT;
  case DType::I64:
    return MPI_INT64_T;
  case DType::I32:
    return MPI_INT32_T;
  case DType::I8:
  case DType::I1:
  case DType::F16:
  case DType::BF16:
    return std::nullopt;
  }
  return std::nullopt;
}

} // namespace

std::optional<Status> MpiEngine::ownAllReduce(const Operation &operation) {
  std::optional<MPI_Datatype> type = typeOfSums(operation.type);
  // Its maxima follow other rules for NaN and -0. Between two members ours is faster; see runtime/README.md.
  if (fixedOrder || size() == 2 || operation.reduce != Reduce::Sum || !type)
    return std::nullopt;
  int64_t element = byteSize(operation.type), most = kStageBytes / 2 / element;
  for (int64_t begin = 0; begin < operation.count; begin += most) {
    int64_t count = std::min(most, operation.count - begin);
    char *stage = stageFor(count * element), *data = static_cast<char *>(operation.out) + begin * element;
    std::memcpy(stage, data, size_t(count * element));
    std::vector<MPI_Request> request(1, MPI_REQUEST_NULL);
    Status status;
    {
      MpiCall call(process);
      status =
          mpiStatus(MPI_Iallreduce(MPI_IN_PLACE, stage, int(count), *type, MPI_SUM, channel.group, request.data()));
    }
    if (!status.ok())
      return end(status, status.message());
    if (status = complete(request, {}, false); !status.ok())
      return status;
    std::memcpy(data, stage, size_t(count * element));
  }
  return Status();
}

namespace {

/// A member as the store shows it: rank in MPI's world, process id, host.
std::string describeSelf(const MpiProcess &process) {
  return std::to_string(process.worldRank) + " " + std::to_string(getpid()) + " " + hostIdentity();
}

class Factory final : public CommunicatorFactory {
  StatusOr<std::unique_ptr<Communicator>> make(Store &store, const Group &group, int channelNumber, uint64_t generation,
                                               Deadline deadline, const CommunicatorOptions &options) override {
    StatusOr<MpiProcess *> process = MpiProcess::get();
    if (!process.ok())
      return process.status();
    // First, so that members of one process see each other here and need not wait for each other.
    std::string key = storeKey(group, channelNumber, generation) + "/mpi/", context = "group '" + group.name + "'";
    if (Status status = store.set(key + std::to_string(group.rank), describeSelf(**process)); !status.ok())
      return status.withContext(context);
    std::unique_lock one((*process)->creating, deadline);
    if (!one.owns_lock())
      return Status(StatusCode::PeerFailed, context + ": another one is being created for too long");
    std::vector<int> ranks;
    MpiChannel channel;
    if (Status status = meet(**process, store, key, group, deadline, ranks, channel); !status.ok())
      return status;
    if (ranks.size() > 1)
      if (Status status = (*process)->join(ranks, group.rank, channel); !status.ok())
        return status.withContext(context);
    return makeHostCommunicator(
        group, std::make_unique<MpiEngine>(**process, group, std::move(channel), options.fixedOrder), options);
  }

  /// All members come to the store first: MPI itself would wait for them without a limit.
  static Status meet(MpiProcess &process, Store &store, const std::string &key, const Group &group, Deadline deadline,
                     std::vector<int> &ranks, MpiChannel &channel) {
    std::string context = "group '" + group.name + "'";
    std::vector<int> missing;
    Status first;
    for (int m = 0; m < int(group.members.size()); ++m) {
      StatusOr<std::string> value = store.get(key + std::to_string(m), deadline);
      if (!value.ok()) {
        missing.push_back(m);
        if (first.ok())
          first = value.status();
        continue;
      }
      int rank = 0, id = 0;
      const char *end = value->data() + value->size();
      auto [next, error] = std::from_chars(value->data(), end, rank);
      auto [host, wrong] = std::from_chars(std::min(next + 1, end), end, id);
      if (error != std::errc() || wrong != std::errc() || rank < 0 || rank >= process.worldSize)
        return {StatusCode::Internal, context + ": expects rank, process and host, got '" + *value + "'"};
      if (auto same = std::find(ranks.begin(), ranks.end(), rank); same != ranks.end())
        return {StatusCode::InvalidInput, context + ": expects each member in a process of its own for MPI, got " +
                                              group.members[size_t(same - ranks.begin())] + " and " +
                                              group.members[size_t(m)] + " in one"};
      ranks.push_back(rank);
      bool seen = m != group.rank && std::string_view(std::min(host + 1, end), end) == hostIdentity();
      channel.processes.emplace_back(seen ? int(syscall(SYS_pidfd_open, id, 0)) : -1);
    }
    return missing.empty() ? Status() : missingMembers(group, missing, first);
  }
};

} // namespace

} // namespace dlc::runtime

/// What the runtime calls when it opens this plug-in.
extern "C" dlc::runtime::CommunicatorFactory *dlc_comm_factory() {
  static dlc::runtime::Factory factory;
  return &factory;
}
