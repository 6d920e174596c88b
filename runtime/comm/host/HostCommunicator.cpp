#include "comm/host/HostCommunicator.h"
#include "comm/DeviceCollectives.h"
#include "comm/host/Channel.h"
#include "comm/host/EmulatedEngine.h"

#include <cstring>
#include <limits>
#include <numeric>

namespace dlc::runtime {

namespace {

using Kind = Operation::Kind;

Status refuse(Kind kind, const Op &op, const std::string &message) {
  return {StatusCode::InvalidInput, describe(kind, op.id) + ": " + message};
}

bool apart(const Elements &one, const Elements &other) {
  auto begin = [](const Elements &each) { return reinterpret_cast<uintptr_t>(each.data); };
  auto end = [&](const Elements &each) { return begin(each) + uintptr_t(each.count * byteSize(each.type)); };
  return one.count == 0 || other.count == 0 || end(one) <= begin(other) || end(other) <= begin(one);
}

const char *at(const Elements &elements, int64_t index) {
  return static_cast<const char *>(elements.data) + index * byteSize(elements.type);
}

/// Checks arguments against this member alone; the first fault is kept.
class Check {
public:
  Check(Kind kind, const Op &op) : kind(kind), op(op) {}

  Check &elements(const Elements &each) {
    if (!isKnown(each.type))
      return fail("expects an element type, got " + std::to_string(int(each.type)));
    if (each.count < 0 || each.count > std::numeric_limits<int64_t>::max() / 8)
      return fail("expects a count of elements, got " + std::to_string(each.count));
    if (each.count > 0 && !each.data)
      return fail("expects memory for " + std::to_string(each.count) + " elements, got null");
    return *this;
  }

  Check &sameType(const Elements &one, const Elements &other) {
    if (one.type != other.type)
      return fail("expects one element type, got " + std::string(name(one.type)) + " and " +
                  std::string(name(other.type)));
    return *this;
  }

  Check &reduction(DType type, Reduce reduce) {
    if (reduce > Reduce::Min)
      return fail("expects sum, max or min, got " + std::to_string(int(reduce)));
    if (type == DType::I1 && reduce == Reduce::Sum)
      return fail("expects max (or) or min (and) of i1, got sum");
    return *this;
  }

  /// `whole` has `size` parts like `part`, which is apart from it or is part `rank`.
  Check &parts(const Elements &whole, const Elements &part, int rank, int size) {
    if (whole.count % size != 0 || whole.count / size != part.count)
      return fail("expects " + std::to_string(size) + " parts of " + std::to_string(part.count) + " elements, got " +
                  std::to_string(whole.count) + " elements");
    if (!apart(whole, part) && part.data != at(whole, rank * part.count))
      return fail("expects memory apart, or in place as part " + std::to_string(rank) + ", got memory that overlaps");
    return *this;
  }

  Check &member(int member, int size) {
    if (member < 0 || member >= size)
      return fail("expects a member below " + std::to_string(size) + ", got " + std::to_string(member));
    return *this;
  }

  Check &fail(const std::string &message) {
    if (status.ok())
      status = refuse(kind, op, message);
    return *this;
  }

  Check &counts(const Elements &elements, std::span<const int64_t> counts, int size) {
    if (int64_t(counts.size()) != size)
      return fail("expects " + std::to_string(size) + " counts, got " + std::to_string(counts.size()));
    int64_t left = elements.count;
    for (int64_t each : counts) {
      if (each < 0 || each > left)
        return fail("expects counts that add up to " + std::to_string(elements.count) + ", got " +
                    std::to_string(each) + " where " + std::to_string(left) + " are left");
      left -= each;
    }
    return left ? fail("expects counts that add up to " + std::to_string(elements.count) + ", got " +
                       std::to_string(elements.count - left))
                : *this;
  }

