#pragma once

#include "base/FileDescriptor.h"
#include "rendezvous/Frame.h"

#include <memory>
#include <optional>
#include <string>

namespace dlc::runtime {

/// How long a peer may take to say who it is.
constexpr std::chrono::seconds kHelloLimit{5};

/// The server's end of one connection: buffers, handshake, frames. Nothing here waits.
class StorePeer {
public:
  struct Request {
    FrameType type;
    uint64_t number;
    std::string body;
  };

  StorePeer(int socket, std::string name, const Digest &nonce, const std::string &secret, uint64_t generation);

  int socket() const { return socket_.get(); }
  const std::string &name() const { return name_; }
  bool joined() const { return opener_.has_value(); }
  Deadline helloDeadline() const { return helloDeadline_; }

  /// Refused: to be closed once the output is sent.
  bool closing() const { return closing_; }
  bool wantsInput() const { return !closing_ && output_.size() < fullOutput && input_.size() < kLongestFrame; }
  bool hasOutput() const { return !output_.empty(); }

  /// next() stopped because of replies that the peer has taken since: there may be requests without new input.
  bool resumes() const { return stopped_ && output_.size() < fullOutput; }

  /// Reads what is there, before the handshake never more than it needs. PeerFailed: the connection is lost.
  Status receive();

  /// The next verified request, nothing while there is none or the peer does not take its replies. InvalidInput:
  /// refused, and why.
  StatusOr<std::optional<Request>> next();

  void reply(uint64_t request, const StatusOr<std::string> &result);

  /// Sends what the connection takes. PeerFailed: it is lost.
  Status flush();

private:
  static constexpr size_t fullOutput = size_t{4} << 20;

  Status join(std::string_view hello);
  Status refuse(std::string why);

  FileDescriptor socket_;
  std::string name_;
  Digest nonce_;
  const std::string &secret_;
  uint64_t generation_;
  Deadline helloDeadline_;
  std::optional<FrameOpener> opener_;
  std::optional<FrameSealer> sealer_;
  std::string input_, output_;
  bool closing_ = false, stopped_ = false;
};

} // namespace dlc::runtime
