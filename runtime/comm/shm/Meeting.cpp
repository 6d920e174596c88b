#include "comm/shm/Meeting.h"
#include "comm/host/Host.h"
#include "comm/host/HostCommunicator.h"
#include "rendezvous/Socket.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace dlc::runtime {

namespace {

// Others wait this much longer for the reason that member 0 has at the limit.
constexpr std::chrono::milliseconds kReasonTime{200};

/// What goes over the socket, with or without descriptors: a member's greeting, another member's memory and lifeline,
/// or a reason to give up.
struct Note {
  int32_t rank = -1, size = 0;
  char failure[504] = {};
};

Status failed(const Group &group, const std::string &what) {
  return {StatusCode::PeerFailed, "group '" + group.name + "': " + what + ": " + std::strerror(errno)};
}

bool isOurs(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

constexpr size_t kMostFiles = 2;
using ControlBytes = std::aligned_storage_t<CMSG_SPACE(kMostFiles * sizeof(int)), alignof(cmsghdr)>;

bool sendNote(int socket, Note note, std::initializer_list<int> files) {
  iovec bytes{&note, sizeof note};
  ControlBytes control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (files.size() > 0) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), files.begin(), files.size() * sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == ssize_t(sizeof note);
}

/// False: nothing came in time, or what came is no note.
bool receiveNote(int socket, Note &note, std::vector<FileDescriptor> &files, Deadline deadline) {
  if (!waitFor(socket, POLLIN, deadline))
    return false;
  iovec bytes{&note, sizeof note};
  ControlBytes control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  files.clear();
  for (cmsghdr *each = CMSG_FIRSTHDR(&message); got >= 0 && each; each = CMSG_NXTHDR(&message, each))
    if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_RIGHTS)
      for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= each->cmsg_len; ++i) {
        int file = -1;
        std::memcpy(&file, CMSG_DATA(each) + i * sizeof(int), sizeof file);
        files.emplace_back(file);
      }
  note.failure[sizeof note.failure - 1] = 0;
  return got == ssize_t(sizeof note);
}

/// A folder of this user's with one socket in it.
class Door {
public:
  Door() {
    const char *place = std::getenv("TMPDIR");
    std::string made = std::string(place && std::strlen(place) < 64 ? place : "/tmp") + "/dlc-XXXXXX";
    if (!mkdtemp(made.data())) // which only its owner may enter
      return;
    folder = made;
    socket = FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address = addressOf(path());
    if (bind(socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 ||
        listen(socket.get(), 4096) != 0)
      socket = FileDescriptor();
  }
  ~Door() {
    if (folder.empty())
      return;
    int error = errno;
    unlink(path().c_str());
    rmdir(folder.c_str());
    errno = error;
  }
  Door(const Door &) = delete;
  Door &operator=(const Door &) = delete;

  static sockaddr_un addressOf(const std::string &path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    return address;
  }
  std::string path() const { return folder + "/meet"; }

  FileDescriptor socket;

private:
  std::string folder;
};

/// Member 0: lets all others in, then gives each what it needs.
class Host {
public:
  Host(const Group &group, FileDescriptor own)
      : group(group), size(int(group.members.size())), peers(size_t(size)), files(size_t(size)) {
    files[0] = std::move(own);
  }

