#include "launch/MpiRun.h"

#include "base/FileError.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <sys/prctl.h>
#include <system_error>
#include <unistd.h>

namespace dlc::launch {

StatusOr<std::unique_ptr<MpiRun>> MpiRun::prepare(Round &round, const Arguments &arguments, const std::string &path) {
  auto run = std::make_unique<MpiRun>();
  StatusOr<std::string> file = findProgram("mpirun", path);
  if (!file.ok())
    return Status(StatusCode::InvalidInput, "--comm=mpi starts ranks through mpirun, and there is none on the PATH; "
                                            "install Open MPI (openmpi-bin), or use another --comm");
  run->file_ = file.take();
  std::error_code error;
  std::string self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    return Status(StatusCode::Internal, "cannot read /proc/self/exe: " + error.message());
  auto births = makePipe();
  if (!births.ok())
    return births.status();
  run->births_ = std::move(births->first);
  std::string output = std::to_string(::getpid()) + "," + std::to_string(births->second->get());
  run->ends_.push_back(std::move(births->second));
  for (int rank = 0; rank < arguments.ranks; ++rank)
    for (Stream stream : {kStandardOutput, kStandardError}) {
      auto ends = makePipe();
      if (!ends.ok())
        return ends.status();
      round.relay(std::move(ends->first), stream, arguments.prefix ? "[" + std::to_string(rank) + "] " : "");
      output += "," + std::to_string(ends->second->get());
      run->ends_.push_back(std::move(ends->second));
    }
  run->command_ = {"mpirun",
                   "-n",
                   std::to_string(arguments.ranks),
                   "--oversubscribe",
                   "--bind-to",
                   "none",
                   self,
                   "launch",
                   "--rank-of-mpirun",
                   output};
  run->command_.insert(run->command_.end(), arguments.program.begin(), arguments.program.end());
  return run;
}

void MpiRun::look(std::string_view lines) {
  // Of Open MPI 4: for an exit code, and for a signal.
  for (std::string_view before : {"Process name: [[", "noticed that process rank "}) {
    size_t at = lines.find(before);
    if (at == std::string_view::npos || failedRank_ >= 0)
      continue;
    lines.remove_prefix(at + before.size());
    if (before.ends_with('['))
      lines.remove_prefix(std::min(lines.size(), lines.find("],") + 2));
    std::from_chars(lines.data(), lines.data() + lines.size(), failedRank_);
  }
}

void MpiRun::explain(Failure &failure, const std::string &host) {
  if (failedRank_ < 0 || failure.rank >= 0)
    return;
  failure.rank = failedRank_;
  std::string births(size_t{1} << 16, '\0'), pid = "unknown";
  births.resize(static_cast<size_t>(std::max<ssize_t>(0, ::read(births_->get(), births.data(), births.size()))));
  std::istringstream numbers(births);
  for (std::string rank, number; numbers >> rank >> number;)
    if (rank == std::to_string(failedRank_))
      pid = number;
  failure.what = "rank " + std::to_string(failedRank_) + " (host " + host + ", pid " + pid + ") " +
                 (failure.code > 128 ? "was killed by signal " + std::to_string(failure.code - 128)
                                     : "ended with exit code " + std::to_string(failure.code)) +
                 "; mpirun ended the others";
}

Status becomeMpiRank(const Arguments &arguments) {
  std::istringstream numbers(arguments.mpiOutput);
  std::vector<std::string> words;
  for (std::string word; std::getline(numbers, word, ',');)
    words.push_back(word);
  const char *text = std::getenv("OMPI_COMM_WORLD_RANK");
  size_t rank = text ? std::strtoul(text, nullptr, 10) : SIZE_MAX / 4;
  if (words.size() < 2 * rank + 4)
    return {StatusCode::InvalidInput, "expects to be started by the mpirun of dlc launch"};
  ::prctl(PR_SET_PDEATHSIG, SIGKILL); // it dies with mpirun, which dies with the launcher
  for (size_t stream = 0; stream < 2; ++stream) {
    std::string pipe = "/proc/" + words[0] + "/fd/" + words[2 + 2 * rank + stream];
    FileDescriptor file(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.valid() || ::dup2(file.get(), stream == 0 ? STDOUT_FILENO : STDERR_FILENO) < 0)
      return systemError("cannot write to the launcher");
  }
  if (FileDescriptor births(::open(("/proc/" + words[0] + "/fd/" + words[1]).c_str(), O_WRONLY | O_CLOEXEC));
      births.valid())
    (void)!::dprintf(births.get(), "%zu %d\n", rank, int(::getpid()));
  std::vector<char *> pointers;
  pointers.reserve(arguments.program.size() + 1);
  for (const std::string &argument : arguments.program)
    pointers.push_back(const_cast<char *>(argument.c_str()));
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  return systemError("cannot start " + quote(arguments.program.front()));
}

} // namespace dlc::launch
