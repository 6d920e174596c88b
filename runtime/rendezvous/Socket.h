#pragma once

#include "base/FileDescriptor.h"

#include "dlc/runtime/Store.h"

#include <memory>
#include <netdb.h>
#include <string>
#include <string_view>

namespace dlc::runtime {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// TCP addresses of a name or number. InvalidInput: none.
StatusOr<AddressList> resolve(const std::string &address, int port);

/// 127.0.0.0/8 or ::1.
bool isLoopback(const sockaddr *address);

/// "10.0.0.1:4711", "[::1]:4711".
std::string addressText(const sockaddr *address, socklen_t size);

/// Port of a bound socket, 0 if it has none.
int boundPort(int socket);

/// Waits until the socket is ready for `events`; false at the deadline.
bool waitFor(int socket, short events, Deadline deadline);

/// Connects a socket that does not block. PeerFailed: the system's reason, or the deadline.
StatusOr<std::unique_ptr<FileDescriptor>> connectTo(const addrinfo &address, Deadline deadline);

/// PeerFailed: the connection is lost, or the deadline passed.
Status sendAll(int socket, std::string_view bytes, Deadline deadline);

/// Appends what is there, after waiting for something, at most until the deadline: then appends nothing. PeerFailed:
/// the connection is lost.
Status receiveSome(int socket, std::string &bytes, Deadline deadline);

} // namespace dlc::runtime
