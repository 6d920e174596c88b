#include "../unit/TestFile.h"
#include "ProgramPtx.h"

#include <cstdlib>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dlc::test {

namespace {

/// How the program ended; -1: by itself it did not.
int codeOf(std::vector<std::string> command) {
  std::vector<char *> pointers;
  pointers.reserve(command.size() + 1);
  for (std::string &part : command)
    pointers.push_back(part.data());
  pointers.push_back(nullptr);
  pid_t pid = -1;
  int how = 0;
  if (posix_spawn(&pid, pointers[0], nullptr, nullptr, pointers.data(), environ) != 0 || waitpid(pid, &how, 0) != pid)
    return -1;
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

} // namespace

// No test has a GPU to run them; the toolkit's assembler at least takes them.
TEST(ConformanceProgram, PtxasTakesTheKernels) {
  const char *chosen = std::getenv("DLC_PTXAS");
  std::string ptxas = chosen ? chosen : "/usr/local/cuda/bin/ptxas";
  if (!std::filesystem::exists(ptxas))
    GTEST_SKIP() << "no ptxas";
  TemporaryFolder folder;
  writeFile(folder.file("program.ptx"), kProgramPtx);
  for (const char *target : {"sm_80", "sm_90", "sm_100"}) {
    EXPECT_EQ(codeOf({ptxas, std::string("-arch=") + target, folder.file("program.ptx"), "-o", folder.file("cubin")}),
              0)
        << target;
  }
}

} // namespace dlc::test
