#include "base/FileError.h"
#include "rendezvous/KeyTable.h"
#include "rendezvous/PortOwner.h"
#include "rendezvous/Socket.h"
#include "rendezvous/StorePeer.h"

#include "dlc/runtime/TcpStore.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace dlc::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t mostWaitingPeers = 64, mostWaitsOfAPeer = 64, mostWillsOfAPeer = 16;
constexpr int mostReports = 16;
constexpr std::chrono::milliseconds quietTime{100}, longestStop{1000};

/// A request that waits for a key.
struct Wait {
  uint64_t request;
  std::string key;
  std::optional<std::string> known; ///< of a watch
  Deadline deadline;

  bool endsWith(const std::string *value) const { return value && (!known || *value != *known); }
};

struct Client {
  explicit Client(std::unique_ptr<StorePeer> peer) : peer(std::move(peer)) {}

  std::unique_ptr<StorePeer> peer;
  std::vector<Wait> waits;
  std::vector<std::pair<std::string, std::string>> wills; ///< keys and values for when it is gone
  bool gone = false;
};

class TcpStoreServer final : public StoreServer {
public:
  TcpStoreServer(TcpStoreOptions options, std::unique_ptr<FileDescriptor> listener, int wake)
      : options_(std::move(options)), listener_(std::move(listener)), wake_(wake), port_(boundPort(listener_->get())) {
    sigset_t all, before;
    sigfillset(&all); // signals are for the program's own threads
    pthread_sigmask(SIG_BLOCK, &all, &before);
    thread_ = std::thread([this] { serve(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~TcpStoreServer() override {
    ::eventfd_write(wake_.get(), 1);
    thread_.join();
  }

  int port() const override { return port_; }

private:
  void serve() {
    while (!ended()) {
      std::vector<pollfd> items = pollItems();
      if (::poll(items.data(), items.size(), pollTimeout()) < 0 && errno != EINTR)
        std::this_thread::sleep_for(std::chrono::milliseconds(10)); // out of memory: it may pass
      for (size_t i = 2; i < items.size(); ++i)
        receive(clients_[i - 2], items[i].revents);
      if (items[1].revents != 0)
        acceptPeers();
      for (Client &client : clients_)
        answer(client);
      expire();
      for (Client &client : clients_)
        client.gone =
            client.gone || !client.peer->flush().ok() || (client.peer->closing() && !client.peer->hasOutput());
      dropLostClients();
      if (items[0].revents != 0)
        stop();
    }
    sendLastReplies();
  }

  void dropLostClients() {
    std::vector<std::pair<std::string, std::string>> wills;
    for (Client &client : clients_)
      if (client.gone)
        wills.insert(wills.end(), client.wills.begin(), client.wills.end());
    std::erase_if(clients_, [](const Client &client) { return client.gone; });
    for (const auto &[key, value] : wills)
      if (table_.set(key, value).ok())
        answerWaits(key);
  }

  /// Requests under way are still answered: until the peers are gone or quiet.
  void stop() {
    stopping_ = true;
    quiet_ = Clock::now() + quietTime;
    end_ = Clock::now() + longestStop;
  }

  bool ended() const { return stopping_ && (clients_.empty() || Clock::now() >= std::min(quiet_, end_)); }

  std::vector<pollfd> pollItems() const {
    size_t waiting = std::count_if(clients_.begin(), clients_.end(), [](const Client &c) { return !c.peer->joined(); });
    bool accepts =
        !stopping_ && waiting < mostWaitingPeers && Clock::now() >= acceptAgain_; // the others wait in the backlog
    std::vector<pollfd> items = {{stopping_ ? -1 : wake_.get(), POLLIN, 0},
                                 {accepts ? listener_->get() : -1, POLLIN, 0}};
    for (const Client &client : clients_) {
      auto events =
          static_cast<short>((client.peer->wantsInput() ? POLLIN : 0) | (client.peer->hasOutput() ? POLLOUT : 0));
      items.push_back({client.peer->socket(), events, 0});
    }
    return items;
  }

  /// Until the next limit passes.
  int pollTimeout() const {
    Deadline next = Clock::now() + std::chrono::seconds(60);
    if (stopping_)
      next = std::min({next, quiet_, end_});
    if (acceptAgain_ > Clock::now())
      next = std::min(next, acceptAgain_);
    for (const Client &client : clients_) {
      if (client.peer->resumes())
        return 0;
      if (!client.peer->joined() || client.peer->closing())
        next = std::min(next, client.peer->helloDeadline());
      for (const Wait &wait : client.waits)
        next = std::min(next, wait.deadline);
    }
    auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::max<int64_t>(0, left));
  }

  void acceptPeers() {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    int socket =
        ::accept4(listener_->get(), reinterpret_cast<sockaddr *>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        acceptAgain_ = Clock::now() + std::chrono::milliseconds(100);
      return;
    }
    int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    StatusOr<Digest> nonce = drawNonce();
    if (!nonce.ok()) {
      ::close(socket);
      return;
    }
    clients_.emplace_back(std::make_unique<StorePeer>(socket, addressText(reinterpret_cast<sockaddr *>(&address), size),
                                                      *nonce, options_.secret, options_.generation));
  }

  void receive(Client &client, short events) {
    if ((events & (POLLERR | POLLHUP)) != 0 || ((events & POLLIN) != 0 && !client.peer->receive().ok()))
      client.gone = true;
  }

  void answer(Client &client) {
    while (!client.gone) {
      StatusOr<std::optional<StorePeer::Request>> request = client.peer->next();
      if (request.ok() && !*request)
        return;
      quiet_ = Clock::now() + quietTime;
      Status status = request.ok() ? handle(client, **request) : request.status();
      if (status.ok())
        continue;
      report("store: refused " + client.peer->name() + ": " + status.message());
      client.gone = !client.peer->closing();
      return;
    }
  }

  /// InvalidInput: not a request as a client makes it.
  Status handle(Client &client, const StorePeer::Request &request) {
    BodyReader body(request.body);
    bool waits = request.type == FrameType::Get || request.type == FrameType::Watch;
    uint64_t milliseconds = waits ? body.number() : 0;
    std::string_view key = body.text();
    if (request.type == FrameType::Set) {
      std::string_view value = body.text();
      return finish(client, request, key, body, [&]() -> StatusOr<std::string> {
        Status status = table_.set(key, value);
        return status.ok() ? StatusOr<std::string>(std::string()) : status;
      });
    }
    if (request.type == FrameType::SetWhenLost) {
      std::string_view value = body.text();
      return finish(client, request, key, body, [&] { return addWill(client, key, value); });
    }
    if (request.type == FrameType::Add) {
      auto delta = static_cast<int64_t>(body.number());
      return finish(client, request, key, body, [&]() -> StatusOr<std::string> {
        StatusOr<int64_t> sum = table_.add(key, delta);
        return sum.ok() ? StatusOr<std::string>(std::to_string(*sum)) : sum.status();
      });
    }
    if (request.type == FrameType::CompareSet) {
      std::string_view expected = body.text(), desired = body.text();
      return finish(client, request, key, body, [&] { return table_.compareSet(key, expected, desired); });
    }
    std::optional<std::string> known;
    if (request.type == FrameType::Watch)
      known = body.text();
    if (!waits || !body.done())
      return {StatusCode::InvalidInput, "a malformed request"};
    addWait(client, {request.number, std::string(key), std::move(known), Clock::now() + waitLength(milliseconds)});
    return {};
  }

  static std::chrono::milliseconds waitLength(uint64_t milliseconds) {
    return std::chrono::milliseconds(std::min<uint64_t>(milliseconds, 1'000'000'000));
  }

  template <typename Change>
  Status finish(Client &client, const StorePeer::Request &request, std::string_view key, const BodyReader &body,
                Change change) {
    if (!body.done())
      return {StatusCode::InvalidInput, "a malformed request"};
    client.peer->reply(request.number, change());
    answerWaits(key);
    return {};
  }

  void answerWaits(std::string_view key) {
    for (Client &other : clients_)
      std::erase_if(other.waits, [&](const Wait &wait) { return wait.key == key && satisfied(other, wait); });
  }

  static StatusOr<std::string> addWill(Client &client, std::string_view key, std::string_view value) {
    for (const Status &status : {checkKey(key), checkValue(value)})
      if (!status.ok())
        return status;
    if (client.wills.size() == mostWillsOfAPeer)
      return Status(StatusCode::LimitExceeded,
                    "expects at most " + std::to_string(mostWillsOfAPeer) + " keys for the end of a connection");
    client.wills.emplace_back(key, value);
    return std::string();
  }

  void addWait(Client &client, Wait wait) {
    if (Status status = checkKey(wait.key); !status.ok())
      client.peer->reply(wait.request, status);
    else if (client.waits.size() == mostWaitsOfAPeer)
      client.peer->reply(
          wait.request,
          Status(StatusCode::LimitExceeded, "expects at most " + std::to_string(mostWaitsOfAPeer) + " waits at once"));
    else if (!satisfied(client, wait))
      client.waits.push_back(std::move(wait));
  }

  bool satisfied(Client &client, const Wait &wait) {
    const std::string *value = table_.find(wait.key);
    if (!wait.endsWith(value))
      return false;
    client.peer->reply(wait.request, *value);
    return true;
  }

  void expire() {
    Deadline now = Clock::now();
    for (Client &client : clients_) {
      std::erase_if(client.waits, [&](const Wait &wait) {
        if (now < wait.deadline)
          return false;
        client.peer->reply(wait.request, keyTimeout(wait.key));
        return true;
      });
      if ((client.peer->joined() && !client.peer->closing()) || now < client.peer->helloDeadline() || client.gone)
        continue;
      client.gone = true;
      if (!client.peer->joined())
        report("store: refused " + client.peer->name() + ": no hello within " + std::to_string(kHelloLimit.count()) +
               " s");
    }
  }

  /// Whoever waits for a reply that is ready gets it; peers that take nothing are not waited for.
  void sendLastReplies() {
    Deadline deadline = Clock::now() + std::chrono::seconds(1);
    for (Client &client : clients_)
      while (client.peer->flush().ok() && client.peer->hasOutput() &&
             waitFor(client.peer->socket(), POLLOUT, deadline)) {
      }
  }

  void report(const std::string &line) {
    if (reports_ == mostReports)
      return;
    std::string text = ++reports_ == mostReports ? line + " (no more of these are shown)" : line;
    if (options_.report)
      options_.report(text);
    else
      std::fprintf(stderr, "dlc: %s\n", text.c_str());
  }

  TcpStoreOptions options_;
  std::unique_ptr<FileDescriptor> listener_;
  FileDescriptor wake_;
  int port_;
  KeyTable table_;
  std::vector<Client> clients_;
  Deadline acceptAgain_{};
  bool stopping_ = false;
  Deadline quiet_{}, end_{}; ///< of the stop
  int reports_ = 0;
  std::thread thread_;
};

Status cannotListen(const addrinfo &address, int error) {
  std::string where = addressText(address.ai_addr, address.ai_addrlen);
  errno = error;
  if (error == EADDRNOTAVAIL)
    return {StatusCode::InvalidInput, "cannot listen on " + where + ": it is no address of this host"};
  if (error != EADDRINUSE)
    return systemError("cannot listen on " + where);
  std::string owner = portOwner(ntohs(reinterpret_cast<const sockaddr_in *>(address.ai_addr)->sin_port));
  return {StatusCode::InvalidInput,
          "port in use: cannot listen on " + where + "; " + (owner.empty() ? "another process" : owner) + " does"};
}

StatusOr<std::unique_ptr<FileDescriptor>> listenOn(const addrinfo &address) {
  auto socket = std::make_unique<FileDescriptor>(
      ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  int on = 1; // connections of the job before, in their last minute, do not keep the port
  if (!socket->valid() || ::setsockopt(socket->get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(socket->get(), address.ai_addr, address.ai_addrlen) != 0 || ::listen(socket->get(), SOMAXCONN) != 0)
    return cannotListen(address, errno);
  return socket;
}

} // namespace

StatusOr<std::unique_ptr<StoreServer>> serveStore(const TcpStoreOptions &options) {
  StatusOr<AddressList> addresses = resolve(options.address, options.port);
  if (!addresses.ok())
    return addresses.status();
  Status problem(StatusCode::InvalidInput, "no address for " + options.address);
  for (const addrinfo *address = addresses->get(); address; address = address->ai_next) {
    if (options.secret.empty() && !isLoopback(address->ai_addr))
      return Status(StatusCode::InvalidInput,
                    "refuses to listen on " + addressText(address->ai_addr, address->ai_addrlen) +
                        " without a secret: others could join; set DLC_SECRET_FILE (or DLC_SECRET) on all ranks");
    StatusOr<std::unique_ptr<FileDescriptor>> listener = listenOn(*address);
    if (!listener.ok()) {
      problem = listener.status();
      continue;
    }
    int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0)
      return systemError("cannot serve a store");
    return std::unique_ptr<StoreServer>(std::make_unique<TcpStoreServer>(options, listener.take(), wake));
  }
  return problem;
}

} // namespace dlc::runtime
