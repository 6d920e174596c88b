#include "launch/Leftovers.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <system_error>
#include <unistd.h>

namespace dlc::launch {

void adoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> livingChildren() {
  std::vector<pid_t> children;
  std::error_code error;
  // A kernel may lack /proc/<pid>/task/<tid>/children.
  for (std::filesystem::directory_iterator process("/proc", error), end; !error && process != end;
       process.increment(error)) {
    std::string name = process->path().filename();
    if (std::isdigit(static_cast<unsigned char>(name[0])) == 0)
      continue;
    std::string facts;
    std::getline(std::ifstream(process->path() / "stat"), facts);
    size_t afterName = facts.rfind(')');
    if (afterName == std::string::npos)
      continue; // just ended
    std::istringstream words(facts.substr(afterName + 1));
    char state = 0;
    pid_t parent = 0;
    words >> state >> parent;
    if (parent == ::getpid() && state != 'Z')
      children.push_back(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)));
  }
  return children;
}

} // namespace dlc::launch
