#include "rendezvous/PortOwner.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

namespace dlc::runtime {
namespace {

namespace fs = std::filesystem;

/// The inodes of sockets that listen on the port, as links in /proc/<pid>/fd name them.
std::set<std::string> listeners(int port) {
  std::set<std::string> links;
  for (const char *table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line); // the headings
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, queues, timer, retries, user, timeout, inode;
      words >> number >> local >> remote >> state >> queues >> timer >> retries >> user >> timeout >> inode;
      size_t colon = local.rfind(':');
      constexpr const char *listening = "0A";
      if (colon != std::string::npos && state == listening &&
          std::strtol(local.c_str() + colon + 1, nullptr, 16) == port)
        links.insert("socket:[" + inode + "]");
    }
  }
  return links;
}

} // namespace

std::string portOwner(int port) {
  std::set<std::string> links = listeners(port);
  std::error_code error;
  for (fs::directory_iterator process("/proc", error), end; !links.empty() && !error && process != end;
       process.increment(error)) {
    std::string pid = process->path().filename();
    if (std::isdigit(static_cast<unsigned char>(pid[0])) == 0)
      continue;
    std::error_code closed; // of other users, or just ended
    for (fs::directory_iterator file(process->path() / "fd", closed); !closed && file != end; file.increment(closed)) {
      std::error_code gone;
      if (links.count(fs::read_symlink(file->path(), gone).string()) == 0)
        continue;
      std::string name;
      std::getline(std::ifstream(process->path() / "comm"), name);
      return std::string("pid ").append(pid).append(" (").append(name).append(")");
    }
  }
  return {};
}

} // namespace dlc::runtime
