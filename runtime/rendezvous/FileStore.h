#pragma once

#include "dlc/runtime/Store.h"

#include <chrono>
#include <memory>
#include <string>

namespace dlc::runtime {

/// A store in the files of a directory that only this user can enter, for the processes of one host; made if it is not
/// there, removed by the last that leaves. `timeout` bounds calls that do not wait for a key. InvalidInput: another
/// user's directory, or one that others may enter.
StatusOr<std::unique_ptr<Store>> openFileStore(const std::string &directory, std::chrono::milliseconds timeout);

} // namespace dlc::runtime
