#include "rendezvous/Socket.h"
#include "rendezvous/TcpStore.h"

#include <algorithm>
#include <thread>

namespace dlc::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// One attempt. PeerFailed: worth another.
class Attempt {
public:
  Attempt(const TcpStoreOptions &options, std::string name, Deadline deadline)
      : options_(options), name_(std::move(name)), deadline_(deadline) {}

  StatusOr<std::unique_ptr<Store>> run(const addrinfo &address) {
    StatusOr<std::unique_ptr<FileDescriptor>> socket =
        connectTo(address, std::min(deadline_, Clock::now() + std::chrono::seconds(10)));
    if (!socket.ok())
      return socket.status();
    socket_ = socket.take();
    if (Status status = greet(); !status.ok())
      return status;
    StatusOr<Digest> nonce = drawNonce();
    if (!nonce.ok())
      return nonce.status();
    FrameSealer sealer(frameKey(options_.secret, false, serverNonce_, view(*nonce)));
    FrameOpener opener(frameKey(options_.secret, true, serverNonce_, view(*nonce)));
    BodyWriter hello;
    hello.raw(view(*nonce)).number(static_cast<uint64_t>(options_.rank)).number(options_.generation);
    if (Status status = sendAll(socket_->get(), sealer.seal(FrameType::Hello, hello.bytes()), deadline_); !status.ok())
      return status;
    if (Status status = beWelcome(opener); !status.ok())
      return status;
    return std::unique_ptr<Store>(
        std::make_unique<TcpStore>(std::move(socket_), name_, sealer, opener, std::move(input_),
                                   options_.callTimeout.count() > 0 ? options_.callTimeout : options_.timeout));
  }

private:
  Status wrong(const std::string &what) const {
    return {StatusCode::InvalidInput, "what listens at " + name_ + " " + what};
  }

  /// Receives until `size` bytes are there.
  Status need(size_t size) {
    while (input_.size() < size) {
      if (Clock::now() >= deadline_)
        return {StatusCode::PeerFailed, "it accepts but says nothing"};
      if (Status status = receiveSome(socket_->get(), input_, deadline_); !status.ok())
        return status;
      size_t known = std::min(input_.size(), kGreeting.size());
      if (serverNonce_.empty() && input_.substr(0, known) != kGreeting.substr(0, known))
        return wrong("is no dlc store");
    }
    return {};
  }

  Status greet() {
    if (Status status = need(kGreetingSize); !status.ok())
      return status;
    BodyReader greeting(std::string_view(input_).substr(kGreeting.size(), 4));
    if (uint64_t version = greeting.number(4); version != kStoreVersion)
      return wrong("is a store of version " + std::to_string(version) + ", this rank speaks version " +
                   std::to_string(kStoreVersion));
    serverNonce_ = input_.substr(kGreetingSize - kDigestSize, kDigestSize);
    input_.erase(0, kGreetingSize);
    return {};
  }

  Status beWelcome(FrameOpener &opener) {
    if (Status status = need(4); !status.ok())
      return status;
    if (BodyReader(input_).number(4) == 0)
      return {StatusCode::InvalidInput, "refused by the store at " + name_ +
                                            "; is the secret (DLC_SECRET_FILE, DLC_SECRET) the same on all ranks?"};
    StatusOr<std::optional<size_t>> size = frameSize(input_, kLongestHello);
    if (!size.ok())
      return wrong("answers with " + size.status().message());
    if (Status status = need(**size); !status.ok())
      return status;
    StatusOr<Frame> frame = opener.open(std::string_view(input_).substr(0, **size));
    if (!frame.ok())
      return wrong("does not know the secret");
    std::string failure(frame->type == FrameType::Welcome ? "" : frame->body);
    input_.erase(0, **size);
    if (failure.empty())
      return {};
    constexpr size_t headerSize = 9; // request and code
    return {StatusCode::InvalidInput,
            "refused by the store at " + name_ + ": " + failure.substr(std::min(failure.size(), headerSize))};
  }

  const TcpStoreOptions &options_;
  std::string name_;
  Deadline deadline_;
  std::unique_ptr<FileDescriptor> socket_;
  std::string input_, serverNonce_;
};

} // namespace

StatusOr<std::unique_ptr<Store>> connectStore(const TcpStoreOptions &options) {
  constexpr std::chrono::milliseconds shortestPause{5}, longestPause{200};
  Deadline deadline = Clock::now() + options.timeout;
  std::string name = options.address + ":" + std::to_string(options.port);
  Status problem;
  for (auto pause = shortestPause;; pause = std::min(pause * 2, longestPause)) {
    StatusOr<AddressList> addresses = resolve(options.address, options.port);
    if (!addresses.ok())
      problem = addresses.status(); // the name may appear with the other pods
    for (const addrinfo *address = addresses.ok() ? addresses->get() : nullptr; address; address = address->ai_next) {
      StatusOr<std::unique_ptr<Store>> store = Attempt(options, name, deadline).run(*address);
      if (store.ok() || store.status().code() != StatusCode::PeerFailed)
        return store;
      problem = store.status();
    }
    if (Clock::now() + pause >= deadline)
      break;
    std::this_thread::sleep_for(pause);
  }
  return Status(StatusCode::PeerFailed, "no store at " + name + " within " + std::to_string(options.timeout.count()) +
                                            " ms: " + problem.message() +
                                            "; does rank 0 run, and is MASTER_ADDR its host?");
}

} // namespace dlc::runtime
