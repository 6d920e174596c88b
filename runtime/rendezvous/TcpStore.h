#pragma once

#include "base/FileDescriptor.h"
#include "rendezvous/Frame.h"

#include "dlc/runtime/TcpStore.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace dlc::runtime {

/// The client's end of a connection. Threads share it: requests carry numbers, and of the threads that wait for a reply
/// one reads for all.
class TcpStore final : public Store {
public:
  /// After the handshake; `input` is what came behind it.
  TcpStore(std::unique_ptr<FileDescriptor> socket, std::string name, FrameSealer sealer, FrameOpener opener,
           std::string input, std::chrono::milliseconds timeout)
      : socket_(std::move(socket)), name_(std::move(name)), timeout_(timeout), sealer_(sealer), opener_(opener),
        input_(std::move(input)) {}

  /// The server ends after this client.
  void keep(std::unique_ptr<StoreServer> server) { server_ = std::move(server); }

  Status set(std::string_view key, std::string_view value) override;
  StatusOr<std::string> get(std::string_view key, Deadline deadline) override;
  StatusOr<std::string> watch(std::string_view key, std::string_view known, Deadline deadline) override;
  StatusOr<int64_t> add(std::string_view key, int64_t delta) override;
  StatusOr<std::string> compareSet(std::string_view key, std::string_view expected, std::string_view desired) override;
  Status setWhenLost(std::string_view key, std::string_view value) override;

private:
  struct Pending {
    bool done = false;
    StatusOr<std::string> result = std::string();
  };

  std::chrono::milliseconds replyLimit() const;
  StatusOr<std::string> call(FrameType type, const BodyWriter &body, Deadline deadline);
  Status send(FrameType type, const BodyWriter &body, Pending &pending, uint64_t &number);
  StatusOr<std::string> waitForReply(uint64_t number, Pending &pending, Deadline deadline);
  void read(std::unique_lock<std::mutex> &lock, Deadline deadline);
  Status takeReplies();
  Status lost(const Status &why);

  std::unique_ptr<StoreServer> server_; ///< or nothing; before the socket, so that it goes last
  std::unique_ptr<FileDescriptor> socket_;
  std::string name_;
  std::chrono::milliseconds timeout_;

  std::mutex sending_; ///< numbers rise on the wire; taken before mutex_
  FrameSealer sealer_;

  std::mutex mutex_;
  std::condition_variable answered_;
  bool reading_ = false; ///< a thread reads for all; it alone uses opener_ and input_
  FrameOpener opener_;
  std::string input_;
  std::map<uint64_t, Pending *> pending_;
  Status lost_;
};

} // namespace dlc::runtime
