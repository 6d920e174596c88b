#include "rendezvous/Socket.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace dlc::runtime {
namespace {

Status lost(const std::string &why) { return {StatusCode::PeerFailed, why}; }

/// A connection to a free port of this host can meet itself, and would then keep the port from the server.
bool metItself(int socket) {
  sockaddr_storage here{}, there{};
  socklen_t size = sizeof here, peerSize = sizeof there;
  return ::getsockname(socket, reinterpret_cast<sockaddr *>(&here), &size) == 0 &&
         ::getpeername(socket, reinterpret_cast<sockaddr *>(&there), &peerSize) == 0 && size == peerSize &&
         std::memcmp(&here, &there, size) == 0;
}

Status lost(int error) { return lost(std::generic_category().message(error)); }

} // namespace

StatusOr<AddressList> resolve(const std::string &address, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo *list = nullptr;
  int error = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0)
    return Status(StatusCode::InvalidInput, "cannot find address " + address + ": " + ::gai_strerror(error));
  return AddressList(list, &::freeaddrinfo);
}

bool isLoopback(const sockaddr *address) {
  if (address->sa_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in *>(address)->sin_addr.s_addr) >> 24U) == 127;
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr);
}

std::string addressText(const sockaddr *address, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  std::string name = host.data();
  return (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":" + port.data();
}

int boundPort(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size) != 0)
    return 0;
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6 *>(&address)->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in *>(&address)->sin_port);
}

bool waitFor(int socket, short events, Deadline deadline) {
  constexpr int64_t longestPoll = 60'000;
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd item{socket, events, 0};
    int ready = ::poll(&item, 1, static_cast<int>(std::clamp<int64_t>(left, 0, longestPoll)));
    if (ready > 0 || (ready < 0 && errno != EINTR))
      return true; // the call that follows finds out what is wrong
    if (ready == 0 && left <= longestPoll)
      return false;
  }
}

StatusOr<std::unique_ptr<FileDescriptor>> connectTo(const addrinfo &address, Deadline deadline) {
  auto socket = std::make_unique<FileDescriptor>(
      ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (!socket->valid())
    return lost(errno);
  int on = 1;
  ::setsockopt(socket->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket->get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS && errno != EINTR)
      return lost(errno);
    if (!waitFor(socket->get(), POLLOUT, deadline))
      return lost("no answer");
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(socket->get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)
      return lost(error);
  }
  if (metItself(socket->get()))
    return lost(ECONNREFUSED);
  return socket;
}

Status sendAll(int socket, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0)
      bytes.remove_prefix(static_cast<size_t>(sent));
    else if (errno != EAGAIN && errno != EINTR)
      return lost(errno);
    else if (errno == EAGAIN && !waitFor(socket, POLLOUT, deadline))
      return lost("it takes nothing");
  }
  return {};
}

Status receiveSome(int socket, std::string &bytes, Deadline deadline) {
  if (!waitFor(socket, POLLIN, deadline))
    return {};
  std::array<char, 65536> buffer;
  ssize_t received = ::recv(socket, buffer.data(), buffer.size(), 0);
  if (received == 0)
    return lost("connection closed");
  if (received < 0)
    return errno == EAGAIN || errno == EINTR ? Status() : lost(errno);
  bytes.append(buffer.data(), static_cast<size_t>(received));
  return {};
}

} // namespace dlc::runtime
