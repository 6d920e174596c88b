#pragma once

#include "dlc/runtime/Communicator.h"
#include "dlc/runtime/Device.h"
#include "dlc/runtime/Manifest.h"
#include "dlc/runtime/Rendezvous.h"
#include "dlc/runtime/Session.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

class CommunicatorTable;
class MemberThreads;
class Monitor;
class ProgramCheck;
class Progress;

/// What one process brings into a job.
struct JobOptions {
  std::vector<DeviceId> devices = {DeviceId()}; ///< its members, one each; the cpu may be several of them
  int threads = 0; ///< of each member on the cpu; 0: DLC_THREADS, else this host's processors shared out among members
  uint64_t seed = 0;       ///< of initial values
  std::string engine = {}; ///< of communicators; empty: the contract's
};

/// A rank's devices, of "cpu", "cpu:4" (four members on the cpu), "sim:2" (sim:0 and sim:1). Ranks of a host share out
/// its GPUs where it has enough for all of them: of "cuda:2" the second one has cuda:2 and cuda:3.
StatusOr<std::vector<DeviceId>> parseDevices(std::string_view text, const Contract &contract = {});

/// The processes that train together, and this process's part in it: members, one a device, numbered over all
/// processes: rank · devices + local index. All ranks create and call the same things in the same order.
///
/// Once something failed between members (a rank died, left early, runs another program, …) every call that needs the
/// others returns PeerFailed with the reason, on all ranks, within the contract's limit.
class Job {
public:
  /// Meets all ranks. InvalidInput when they do not fit together, PeerFailed when not all come.
  static StatusOr<std::unique_ptr<Job>> join(const Contract &contract, const JobOptions &options = {});
  /// Without leave() before, the others see a rank that ended in the middle.
  ~Job();
  Job(const Job &) = delete;
  Job &operator=(const Job &) = delete;

  int rank() const { return contract_.rank; }
  int worldSize() const { return contract_.worldSize; } ///< processes
  int localMembers() const { return int(options_.devices.size()); }
  int members() const { return worldSize() * localMembers(); }
  int firstMember() const { return rank() * localMembers(); }
  /// "rank 2 (host b, cpu:0)".
  const std::string &memberName(int member) const { return names_[size_t(member)]; }

  const Contract &contract() const { return contract_; }
  Store &store() { return *store_; }
  /// The job's limit of time from now.
  Deadline deadline() const { return std::chrono::steady_clock::now() + contract_.timeout; }

  /// State of a member of this process. More sessions are made by Session::create with `job` and `member`.
  Session &session(int local = 0) { return *sessions_[size_t(local)]; }

  /// One for each member of this process.
  using Programs = std::vector<std::shared_ptr<Session::Program>>;
  /// Binds an executable to the session of each member of this process, at once: members wait for each other here.
  StatusOr<Programs> attach(const std::shared_ptr<const Executable> &executable,
                            Session::State state = Session::State::Start);
  /// Runs an entry on all members of this process at once, on host memory; arguments and results by member. When it
  /// fails, what results hold is undefined.
  Status call(const Programs &programs, size_t entry, std::span<const std::vector<DlcBuffer>> arguments,
              std::span<std::vector<DlcBuffer>> results);
  /// The same on memory of each member's device; returns once the work is in the sessions' streams.
  Status callOnDevice(const Programs &programs, size_t entry, std::span<const std::vector<DlcBuffer>> arguments,
                      std::span<std::vector<DlcBuffer>> results);
  /// Does something for each member of this process on a thread of its own (the first one's is the caller's). Returns
  /// the failure that the others follow from. Not from inside itself.
  Status forEachMember(const std::function<Status(int local)> &work);

  /// The channel between the members that differ from this one only along these axes of the mesh; made at the first
  /// use, which all members have in the same order. Lives as long as the job. `onHost`: for elements that are there, or
  /// have to come there; else it may be one that leaves them on devices.
  StatusOr<Communicator *> communicator(int local, const std::vector<std::string> &axes, const MeshInfo &mesh,
                                        int channel, bool onHost = true);
  /// Between all members, for collectives outside programs.
  StatusOr<Communicator *> world(int local = 0);
  /// Waits for a collective outside programs, so that a failure has the job's reason.
  Status wait(int local, StatusOr<WorkPtr> work);

  /// Why members can do nothing together any more, if they cannot.
  Status failure() const;
  /// Waits until all ranks are here; after that the job's end is silent.
  Status leave();
  /// Ends what members do together, on this process at once and on the others as soon as they hear of it.
  void abort(const Status &why) noexcept;

  // What sessions and programs need.

  /// Compares a program with the other ranks' when it is new. Returns its number, the same on all ranks.
  StatusOr<uint32_t> checkProgram(const Executable &executable);
  /// Something failed between members: the reason that all ranks give. An `own` failure is this rank's fault.
  Status failed(const Status &why, bool own = false);
  /// The same where a member of this process cannot go on: "<member> <what>: <why>". Returns its own reason.
  Status tellOthers(int local, const std::string &what, const Status &why);
  /// A member of this process cannot run a program that the others wait for.
  void refuse(int local, const Executable &executable, const Status &why);
  /// What reports know of a member of this process.
  Progress &progress(int local) { return *progress_[size_t(local)]; }
  /// What reports call the collectives of a program, by index.
  void nameCollectives(uint32_t program, std::vector<std::string> names);

private:
  Job(const Contract &contract, const JobOptions &options);

  using Call = Status (Session::Program::*)(size_t, std::span<const DlcBuffer>, std::span<DlcBuffer>);
  Status callEach(Call way, const Programs &programs, size_t entry, std::span<const std::vector<DlcBuffer>> arguments,
                  std::span<std::vector<DlcBuffer>> results);

  Status meet();
  Status watch(std::unique_ptr<Store> connection);
  /// Keeps the first failure and ends what runs.
  Status settle(const Status &why);
  std::string describe(uint32_t program, uint32_t index) const;
  StatusOr<Communicator *> open(int local, const std::string &name, const std::vector<int> &group, int channel,
                                bool fixedOrder, bool onHost);
  Status openSessions();
  int threadsOfMember() const;

  Contract contract_;
  JobOptions options_;
  std::unique_ptr<Store> store_;
  std::vector<std::string> names_, ranks_;        ///< of all members, of all processes
  std::vector<std::vector<std::string>> devices_; ///< of all processes, their members'
  int membersOfHost_ = 1;
  std::unique_ptr<CommunicatorTable> communicators_;
  std::unique_ptr<ProgramCheck> check_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::unique_ptr<MemberThreads> threads_;
  std::vector<std::unique_ptr<Progress>> progress_;
  mutable std::mutex lock_;
  std::map<uint32_t, std::vector<std::string>> collectives_; ///< what messages call them
  Status failure_;
  std::mutex settling_; ///< the first failure is reported before anybody hears of it
  bool left_ = false;
  std::unique_ptr<Monitor> monitor_; ///< of several members
};

/// Ends the process with this exit code if it still lives then: for programs that end because of a failure and must not
/// hang on the way.
void exitWithin(std::chrono::milliseconds limit, int code);

} // namespace dlc::runtime
