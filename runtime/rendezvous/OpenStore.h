#pragma once

#include "dlc/runtime/Rendezvous.h"

namespace dlc::runtime {

/// One more connection to the store of a job that has met; of another rank's or the launcher's store, or of the files.
/// `timeout` bounds calls that do not wait for a key. Not for one rank alone.
StatusOr<std::unique_ptr<Store>> connectAgain(const Contract &contract, std::chrono::milliseconds timeout);

} // namespace dlc::runtime
