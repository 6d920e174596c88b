#include "comm/inprocess/InProcess.h"
#include "comm/host/HostCommunicator.h"
#include "comm/host/TreeReduce.h"
#include "comm/inprocess/MemberTable.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <numeric>

#include <unistd.h>

namespace dlc::runtime {

namespace {

using Kind = Operation::Kind;

// Between two looks at whether somebody has aborted.
constexpr int64_t kPieceElements = 1 << 14;
constexpr int64_t kPieceBytes = 1 << 20;

class InProcessEngine final : public KindsEngine {
public:
  InProcessEngine(std::shared_ptr<MemberTable> shared, const Group &group)
      : KindsEngine(group), table(std::move(shared)), me(table->member(rank)), ofMembers(size_t(table->size())) {}
  ~InProcessEngine() override {
    me.gone = true;
    table->announce();
  }

  std::string_view name() const override { return "inprocess"; }

  Status run(const Operation &operation) override {
    Status status = operation.isPointToPoint() ? dispatch(operation) : collective(operation);
    if (!status.ok())
      table->settle();
    return status;
  }

  void interrupt(const Status &why) noexcept override { (void)table->fail(why); }

  std::vector<int> awaited() const override {
    std::lock_guard guard(table->lock);
    return missing;
  }

private:
  Status collective(const Operation &operation) {
    uint64_t number = ++collectives;
    me.operation = &operation;
    me.entered = number;
    table->announce();
    if (Status status =
            table->await(0, table->size(), missing, [&](int m) { return table->member(m).entered >= number; });
        !status.ok())
      return status;
    if (Status status = visit(operation); !status.ok())
      return status;
    me.done = number;
    table->announce();
    return table->await(0, table->size(), missing, [&](int m) { return table->member(m).done >= number; });
  }

  /// This member's share, in everybody's memory.
  Status visit(const Operation &operation) {
    MemberTable::Visit visit(*table, rank);
    if (!visit.admitted)
      return table->failure();
    for (int m = 0; m < table->size(); ++m)
      ofMembers[size_t(m)] = table->member(m).operation;
    if (Status status = checkAgreement(); !status.ok())
      return table->fail(status);
    return dispatch(operation);
  }

  const Operation &of(int member) const { return *ofMembers[size_t(member)]; }

  Status checkAgreement() const {
    Signature first = signatureOf(of(0));
    for (int m = 1; m < table->size(); ++m)
      if (Signature other = signatureOf(of(m)); other != first)
        return differ(first, nameOf(0), other, nameOf(m));
    if (first.kind == Kind::AllToAll)
      for (size_t from = 0; from < ofMembers.size(); ++from)
        for (size_t to = 0; to < ofMembers.size(); ++to)
          if (int64_t sent = ofMembers[from]->inCounts[to], taken = ofMembers[to]->outCounts[from]; sent != taken)
            return differCounts(of(0), sent, nameOf(int(from)), taken, nameOf(int(to)));
    return {};
  }

  // Nobody but the owner of a part touches it, in any member's memory; so it needs no copy, and one pass is enough.
  Status allReduce(const Operation &operation) override {
    Part part = partOf(operation.count, rank, table->size());
    return reduce(operation, part.begin, static_cast<char *>(operation.out) + part.begin * byteSize(operation.type),
                  part.count(), true);
  }

  Status reduceScatter(const Operation &operation) override {
    return reduce(operation, rank * operation.count, static_cast<char *>(operation.out), operation.count, false);
  }

  /// Reduces `count` elements of all inputs, from element `begin`, into `out`, and from there to all members.
  Status reduce(const Operation &operation, int64_t begin, char *out, int64_t count, bool toAll) {
    int64_t size = byteSize(operation.type);
    std::vector<const void *> inputs(ofMembers.size());
    for (int64_t i = 0; i < count; i += kPieceElements) {
      if (table->hasFailed())
        return table->failure();
      int64_t piece = std::min(kPieceElements, count - i);
      for (size_t m = 0; m < inputs.size(); ++m)
        inputs[m] = static_cast<const char *>(ofMembers[m]->in) + (begin + i) * size;
      treeReduce(operation.type, operation.reduce, inputs, out + i * size, piece);
      for (int m = 0; toAll && m < table->size(); ++m)
        if (m != rank)
          std::memcpy(static_cast<char *>(of(m).out) + (begin + i) * size, out + i * size, size_t(piece * size));
    }
    return {};
  }

  Status allGather(const Operation &operation) override {
    for (int m = 0; m < table->size(); ++m)
      if (Status status = copy(operation, m * operation.count, of(m).in, 0, operation.count); !status.ok())
        return status;
    return {};
  }

  Status broadcast(const Operation &operation) override {
    return rank == operation.peer ? Status() : copy(operation, 0, of(operation.peer).out, 0, operation.count);
  }

  Status barrier(const Operation &) override { return {}; }

  Status allToAll(const Operation &operation) override {
    int64_t to = 0;
    for (size_t m = 0; m < ofMembers.size(); ++m) {
      const std::vector<int64_t> &counts = ofMembers[m]->inCounts;
      int64_t from = std::accumulate(counts.begin(), counts.begin() + rank, int64_t(0));
      if (Status status = copy(operation, to, ofMembers[m]->in, from, counts[size_t(rank)]); !status.ok())
        return status;
      to += operation.outCounts[m];
    }
    return {};
  }

