#include "job/StartState.h"

#include <bit>
#include <cstdio>
#include <cstring>

namespace dlc::runtime {

namespace {

// FNV over words, turned so that high bits reach low ones: it finds values that differ, it keeps no secret.
uint64_t hashOf(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<size_t>(8, bytes.size() - i));
    hash = std::rotl((hash ^ word) * 0x100000001b3U, 29);
  }
  return hash;
}

StatusOr<std::vector<std::byte>> bytesOf(const Session &session, const std::string &name) {
  std::vector<std::byte> bytes(size_t(session.find(name)->type.bytes()));
  Status status = session.read(name, bytes);
  return status.ok() ? StatusOr<std::vector<std::byte>>(std::move(bytes)) : status;
}

/// The names whose hashes are not the same on all members: the same list on each.
StatusOr<std::vector<std::string>> differing(Job &job, int local, Communicator &world, const Session &session,
                                             const std::vector<std::string> &variables) {
  std::vector<uint64_t> mine, all(variables.size() * size_t(world.size()));
  for (const std::string &name : variables) {
    StatusOr<std::vector<std::byte>> bytes = bytesOf(session, name);
    if (!bytes.ok())
      return bytes.status();
    mine.push_back(hashOf(*bytes));
  }
  auto count = int64_t(variables.size());
  Status status = job.wait(
      local, world.allGather({}, {mine.data(), count, DType::I64}, {all.data(), count * world.size(), DType::I64}));
  if (!status.ok())
    return status;
  std::vector<std::string> names;
  for (size_t i = 0; i < variables.size(); ++i)
    for (size_t other = i; other < all.size(); other += variables.size())
      if (all[other] != all[i]) {
        names.push_back(variables[i]);
        break;
      }
  return names;
}

} // namespace

Status agreeOnStart(Job &job, int local, Session &session, const std::vector<std::string> &variables) {
  if (variables.empty())
    return {};
  StatusOr<Communicator *> world = job.world(local);
  if (!world.ok())
    return world.status();
  StatusOr<std::vector<std::string>> names = differing(job, local, **world, session, variables);
  if (!names.ok())
    return names.status();
  std::string list;
  for (const std::string &name : *names) {
    StatusOr<std::vector<std::byte>> bytes = bytesOf(session, name);
    if (!bytes.ok())
      return bytes.status();
    Status status =
        job.wait(local, (*world)->broadcast({}, {bytes->data(), int64_t(bytes->size()), DType::I8}, /*root=*/0));
    if (status.ok() && (*world)->rank() != 0)
      status = session.write(name, *bytes);
    if (!status.ok())
      return status.withContext(name);
    list += (list.empty() ? "" : ", ") + name;
  }
  if (!list.empty() && (*world)->rank() == 0)
    std::fprintf(stderr, "dlc: remark: variables differ between members at the start; all take those of %s: %s\n",
                 job.memberName(0).c_str(), list.c_str());
  return {};
}

} // namespace dlc::runtime
