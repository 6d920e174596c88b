#include "../unit/TestFile.h"
#include "ProgramPtx.h"

#include <cstdlib>

namespace dlc::test {

// No test has a GPU to run them; the toolkit's assembler at least takes them.
TEST(ConformanceProgram, PtxasTakesTheKernels) {
  const char *chosen = std::getenv("DLC_PTXAS");
  std::string ptxas = chosen ? chosen : "/usr/local/cuda/bin/ptxas";
  if (!std::filesystem::exists(ptxas))
    GTEST_SKIP() << "no ptxas";
  TemporaryFolder folder;
  writeFile(folder.file("program.ptx"), kProgramPtx);
  for (const char *target : {"sm_80", "sm_90", "sm_100"}) {
    std::string command = ptxas + " -arch=" + target + " " + folder.file("program.ptx") + " -o " + folder.file("cubin");
    EXPECT_EQ(std::system(command.c_str()), 0) << target;
  }
}

} // namespace dlc::test
