#pragma once

#include "dlc/runtime/Executable.h"
#include "dlc/runtime/Rendezvous.h"

#include <map>
#include <mutex>
#include <string>

namespace dlc::runtime {

/// "train_step, evaluate": in one line.
std::string entryNames(const Manifest &manifest);

/// All ranks run the same programs, in the same order, or none does.
class ProgramCheck {
public:
  ProgramCheck(Store &store, const Contract &contract, std::string who)
      : store_(store), contract_(contract), who_(std::move(who)) {}

  /// Compares a program with the other ranks' the first time it comes; waits for all. Its number, from 1. InvalidInput:
  /// they differ, with the first difference; PeerFailed: not all ranks came, at the limit.
  StatusOr<uint32_t> check(const Manifest &manifest);

private:
  Status compare(const std::string &mine, uint32_t number, const std::string &entries);

  Store &store_;
  const Contract &contract_;
  std::string who_; ///< "rank 2 (host b)"
  std::mutex lock_; ///< members of this process ask at once
  std::map<std::string, StatusOr<uint32_t>> known_;
};

} // namespace dlc::runtime
