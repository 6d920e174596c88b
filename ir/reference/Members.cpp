#include "dlc/ir/Collective.h"
#include "dlc/ir/Reference.h"

#include <condition_variable>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace dlc::dl;

namespace {

using Operands = std::vector<std::vector<ReferenceTensor>>;

/// Where members meet: an exchange is over when the last one has come.
class Meeting {
public:
  explicit Meeting(size_t members) : members(members), operands(members) {}

  FailureOr<Operands> exchange(int64_t member, Operation *op, ArrayRef<ReferenceTensor> given) {
    std::unique_lock lock(mutex);
    if (arrived == 0)
      meets = op;
    if (broken || left > 0 || op != meets)
      return breakUp(lock, op);
    operands[member].assign(given.begin(), given.end());
    if (++arrived == members) {
      complete = operands;
      arrived = 0;
      ++round;
      changed.notify_all();
      return complete;
    }
    uint64_t mine = round;
    changed.wait(lock, [&] { return broken || round != mine; });
    if (round == mine)
      return breakUp(lock, op);
    return complete; // the next exchange cannot be over before this member has come to it
  }

  /// A member has no more to say; whoever waits for it, or comes later, fails.
  void leave(bool failed) {
    std::unique_lock lock(mutex);
    ++left;
    if (failed || arrived > 0)
      broken = true;
    changed.notify_all();
  }

private:
  LogicalResult breakUp(std::unique_lock<std::mutex> &lock, Operation *op) {
    bool first = !std::exchange(broken, true);
    changed.notify_all();
    lock.unlock();
    return first ? op->emitOpError("expects all members at this collective, got one elsewhere") : failure();
  }

  size_t members, arrived = 0, left = 0;
  uint64_t round = 0;
  bool broken = false;
  Operation *meets = nullptr;
  Operands operands, complete;
  std::mutex mutex;
  std::condition_variable changed;
};

class Member : public ReferenceMember {
public:
  Member(Meeting &meeting, int64_t index) : meeting(meeting), index(index) {}
  int64_t number() const override { return index; }
  FailureOr<Operands> exchange(Operation *op, ArrayRef<ReferenceTensor> operands) override {
    return meeting.exchange(index, op, operands);
  }

private:
  Meeting &meeting;
  int64_t index;
};

/// The context is for one thread unless told otherwise.
class ManyThreads {
public:
  explicit ManyThreads(MLIRContext *context) : context(context), before(context->isMultithreadingEnabled()) {
    context->enableMultithreading();
  }
  ~ManyThreads() { context->enableMultithreading(before); }

private:
  MLIRContext *context;
  bool before;
};

} // namespace

LogicalResult dlc::dl::evaluateMembers(func::FuncOp function, MutableArrayRef<ReferenceShare> shares) {
  MeshOp mesh = MeshOp::find(function);
  if (!mesh || mesh.size() != int64_t(shares.size()))
    return function.emitOpError("expects a mesh of ") << shares.size() << " members";
  ManyThreads threads(function.getContext());
  Meeting meeting(shares.size());
  std::vector<char> ok(shares.size(), false);
  auto run = [&](size_t i) {
    Member member(meeting, int64_t(i));
    FailureOr<SmallVector<ReferenceTensor>> results = evaluateBlock(
        function.getBody().front(), shares[i].arguments, {ReferencePrecision::Double, &shares[i].state, &member});
    if (succeeded(results))
      shares[i].results.assign(results->begin(), results->end());
    ok[i] = succeeded(results);
    meeting.leave(failed(results));
  };
  std::vector<std::thread> members;
  for (size_t i = 0; i < shares.size(); ++i)
    members.emplace_back(run, i);
  for (std::thread &member : members)
    member.join();
  return success(llvm::all_of(ok, [](char one) { return one; }));
}
