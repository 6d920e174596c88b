// One rank of a job that trains a few steps, and misbehaves where it is told to: `rank <steps> [<fault> <rank>
// <step>]`.
#include "MeshProgram.h"
#include "dlc/runtime/Job.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dlc;
using runtime::Job;

namespace {

struct Fault {
  std::string name;
  int rank = -1;
  int64_t step = 0;
  bool is(const char *kind, const Job &job) const { return name == kind && rank == job.rank(); }
};

/// What happens to a rank in front of a step.
void act(const Fault &fault) {
  if (fault.name == "kill")
    ::raise(SIGKILL);
  if (fault.name == "stop")
    ::raise(SIGSTOP);
  if (fault.name == "exit")
    std::exit(0);
  if (fault.name == "slow")
    std::this_thread::sleep_for(std::chrono::minutes(5));
  if (fault.name == "close")
    for (int file = 3; file < 256; ++file)
      ::shutdown(file, SHUT_RDWR);
}

Status train(Job &job, int64_t steps, const Fault &fault) {
  test::MeshProgram program{.members = job.members()};
  program.otherProgram = fault.is("program", job);
  program.count += fault.is("shapes", job) ? 8 : 0;
  program.oneChannel = fault.name == "diverge";
  program.reversed = fault.is("diverge", job);
  if (fault.is("memory", job))
    program.count = int64_t(1) << 40; // TiB
  StatusOr<Job::Programs> programs = job.attach(program.make().take());
  if (!programs.ok())
    return programs.status();
  size_t count = size_t(job.localMembers());
  std::vector<float> x(size_t(program.count), 1), y(count * x.size() * size_t(job.members()));
  std::vector<int64_t> index(count);
  std::vector<std::vector<DlcBuffer>> arguments(count, {{x.data(), 4 * std::ssize(x)}}), results(count);
  for (size_t i = 0; i < count; ++i)
    results[i] = {{y.data() + i * y.size() / count, 4 * std::ssize(y) / int64_t(count)}, {&index[i], 8}};
  for (int64_t step = 1; step <= steps; ++step) {
    if (fault.rank == job.rank() && step == fault.step) {
      act(fault);
      if (fault.name == "early")
        return {};
      if (fault.name == "broken")
        return (*programs)[0]->call(test::MeshProgram::kBroken, {}, {});
    }
    auto begin = std::chrono::steady_clock::now();
    auto callMember = [&](int local) {
      // The last member of its process never comes, or fails alone.
      bool guilty = fault.rank == job.rank() && step == fault.step && local == job.localMembers() - 1;
      if (guilty && fault.name == "member-stuck")
        std::this_thread::sleep_for(std::chrono::minutes(5));
      if (guilty && fault.name == "member-broken")
        return (*programs)[size_t(local)]->call(test::MeshProgram::kBroken, {}, {});
      return (*programs)[size_t(local)]->call(test::MeshProgram::kStep, arguments[size_t(local)],
                                              results[size_t(local)]);
    };
    if (Status status = job.forEachMember(callMember); !status.ok()) {
      std::fprintf(stderr, "waited %.2f s\n",
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      return status;
    }
  }
  std::vector<float> w(x.size());
  if (Status status = job.session().read("w", std::as_writable_bytes(std::span(w))); !status.ok())
    return status;
  return w[7] == float(job.members()) ? Status() : Status(StatusCode::Internal, "a wrong sum");
}

Status run(int64_t steps, const Fault &fault) {
  StatusOr<runtime::Contract> contract = runtime::detectContract(runtime::currentEnvironment());
  if (!contract.ok())
    return contract.status();
  const char *devices = std::getenv("DLC_DEVICES");
  StatusOr<std::unique_ptr<Job>> job =
      Job::join(*contract, {.devices = runtime::parseDevices(devices ? devices : "cpu", *contract).take()});
  if (!job.ok())
    return job.status();
  Status status = train(**job, steps, fault);
  return status.ok() ? (*job)->leave() : status;
}

int64_t numberOf(const char *text) { return std::strtoll(text, nullptr, 10); }

} // namespace

int main(int argc, char **argv) {
  Fault fault;
  if (argc > 4)
    fault = {argv[2], int(numberOf(argv[3])), numberOf(argv[4])};
  Status status = run(argc > 1 ? numberOf(argv[1]) : 5, fault);
  if (status.ok())
    return 0;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  if (status.code() != StatusCode::PeerFailed)
    return 1;
  runtime::exitWithin(std::chrono::seconds(5), 4);
  return 4;
}
