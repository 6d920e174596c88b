#include "comm/gloo/GlooContext.h"
#include "comm/host/BlockedSignals.h"
#include "comm/host/ShortSlices.h"

#include <cstdlib>
#include <cstring>

#include <gloo/transport/address.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>

namespace dlc::runtime {

namespace {

gloo::transport::tcp::attr whereToListen() {
  gloo::transport::tcp::attr where;
  if (const char *interface = std::getenv("DLC_IFACE"); interface && *interface)
    where.iface = interface;
  else
    where.hostname = "127.0.0.1";
  return where;
}

// Gloo waits five times as long for a connection as it is told.
std::chrono::milliseconds connectTimeout(Deadline deadline) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::clamp(left / 5, std::chrono::milliseconds(1), std::chrono::milliseconds(24 * 3600 * 1000));
}

} // namespace

StatusOr<std::unique_ptr<GlooContext>> GlooContext::connect(Store &store, const std::string &key, const Group &group,
                                                            Deadline deadline) {
  std::unique_ptr<GlooContext> made(new GlooContext);
  made->rank = group.rank;
  made->size = int(group.members.size());
  if (made->size == 1)
    return made;
  if (Status status = made->open(group, deadline); !status.ok())
    return status;
  if (Status status = made->meet(store, key, group, deadline); !status.ok())
    return status;
  return made;
}

Status GlooContext::open(const Group &group, Deadline deadline) {
  try {
    {
      BlockedSignals blocked;
      ShortSlices prompt;
      device = gloo::transport::tcp::CreateDevice(whereToListen());
    }
    for (auto &context : contexts) {
      context = device->createContext(rank, size);
      context->setTimeout(connectTimeout(deadline));
      for (int m = 0; m < size; ++m)
        if (m != rank)
          context->createPair(m);
    }
    return {};
  } catch (const std::exception &error) {
    const char *interface = std::getenv("DLC_IFACE");
    std::string where = interface && *interface ? " on DLC_IFACE=" + std::string(interface) : "";
    return {StatusCode::Internal, "group '" + group.name + "': cannot listen" + where + ": " + error.what()};
  }
}

// Where this member listens, one address for each other member; all of one size.
std::string GlooContext::addresses() const {
  std::string all;
  for (const auto &context : contexts)
    for (int m = 0; m < size; ++m)
      if (m != rank) {
        std::vector<char> bytes = context->getPair(m)->address().bytes();
        all.append(bytes.data(), bytes.size());
      }
  return all;
}

Status GlooContext::meet(Store &store, const std::string &key, const Group &group, Deadline deadline) {
  std::string own;
  try {
    own = addresses();
  } catch (const std::exception &error) {
    return {StatusCode::Internal, "group '" + group.name + "': no address: " + error.what()};
  }
  if (Status status = store.set(key + std::to_string(rank), own); !status.ok())
    return status.withContext("group '" + group.name + "'");
  size_t list = own.size() / contexts.size(), each = list / size_t(size - 1);
  std::vector<std::string> given(size_t(size), std::string{});
  std::vector<int> missing;
  Status first;
  for (int m = 0; m < size; ++m) {
    if (m == rank)
      continue;
    StatusOr<std::string> value = store.get(key + std::to_string(m), deadline);
    if (value.ok() && value->size() != own.size())
      return {StatusCode::InvalidInput, "group '" + group.name + "': expects addresses of " +
                                            std::to_string(own.size()) + " bytes from " + group.members[size_t(m)] +
                                            ", got " + std::to_string(value->size()) +
                                            "; do all members use the same number of members and address family?"};
    if (value.ok()) {
      given[size_t(m)] = value.take();
      continue;
    }
    missing.push_back(m);
    if (first.ok())
      first = value.status();
  }
  if (!missing.empty())
    return missingMembers(group, missing, first);
  for (int m = 0; m < size; ++m) {
    if (m == rank)
      continue;
    // A member's list leaves out itself.
    size_t at = size_t(rank - (rank > m)) * each;
    try {
      for (size_t i = 0; i < contexts.size(); ++i) {
        const char *address = given[size_t(m)].data() + i * list + at;
        contexts[i]->getPair(m)->connect(std::vector<char>(address, address + each));
      }
    } catch (const std::exception &error) {
      return {StatusCode::PeerFailed,
              "group '" + group.name + "': no connection to " + group.members[size_t(m)] + ": " + error.what()};
    }
  }
  return {};
}

void GlooContext::close() noexcept {
  for (int m = 0; m < size; ++m)
    for (const auto &context : contexts)
      try {
        if (m != rank)
          context->getPair(m)->close();
      } catch (const std::exception &) {
        continue; // closed already, by an error of its own
      }
}

} // namespace dlc::runtime
