#pragma once

#include "comm/host/TransferEngine.h"
#include "comm/mpi/MpiProcess.h"

namespace dlc::runtime {

/// Carries transfers as messages of MPI, whose progress is the polling of whoever waits.
///
/// MPI only ever sees memory of the engine's own: a message that was started cannot be taken back, so after a failure
/// that memory is given up, and the caller's is free at once.
class MpiEngine final : public TransferEngine {
public:
  MpiEngine(MpiProcess &process, const Group &group, MpiChannel joined, bool fixedOrder);
  ~MpiEngine() override;

  std::string_view name() const override { return "mpi"; }
  void interrupt(const Status &why) noexcept override;
  std::vector<int> awaited() const override;

private:
  struct Message {
    const Move *move;
    char *stage;
    int64_t bytes;
  };

  Status exchange(const std::vector<Move> &moves) override;
  std::optional<Status> ownAllReduce(const Operation &operation) override;
  /// The bytes of all moves from `begin`, at most `most` of each.
  Status exchangePiece(const std::vector<Move> &moves, int64_t begin, int64_t most);
  /// Polls until all requests, of these members, are done.
  Status complete(std::vector<MPI_Request> &requests, const std::vector<Message> &messages, bool patient);
  /// Whether somebody has told its end or is gone: then the channel's reason.
  Status look(bool atProcesses);
  /// Keeps the first reason and tells the other members `told`.
  Status end(const Status &reason, const std::string &told) noexcept;
  void tell(MpiNotice::Kind kind, const std::string &text) noexcept;
  char *stageFor(int64_t bytes);

  MpiProcess &process;
  MpiChannel channel;
  const bool fixedOrder;
  int64_t stageBytes = 0;
  std::chrono::steady_clock::time_point gone{}; ///< when the first other member was seen to be gone
  std::string goneText;
  bool hasTold = false;

  mutable std::mutex lock;
  std::vector<int> givers, takers; ///< of the running exchange: not done
  Status why;
};

} // namespace dlc::runtime
