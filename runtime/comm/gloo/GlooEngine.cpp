#include "comm/gloo/GlooEngine.h"
#include "comm/host/BlockedSignals.h"

#include <exception>

#include <gloo/transport/unbound_buffer.h>

namespace dlc::runtime {

namespace {

constexpr std::chrono::milliseconds kReasonTime{200};

} // namespace

struct GlooEngine::Transfer {
  Move move;
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer; ///< one pending operation is all that it may have
  bool done = false;
};

GlooEngine::GlooEngine(const Group &group, std::unique_ptr<GlooContext> connected)
    : TransferEngine(group), context(std::move(connected)), ring(*context, group, [this](const std::string &text) {
        end({StatusCode::PeerFailed, "group '" + groupName + "': " + text}, text);
      }) {}

// Members may still be in the last operation, which this one has done: the ring must not take that for a failure.
GlooEngine::~GlooEngine() {
  BlockedSignals blocked;
  ring.tell({});
}

void GlooEngine::interrupt(const Status &reason) noexcept { end(reason, nameOf(rank) + ": " + reason.message()); }

void GlooEngine::end(const Status &reason, const std::string &told) noexcept {
  {
    std::lock_guard guard(lock);
    if (why.ok())
      why = reason;
    ended.notify_all();
    if (active)
      for (Transfer &each : *active) {
        each.buffer->abortWaitSend();
        each.buffer->abortWaitRecv();
      }
  }
  if (hasDisagreed())
    return;
  BlockedSignals blocked;
  ring.tell(told);
  context->close();
}

// Those whose data has not come; when all has, those who have not taken ours.
std::vector<int> GlooEngine::awaited() const {
  std::lock_guard guard(lock);
  std::vector<int> givers, takers;
  for (size_t i = 0; active && i < active->size(); ++i) {
    const Transfer &each = (*active)[i];
    if (!each.done && !hasArrived(each.move))
      (each.move.sends ? takers : givers).push_back(each.move.member);
  }
  return givers.empty() ? takers : givers;
}

Status GlooEngine::lost(int member, const char *what) const {
  return {StatusCode::PeerFailed, "group '" + groupName + "': lost " + nameOf(member) + ": " + what};
}

Status GlooEngine::exchange(const std::vector<Move> &moves) {
  std::vector<Transfer> transfers;
  transfers.reserve(moves.size());
  Status status;
  for (const Move &each : moves) {
    try {
      transfers.push_back({each, context->buffer(each.member, each.sends, each.data, size_t(each.bytes)), false});
      if (each.sends)
        transfers.back().buffer->send(each.member, each.slot);
      else
        transfers.back().buffer->recv(each.member, each.slot);
    } catch (const std::exception &error) {
      status = lost(each.member, error.what());
      break;
    }
  }
  {
    std::lock_guard guard(lock);
    if (!why.ok())
      status = why;
    active = &transfers;
  }
  for (size_t i = 0; status.ok() && i < transfers.size(); ++i)
    status = complete(transfers[i]);
  {
    std::unique_lock guard(lock);
    active = nullptr;
    // A connection ends a moment before the ring tells the reason.
    if (!status.ok() && ended.wait_for(guard, kReasonTime, [&] { return !why.ok(); }))
      status = why;
  }
  // Before the buffers go: nothing may move in memory that is the caller's again.
  if (!status.ok())
    interrupt(status);
  return status;
}

Status GlooEngine::complete(Transfer &transfer) {
  try {
    bool ended = transfer.move.sends ? transfer.buffer->waitSend(GlooContext::kNever)
                                     : transfer.buffer->waitRecv(GlooContext::kNever);
    std::lock_guard guard(lock);
    transfer.done = ended;
    return ended ? Status() : why;
  } catch (const std::exception &error) {
    return lost(transfer.move.member, error.what());
  }
}

namespace {

class Factory final : public CommunicatorFactory {
  StatusOr<std::unique_ptr<Communicator>> make(Store &store, const Group &group, int channel, uint64_t generation,
                                               Deadline deadline, const CommunicatorOptions &options) override {
    StatusOr<std::unique_ptr<GlooContext>> context =
        GlooContext::connect(store, storeKey(group, channel, generation) + "/gloo/", group, deadline);
    if (!context.ok())
      return context.status();
    return makeHostCommunicator(group, std::make_unique<GlooEngine>(group, context.take()), options);
  }
};

} // namespace

} // namespace dlc::runtime

/// What the runtime calls when it opens this plug-in.
extern "C" dlc::runtime::CommunicatorFactory *dlc_comm_factory() {
  static dlc::runtime::Factory factory;
  return &factory;
}
