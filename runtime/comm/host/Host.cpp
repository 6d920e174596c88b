#include "comm/host/Host.h"

#include <array>
#include <fstream>

#include <unistd.h>

namespace dlc::runtime {

std::string hostIdentity() {
  std::array<char, 256> name{}, space{};
  if (gethostname(name.data(), name.size() - 1) != 0)
    name[0] = '?';
  if (readlink("/proc/self/ns/pid", space.data(), space.size() - 1) < 0)
    space[0] = '?';
  std::string start;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), start);
  return std::string(name.data()) + " " + start + " " + space.data();
}

} // namespace dlc::runtime
