#include "rendezvous/StorePeer.h"

#include "rendezvous/Socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <utility>

namespace dlc::runtime {

StorePeer::StorePeer(int socket, std::string name, const Digest &nonce, const std::string &secret, uint64_t generation)
    : socket_(socket), name_(std::move(name)), nonce_(nonce), secret_(secret), generation_(generation),
      helloDeadline_(std::chrono::steady_clock::now() + kHelloLimit) {
  output_ = BodyWriter().raw(kGreeting).number(kStoreVersion, 4).raw(view(nonce_)).bytes();
}

Status StorePeer::receive() {
  std::array<char, 65536> buffer;
  size_t most = joined() ? buffer.size() : kLongestHello - std::min(kLongestHello, input_.size());
  if (most == 0)
    return {};
  ssize_t received = ::recv(socket(), buffer.data(), most, 0);
  if (received > 0)
    input_.append(buffer.data(), static_cast<size_t>(received));
  else if (received == 0 || (errno != EAGAIN && errno != EINTR))
    return {StatusCode::PeerFailed, "connection closed"};
  return {};
}

StatusOr<std::optional<StorePeer::Request>> StorePeer::next() {
  while (!closing_ && output_.size() < fullOutput) {
    StatusOr<std::optional<size_t>> size = frameSize(input_, joined() ? kLongestFrame : kLongestHello);
    if (!size.ok())
      return joined() ? size.status() : refuse("no client of a store: " + size.status().message());
    if (!*size || input_.size() < **size)
      break;
    std::string bytes = input_.substr(0, **size);
    input_.erase(0, **size);
    if (!joined()) {
      if (Status status = join(bytes); !status.ok())
        return status;
      continue;
    }
    StatusOr<Frame> frame = opener_->open(bytes);
    if (!frame.ok())
      return frame.status();
    return std::optional<Request>({frame->type, frame->counter, std::string(frame->body)});
  }
  stopped_ = output_.size() >= fullOutput;
  return std::optional<Request>();
}

Status StorePeer::join(std::string_view hello) {
  Frame frame = frameParts(hello);
  BodyReader body(frame.body);
  std::string_view nonce = body.raw(kDigestSize);
  uint64_t rank = body.number();
  uint64_t generation = body.number();
  if (frame.type != FrameType::Hello || !body.done())
    return refuse("no client of a store: no hello");
  FrameOpener opener(frameKey(secret_, false, view(nonce_), nonce));
  if (!opener.open(hello).ok())
    return refuse("wrong secret");
  sealer_.emplace(frameKey(secret_, true, view(nonce_), nonce));
  opener_ = opener;
  if (generation == generation_) {
    output_ += sealer_->seal(FrameType::Welcome, {});
    return {};
  }
  std::string why = "rank " + std::to_string(rank) + " is of generation " + std::to_string(generation) +
                    ", the store of generation " + std::to_string(generation_);
  reply(0, Status(StatusCode::InvalidInput, why));
  closing_ = true;
  return {StatusCode::InvalidInput, why};
}

Status StorePeer::refuse(std::string why) {
  output_ += BodyWriter().number(0, 4).bytes(); // who does not know the secret hears no more
  closing_ = true;
  return {StatusCode::InvalidInput, std::move(why)};
}

void StorePeer::reply(uint64_t request, const StatusOr<std::string> &result) {
  BodyWriter body;
  body.number(request);
  if (result.ok())
    output_ += sealer_->seal(FrameType::Reply, body.raw(*result).bytes());
  else
    output_ += sealer_->seal(
        FrameType::Failure,
        body.number(static_cast<uint8_t>(result.status().code()), 1).raw(result.status().message()).bytes());
}

Status StorePeer::flush() {
  std::string_view rest = output_;
  Status status;
  while (!rest.empty()) {
    ssize_t sent = ::send(socket(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0)
      rest.remove_prefix(static_cast<size_t>(sent));
    else if (errno != EINTR) {
      if (errno != EAGAIN)
        status = {StatusCode::PeerFailed, "connection closed"};
      break;
    }
  }
  output_.erase(0, output_.size() - rest.size());
  return status;
}

} // namespace dlc::runtime
