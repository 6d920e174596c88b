#include "launch/Output.h"

#include "launch/Signals.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace dlc::launch {
namespace {

constexpr std::array<int, kStreamCount> descriptors = {STDOUT_FILENO, STDERR_FILENO};

bool sameFile(int a, int b) {
  struct stat first{}, second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

} // namespace

Output::Output() : oneFile_(sameFile(descriptors[kStandardOutput], descriptors[kStandardError])) {}

void Output::add(Stream stream, std::string lines) {
  if (lines.empty() || broken_[stream])
    return;
  waiting_[stream] += lines.size();
  std::deque<Piece> &queue = queueOf(stream);
  if (queue.size() > 1 && queue.back().stream == stream)
    queue.back().text += lines;
  else
    queue.push_back({stream, std::move(lines)});
}

std::vector<pollfd> Output::pollItems() const {
  std::vector<pollfd> items;
  for (const std::deque<Piece> &queue : queues_)
    if (!queue.empty())
      items.push_back({descriptors[queue.front().stream], POLLOUT, 0});
  return items;
}

void Output::write(const pollfd &item) {
  for (size_t i = 0; i < queues_.size(); ++i) {
    std::deque<Piece> &queue = queues_[i];
    if (item.revents == 0 || queue.empty() || descriptors[queue.front().stream] != item.fd)
      continue;
    Piece &piece = queue.front();
    // Where poll finds a pipe ready, that many bytes go in without waiting.
    size_t size = std::min<size_t>(piece.text.size() - written_[i], PIPE_BUF);
    ssize_t count = ::write(item.fd, piece.text.data() + written_[i], size);
    if (count < 0 && errno != EAGAIN && errno != EINTR)
      return drop(piece.stream);
    if (count <= 0)
      return;
    written_[i] += static_cast<size_t>(count);
    waiting_[piece.stream] -= static_cast<size_t>(count);
    if (written_[i] == piece.text.size()) {
      queue.pop_front();
      written_[i] = 0;
    }
    return;
  }
}

void Output::drop(Stream stream) {
  broken_[stream] = true;
  waiting_[stream] = 0;
  std::deque<Piece> &queue = queueOf(stream);
  if (!queue.empty() && queue.front().stream == stream)
    written_[oneFile_ ? 0 : stream] = 0;
  std::erase_if(queue, [&](const Piece &piece) { return piece.stream == stream; });
}

void Output::finish(Signals &signals) {
  while (!empty()) {
    std::vector<pollfd> items = pollItems();
    items.push_back({signals.descriptor(), POLLIN, 0});
    ::poll(items.data(), items.size(), -1);
    for (const pollfd &item : items)
      write(item);
    for (int signal = signals.next(); signal != 0; signal = signals.next())
      if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
        return;
  }
}

} // namespace dlc::launch
