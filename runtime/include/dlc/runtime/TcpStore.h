#pragma once

#include "dlc/runtime/Store.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace dlc::runtime {

/// Where a store listens, who is asking.
struct TcpStoreOptions {
  std::string address = "127.0.0.1";          ///< name or number
  int port = 0;                               ///< 0: the server takes a free one
  std::string secret;                         ///< known to all processes of the job
  uint64_t generation = 0;                    ///< a client of another one is refused
  int rank = 0;                               ///< of the client, for messages
  std::chrono::milliseconds timeout{300'000}; ///< of connecting, and of every call that does not wait for a key
  std::chrono::milliseconds callTimeout{0};   ///< of those calls, where it is another one
  std::function<void(const std::string &)>
      report; ///< of the server: one line for each refused peer; empty: standard error
};

/// A thread that serves a store over TCP until it is destroyed. No peer can stop it or hold it up.
class StoreServer {
public:
  virtual ~StoreServer() = default;
  virtual int port() const = 0;
};

/// InvalidInput: the port is in use, the address is not this host's, or no secret and an address that others reach.
StatusOr<std::unique_ptr<StoreServer>> serveStore(const TcpStoreOptions &options);

/// Tries until a store answers or the timeout passes (PeerFailed). InvalidInput: it refuses (secret, generation),
/// speaks another version, or is no store.
StatusOr<std::unique_ptr<Store>> connectStore(const TcpStoreOptions &options);

} // namespace dlc::runtime