  Status status;

private:
  Kind kind;
  const Op &op;
};

class HostCommunicator final : public Communicator {
public:
  HostCommunicator(const Group &group, std::unique_ptr<HostEngine> engine)
      : engineName(engine->name()), rank_(group.rank), size_(int(group.members.size())),
        channel(std::make_shared<Channel>(group, std::move(engine))) {
    channel->start();
  }
  ~HostCommunicator() override { channel->stop(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string_view engine() const override { return engineName; }
  void abort(Status why) noexcept override { channel->abort(why); }
  std::vector<OperationRecord> history() const override {
    DeviceCollectives *device = channel->engine().onDevice();
    std::vector<OperationRecord> list = channel->history();
    return device && list.empty() ? device->history() : list; // one of the two ways
  }
  DeviceCollectives *onDevice() override { return channel->engine().onDevice(); }

  StatusOr<WorkPtr> allReduce(const Op &op, Elements inOut, Reduce reduce) override {
    Check check(Kind::AllReduce, op);
    check.elements(inOut).reduction(inOut.type, reduce);
    return submit(check, {Kind::AllReduce, reduce, inOut.type, op, inOut.data, inOut.data, inOut.count, 0, {}, {}});
  }

  StatusOr<WorkPtr> reduceScatter(const Op &op, Elements in, Elements out, Reduce reduce) override {
    Check check(Kind::ReduceScatter, op);
    check.elements(in).elements(out).sameType(in, out).reduction(in.type, reduce).parts(in, out, rank_, size_);
    return submit(check, {Kind::ReduceScatter, reduce, in.type, op, in.data, out.data, out.count, 0, {}, {}});
  }

  StatusOr<WorkPtr> allGather(const Op &op, Elements in, Elements out) override {
    Check check(Kind::AllGather, op);
    check.elements(in).elements(out).sameType(in, out).parts(out, in, rank_, size_);
    return submit(check, {Kind::AllGather, Reduce::Sum, in.type, op, in.data, out.data, in.count, 0, {}, {}});
  }

  StatusOr<WorkPtr> broadcast(const Op &op, Elements inOut, int root) override {
    Check check(Kind::Broadcast, op);
    check.elements(inOut).member(root, size_);
    return submit(check,
                  {Kind::Broadcast, Reduce::Sum, inOut.type, op, inOut.data, inOut.data, inOut.count, root, {}, {}});
  }

  StatusOr<WorkPtr> allToAll(const Op &op, Elements in, Elements out, std::span<const int64_t> inCounts,
                             std::span<const int64_t> outCounts) override {
    Check check(Kind::AllToAll, op);
    check.elements(in).elements(out).sameType(in, out).counts(in, inCounts, size_).counts(out, outCounts, size_);
    if (!apart(in, out))
      check.fail("expects memory apart, got memory that overlaps");
    return submit(check, {Kind::AllToAll,
                          Reduce::Sum,
                          in.type,
                          op,
                          in.data,
                          out.data,
                          out.count,
                          0,
                          {inCounts.begin(), inCounts.end()},
                          {outCounts.begin(), outCounts.end()}});
  }

  StatusOr<WorkPtr> send(const Op &op, Elements in, int to) override {
    Check check(Kind::Send, op);
    other(check.elements(in).member(to, size_), to);
    return submit(check, {Kind::Send, Reduce::Sum, in.type, op, in.data, nullptr, in.count, to, {}, {}});
  }

  StatusOr<WorkPtr> receive(const Op &op, Elements out, int from) override {
    Check check(Kind::Receive, op);
    other(check.elements(out).member(from, size_), from);
    return submit(check, {Kind::Receive, Reduce::Sum, out.type, op, nullptr, out.data, out.count, from, {}, {}});
  }

  StatusOr<WorkPtr> barrier(const Op &op) override {
    return submit(Check(Kind::Barrier, op),
                  {Kind::Barrier, Reduce::Sum, DType::F32, op, nullptr, nullptr, 0, 0, {}, {}});
  }

private:
  void other(Check &check, int member) const {
    if (member == rank_)
      check.fail("expects another member, got " + std::to_string(member) + ", this one");
  }

  StatusOr<WorkPtr> submit(const Check &check, Operation operation) {
    if (!check.status.ok())
      return check.status;
    return channel->submit(std::move(operation));
  }

  std::string engineName;
  int rank_, size_;
  std::shared_ptr<Channel> channel;
};

} // namespace

std::unique_ptr<Communicator> makeHostCommunicator(const Group &group, std::unique_ptr<HostEngine> engine,
                                                   const CommunicatorOptions &options) {
  if (options.network)
    engine = emulate(std::move(engine), *options.network, int(group.members.size()));
  return std::make_unique<HostCommunicator>(group, std::move(engine));
}

std::string storeKey(const Group &group, int channel, uint64_t generation) {
  return "comm/" + std::to_string(generation) + "/" + group.name + "/" + std::to_string(channel);
}

StatusOr<std::vector<std::string>> exchange(Store &store, const std::string &key, const Group &group,
                                            std::string_view text, Deadline deadline) {
  std::string context = "group '" + group.name + "'";
  if (Status status = store.set(key + std::to_string(group.rank), text); !status.ok())
    return status.withContext(context);
  std::vector<std::string> all;
  std::vector<int> missing;
  Status first;
  for (int m = 0; m < int(group.members.size()); ++m) {
    StatusOr<std::string> each = store.get(key + std::to_string(m), deadline);
    if (!each.ok() && each.status().code() != StatusCode::LimitExceeded)
      return each.status().withContext(context);
    if (each.ok()) {
      all.push_back(each.take());
      continue;
    }
    missing.push_back(m);
    first = each.status();
  }
  return missing.empty() ? StatusOr<std::vector<std::string>>(std::move(all)) : missingMembers(group, missing, first);
}

Status missingMembers(const Group &group, const std::vector<int> &ranks, const Status &status) {
  std::string context = "group '" + group.name + "'";
  if (status.code() != StatusCode::LimitExceeded)
    return status.withContext(context);
  std::string names;
  for (int each : ranks)
    names += (names.empty() ? "" : ", ") + group.members[size_t(each)];
  return {StatusCode::PeerFailed, context + ": at its limit of time still without " + names};
}

} // namespace dlc::runtime