  /// Elements from another member's memory into this member's `out`.
  Status copy(const Operation &operation, int64_t outIndex, const void *in, int64_t inIndex, int64_t count) {
    int64_t size = byteSize(operation.type);
    char *to = static_cast<char *>(operation.out) + outIndex * size;
    const char *from = static_cast<const char *>(in) + inIndex * size;
    if (to == from)
      return {};
    for (int64_t i = 0; i < count * size; i += kPieceBytes) {
      if (table->hasFailed())
        return table->failure();
      std::memcpy(to + i, from + i, size_t(std::min(kPieceBytes, count * size - i)));
    }
    return {};
  }

  Status send(const Operation &operation) override {
    MemberTable::Box &box = table->box(rank, operation.peer);
    box.operation = &operation;
    uint64_t number = ++box.posted;
    table->announce();
    return table->await(operation.peer, operation.peer + 1, missing, [&](int) { return box.taken >= number; });
  }

  Status receive(const Operation &operation) override {
    MemberTable::Box &box = table->box(operation.peer, rank);
    uint64_t number = box.taken + 1;
    if (Status status =
            table->await(operation.peer, operation.peer + 1, missing, [&](int) { return box.posted >= number; });
        !status.ok())
      return status;
    {
      MemberTable::Visit visit(*table, rank);
      if (!visit.admitted)
        return table->failure();
      if (Status status =
              checkTransfer(signatureOf(*box.operation), nameOf(operation.peer), signatureOf(operation), nameOf(rank));
          !status.ok())
        return table->fail(status);
      if (Status status = copy(operation, 0, box.operation->in, 0, operation.count); !status.ok())
        return status;
    }
    box.taken = number;
    table->announce();
    return {};
  }

  std::shared_ptr<MemberTable> table;
  MemberTable::Member &me;
  uint64_t collectives = 0;
  std::vector<const Operation *> ofMembers;
  std::vector<int> missing; ///< under the table's lock
};

/// Tables that members are still joining, by a number that the store passes on.
class JoiningTables {
public:
  uint64_t add(std::shared_ptr<MemberTable> table) {
    std::lock_guard guard(lock);
    tables[++last] = std::move(table);
    return last;
  }
  std::shared_ptr<MemberTable> find(uint64_t number) {
    std::lock_guard guard(lock);
    auto found = tables.find(number);
    return found == tables.end() ? nullptr : found->second;
  }
  void remove(uint64_t number) {
    std::lock_guard guard(lock);
    tables.erase(number);
  }

private:
  std::mutex lock;
  std::map<uint64_t, std::shared_ptr<MemberTable>> tables;
  uint64_t last = 0;
};

class Factory final : public CommunicatorFactory {
  StatusOr<std::unique_ptr<Communicator>> make(Store &store, const Group &group, int channel, uint64_t generation,
                                               Deadline deadline, const CommunicatorOptions &options) override {
    std::string key = storeKey(group, channel, generation) + "/inprocess";
    uint64_t number = 0;
    if (group.rank == 0) {
      number = joining.add(std::make_shared<MemberTable>(group));
      if (Status status = store.set(key, std::to_string(getpid()) + " " + std::to_string(number)); !status.ok()) {
        joining.remove(number);
        return status;
      }
    } else if (Status status = find(store, key, group, deadline, number); !status.ok()) {
      return status;
    }
    std::shared_ptr<MemberTable> table = joining.find(number);
    Status status = join(table, group);
    if (status.ok()) {
      StatusOr<std::vector<std::string>> all = exchange(store, key + "/", group, "joined", deadline);
      if (!all.ok())
        status = table->fail(all.status());
      else if (std::find(all->begin(), all->end(), "failed") != all->end())
        status = table->failure();
    } else if (table && table->hasFailed()) {
      (void)store.set(key + "/" + std::to_string(group.rank), "failed");
    }
    if (group.rank == 0)
      joining.remove(number);
    if (!status.ok())
      return status;
    return makeHostCommunicator(group, std::make_unique<InProcessEngine>(std::move(table), group), options);
  }

  static Status find(Store &store, const std::string &key, const Group &group, Deadline deadline, uint64_t &number) {
    StatusOr<std::string> value = store.get(key, deadline);
    if (!value.ok())
      return missingMembers(group, {0}, value.status());
    pid_t process = 0;
    const char *end = value->data() + value->size();
    auto first = std::from_chars(value->data(), end, process);
    if (first.ec != std::errc() || first.ptr == end || std::from_chars(first.ptr + 1, end, number).ptr != end)
      return {StatusCode::Internal, "group '" + group.name + "': expects process and number, got '" + *value + "'"};
    if (process != getpid())
      return {StatusCode::InvalidInput, "group '" + group.name + "': expects all members in one process for the " +
                                            "in-process communicator, got processes " + std::to_string(process) +
                                            " and " + std::to_string(getpid())};
    return {};
  }

  static Status join(const std::shared_ptr<MemberTable> &table, const Group &group) {
    if (!table)
      return {StatusCode::PeerFailed, "group '" + group.name + "': " + group.members[0] + " has given up"};
    if (table->names != group.members)
      return table->fail({StatusCode::InvalidInput, "group '" + group.name + "': expects the same members everywhere"});
    if (table->member(group.rank).joined.exchange(true))
      return {StatusCode::InvalidInput,
              "group '" + group.name + "': " + group.members[size_t(group.rank)] + " is there already"};
    return {};
  }

  JoiningTables joining;
};

} // namespace

CommunicatorFactory &inProcessFactory() {
  static Factory factory;
  return factory;
}

} // namespace dlc::runtime
