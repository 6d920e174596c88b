#pragma once

#include "comm/gloo/GlooRing.h"
#include "comm/host/TransferEngine.h"

#include <condition_variable>
#include <mutex>

namespace dlc::runtime {

/// Carries transfers over Gloo's connections.
class GlooEngine final : public TransferEngine {
public:
  GlooEngine(const Group &group, std::unique_ptr<GlooContext> connected);
  ~GlooEngine() override;

  std::string_view name() const override { return "gloo"; }
  void interrupt(const Status &why) noexcept override;
  std::vector<int> awaited() const override;

private:
  struct Transfer;

  Status exchange(const std::vector<Move> &moves) override;
  /// Waits for one; what Gloo throws is a Status.
  Status complete(Transfer &transfer);
  Status lost(int member, const char *what) const;
  /// Keeps the first reason, ends what runs, tells the ring and closes.
  void end(const Status &reason, const std::string &told) noexcept;

  std::unique_ptr<GlooContext> context;
  mutable std::mutex lock;
  std::vector<Transfer> *active = nullptr; ///< what may have to be ended
  Status why;                              ///< it has ended
  std::condition_variable ended;
  GlooRing ring; ///< calls end, so it is the last to come and the first to go
};

} // namespace dlc::runtime