  Status letIn(int door, Deadline deadline) {
    for (int missing = size - 1; missing > 0;) {
      if (!waitFor(door, POLLIN, deadline))
        return giveUp(missingMembers(group, absent(), {StatusCode::LimitExceeded, ""}));
      FileDescriptor peer(accept4(door, nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer.valid() || !isOurs(peer.get()))
        continue;
      Note note;
      std::vector<FileDescriptor> given;
      Deadline soon = std::min(deadline, std::chrono::steady_clock::now() + std::chrono::seconds(5));
      if (!receiveNote(peer.get(), note, given, soon) || given.size() != 1)
        continue;
      if (note.size != size || note.rank <= 0 || note.rank >= size || files[size_t(note.rank)].valid())
        return giveUp({StatusCode::InvalidInput, "group '" + group.name + "': expects each of " + std::to_string(size) +
                                                     " members once, got member " + std::to_string(note.rank) + " of " +
                                                     std::to_string(note.size)});
      // What a member is told fits its buffer unless there are very many; then a stopped one is not waited for.
      timeval patience{5, 0};
      setsockopt(peer.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
      peers[size_t(note.rank)] = std::move(peer);
      files[size_t(note.rank)] = std::move(given[0]);
      --missing;
    }
    return {};
  }

  /// Each pair of members gets the two ends of a connection.
  Status introduce(Meeting &own) {
    for (int a = 0; a < size; ++a)
      for (int b = a + 1; b < size; ++b) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
          return giveUp(failed(group, "cannot connect members"));
        FileDescriptor forA(ends[0]), forB(ends[1]);
        bool told = sendNote(peers[size_t(b)].get(), {a, size}, {files[size_t(a)].get(), forB.get()});
        if (a == 0)
          own.lifelines[size_t(b)] = std::move(forA);
        else
          told = told && sendNote(peers[size_t(a)].get(), {b, size}, {files[size_t(b)].get(), forA.get()});
        if (!told)
          return giveUp(failed(group, "lost a member while all meet"));
      }
    return {};
  }

  const FileDescriptor &fileOf(int member) const { return files[size_t(member)]; }

private:
  std::vector<int> absent() const {
    std::vector<int> ranks;
    for (int m = 1; m < size; ++m)
      if (!files[size_t(m)].valid())
        ranks.push_back(m);
    return ranks;
  }

  Status giveUp(Status why) {
    Note note{0, size};
    std::strncpy(note.failure, why.message().c_str(), sizeof note.failure - 1);
    for (FileDescriptor &each : peers)
      if (each.valid())
        (void)sendNote(each.get(), note, {});
    return why;
  }

  const Group &group;
  const int size;
  std::vector<FileDescriptor> peers, files;
};

Status welcome(Store &store, const std::string &key, const Group &group, Deadline deadline, FileDescriptor own,
               Meeting &meeting, std::vector<FileDescriptor> &files) {
  Host host(group, std::move(own));
  {
    Door door;
    if (!door.socket.valid())
      return failed(group, "cannot make a socket in a folder for temporary files");
    if (Status status = store.set(key, hostIdentity() + "\n" + door.path()); !status.ok())
      return status.withContext("group '" + group.name + "'");
    if (Status status = exchange(store, key + "/", group, "here", deadline).status(); !status.ok())
      return status;
    if (Status status = host.letIn(door.socket.get(), deadline); !status.ok())
      return status;
  }
  if (Status status = host.introduce(meeting); !status.ok())
    return status;
  for (size_t m = 1; m < files.size(); ++m)
    files[m] = FileDescriptor(fcntl(host.fileOf(int(m)).get(), F_DUPFD_CLOEXEC, 0));
  return {};
}

Status visit(Store &store, const std::string &key, const Group &group, Deadline deadline, const FileDescriptor &own,
             Meeting &meeting, std::vector<FileDescriptor> &files) {
  StatusOr<std::string> place = store.get(key, deadline);
  if (!place.ok())
    return missingMembers(group, {0}, place.status());
  size_t end = place->find('\n');
  if (end == std::string::npos || place->substr(0, end) != hostIdentity())
    return {StatusCode::InvalidInput, "group '" + group.name + "': expects all members on one host to share memory, " +
                                          "got " + place->substr(0, place->find(' ')) + " for " + group.members[0]};
  if (Status status = store.set(key + "/" + std::to_string(group.rank), "here"); !status.ok())
    return status.withContext("group '" + group.name + "'");
  FileDescriptor host(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address = Door::addressOf(place->substr(end + 1));
  if (connect(host.get(), reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 || !isOurs(host.get()))
    return failed(group, "cannot meet " + group.members[0]);
  if (!sendNote(host.get(), {group.rank, int(group.members.size())}, {own.get()}))
    return failed(group, "lost " + group.members[0] + " while all meet");
  Deadline limit = deadline < Deadline::max() - kReasonTime ? deadline + kReasonTime : deadline;
  for (size_t i = 1; i < group.members.size(); ++i) {
    Note note;
    std::vector<FileDescriptor> given;
    if (!receiveNote(host.get(), note, given, limit))
      return {StatusCode::PeerFailed, "group '" + group.name + "': at its limit of time still without all members"};
    if (note.failure[0])
      return {StatusCode::PeerFailed, note.failure};
    bool fits = given.size() == 2 && note.rank >= 0 && note.rank < int(files.size()) && note.rank != group.rank;
    if (!fits)
      return {StatusCode::Internal, "group '" + group.name + "': expects a member's memory and connection"};
    files[size_t(note.rank)] = std::move(given[0]);
    meeting.lifelines[size_t(note.rank)] = std::move(given[1]);
  }
  return {};
}

} // namespace

StatusOr<Meeting> meetOnHost(Store &store, const std::string &key, const Group &group, Deadline deadline) {
  size_t size = group.members.size();
  FileDescriptor file;
  StatusOr<Segment> own = Segment::create(int(size), file);
  if (!own.ok())
    return own.status().withContext("group '" + group.name + "'");
  Meeting meeting;
  meeting.lifelines.resize(size);
  std::vector<FileDescriptor> files(size);
  if (size > 1) {
    Status status = group.rank == 0 ? welcome(store, key, group, deadline, std::move(file), meeting, files)
                                    : visit(store, key, group, deadline, file, meeting, files);
    if (!status.ok())
      return status;
  }
  meeting.segments.reserve(size);
  for (int m = 0; m < int(size); ++m) {
    if (m == group.rank) {
      meeting.segments.push_back(own.take());
      continue;
    }
    StatusOr<Segment> each = Segment::map(files[size_t(m)], int(size));
    if (!each.ok())
      return each.status().withContext("group '" + group.name + "'");
    meeting.segments.push_back(each.take());
  }
  return meeting;
}

} // namespace dlc::runtime
