#include "dlc/runtime/Job.h"

#include "drivers/cpu/WorkerTeam.h"
#include "job/CommunicatorTable.h"
#include "job/Lines.h"
#include "job/MemberThreads.h"
#include "job/ProgramCheck.h"
#include "monitor/Monitor.h"
#include "monitor/WatchedStore.h"
#include "rendezvous/Meeting.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace dlc::runtime {

namespace {

Status invalid(std::string message) { return {StatusCode::InvalidInput, std::move(message)}; }

constexpr int kMostMembers = 256;

/// "cpu:0": members on the cpu are told apart by their place.
std::string deviceName(const DeviceId &device, size_t local) {
  return device.kind == "cpu" ? "cpu:" + std::to_string(local) : device.str();
}

Status unequalDevices(size_t first, const std::string &firstHost, size_t other, const std::string &where) {
  return invalid("all ranks expect the same number of devices, got " + std::to_string(first) + " on rank 0 (host " +
                 firstHost + ") and " + std::to_string(other) + " on " + where + ")");
}

} // namespace

/// The first device of a rank that has so many. Where every process sees devices of its own, they begin at 0.
static int firstDevice(std::string_view kind, int count, const Contract &contract) {
  for (const Device::Kind &each : Device::kinds())
    if (each.name == kind && each.ofHost &&
        each.count >= count * std::max(contract.localWorldSize, contract.localRank + 1))
      return count * contract.localRank;
  return 0;
}

StatusOr<std::vector<DeviceId>> parseDevices(std::string_view text, const Contract &contract) {
  std::string_view kind = text.substr(0, text.find(':'));
  int count = 1;
  bool good = DeviceId::parse(kind).ok();
  if (kind.size() < text.size()) {
    const char *last = text.data() + text.size();
    auto [end, error] = std::from_chars(text.data() + kind.size() + 1, last, count);
    good &= error == std::errc() && end == last && count >= 1 && count <= kMostMembers;
  }
  if (!good)
    return invalid("expected devices such as cpu, cpu:4 or sim:2 (a kind and how many), got '" + std::string(text) +
                   "'");
  std::vector<DeviceId> devices;
  devices.reserve(size_t(count));
  int first = contract.localRank > 0 ? firstDevice(kind, count, contract) : 0;
  for (int i = 0; i < count; ++i)
    devices.push_back({std::string(kind), kind == "cpu" ? 0 : first + i});
  return devices;
}

Job::Job(const Contract &contract, const JobOptions &options) : contract_(contract), options_(options) {
  for (size_t i = 0; i < options.devices.size(); ++i)
    progress_.push_back(std::make_unique<Progress>());
}

StatusOr<std::unique_ptr<Job>> Job::join(const Contract &contract, const JobOptions &options) {
  if (options.devices.empty() || options.devices.size() > kMostMembers)
    return invalid("a process of a job expects 1 to " + std::to_string(kMostMembers) + " devices, got " +
                   std::to_string(options.devices.size()));
  std::unique_ptr<Job> job(new Job(contract, options));
  StatusOr<std::unique_ptr<Store>> store = rendezvous(contract);
  if (!store.ok())
    return store.status();
  job->store_ = std::make_unique<WatchedStore>(store.take(), [self = job.get()] { return self->failure(); });
  StatusOr<std::unique_ptr<Store>> watched = std::unique_ptr<Store>();
  if (contract.worldSize > 1)
    watched = Monitor::connect(contract);
  else if (job->localMembers() > 1) // members see each other without a store
    watched = createMemoryStore();
  if (Status status = watched.ok() ? job->meet() : watched.status(); !status.ok())
    return status;
  std::vector<std::string> devices;
  devices.reserve(options.devices.size());
  for (size_t i = 0; i < options.devices.size(); ++i)
    devices.push_back(deviceName(options.devices[i], i));
  job->communicators_ =
      std::make_unique<CommunicatorTable>(*job->store_, job->contract_, job->names_, devices, job->localMembers(),
                                          options.engine.empty() ? contract.engine : options.engine);
  job->check_ = std::make_unique<ProgramCheck>(*job->store_, job->contract_, whoIs(contract));
  job->threads_ = std::make_unique<MemberThreads>(job->localMembers());
  if (*watched)
    if (Status status = job->watch(watched.take()); !status.ok())
      return status;
  if (Status status = job->openSessions(); !status.ok())
    return job->tellOthers(0, "cannot take part", status);
  return job;
}

// Each rank tells the others where it runs and on what: lines of host, process and devices.
Status Job::meet() {
  std::string prefix = keyPrefix(contract_) + "member/", mine = hostName() + "\n" + std::to_string(::getpid());
  for (size_t i = 0; i < options_.devices.size(); ++i)
    mine += "\n" + deviceName(options_.devices[i], i);
  if (Status status = store_->set(prefix + std::to_string(rank()), mine); !status.ok())
    return status;
  Deadline limit = deadline();
  std::string firstHost;
  membersOfHost_ = 0;
  for (int rank = 0; rank < worldSize(); ++rank) {
    StatusOr<std::string> told = store_->get(prefix + std::to_string(rank), limit);
    if (!told.ok())
      return told.status();
    std::vector<std::string> theirs = linesOf(*told);
    theirs.resize(std::max<size_t>(theirs.size(), 2));
    size_t devices = theirs.size() - 2;
    std::string where = "rank " + std::to_string(rank) + " (host ";
    where += theirs[0];
    if (rank == 0)
      firstHost = theirs[0];
    else if (size_t first = names_.size() / size_t(rank); first != devices)
      return unequalDevices(first, firstHost, devices, where);
    devices_.emplace_back(theirs.begin() + 2, theirs.end());
    ranks_.push_back(std::string(where).append(", pid ").append(theirs[1]).append(")"));
    for (size_t i = 2; i < theirs.size(); ++i)
      names_.push_back(std::string(where).append(", ").append(theirs[i]).append(")"));
    membersOfHost_ += theirs[0] == hostName() ? int(devices) : 0;
  }
  return {};
}

int Job::threadsOfMember() const {
  if (options_.threads != 0 || std::getenv("DLC_THREADS") || members() == 1)
    return options_.threads;
  return std::max(1, WorkerTeam::processors() / std::max(1, membersOfHost_));
}

Status Job::openSessions() {
  for (int local = 0; local < localMembers(); ++local) {
    StatusOr<std::unique_ptr<Session>> session =
        Session::create({threadsOfMember(), options_.seed, options_.devices[size_t(local)], this, local});
    if (!session.ok())
      return session.status();
    sessions_.push_back(session.take());
  }
  return {};
}

Status Job::watch(std::unique_ptr<Store> connection) {
  Monitor::Options options;
  options.ranks = ranks_;
  options.devices = devices_;
  options.members.reserve(progress_.size());
  for (const std::unique_ptr<Progress> &progress : progress_)
    options.members.push_back(progress.get());
  options.describe = [this](uint32_t program, uint32_t index) { return describe(program, index); };
  options.verdict = [this](const Status &verdict) { (void)settle(verdict); };
  StatusOr<std::unique_ptr<Monitor>> monitor = Monitor::start(contract_, std::move(options), std::move(connection));
  if (!monitor.ok())
    return monitor.status();
  monitor_ = monitor.take();
  return {};
}

// Sessions wait for work that needs the other members, so they go while those are watched.
Job::~Job() {
  sessions_.clear();
  bool serves = rank() == 0 && contract_.directory.empty() && !contract_.externalStore;
  if (monitor_ && !left_ && serves && !failure().ok())
    monitor_->linger();
  if (monitor_)
    monitor_->stop();
}

StatusOr<Job::Programs> Job::attach(const std::shared_ptr<const Executable> &executable, Session::State state) {
  Programs programs;
  programs.resize(size_t(localMembers()));
  std::vector<std::vector<std::string>> started(programs.size());
  // First what may fail on one member alone: nobody waits for it then.
  auto prepare = [&](int local) {
    StatusOr<std::shared_ptr<Session::Program>> program =
        session(local).prepare(executable, state, started[size_t(local)]);
    if (program.ok())
      programs[size_t(local)] = program.take();
    return program.status();
  };
  if (Status status = threads_->run(prepare,
                                    [&](int local, const Status &why) {
                                      refuse(local, *executable, why);
                                      return why;
                                    });
      !status.ok())
    return status;
  Status status = forEachMember(
      [&](int local) { return session(local).joinMembers(*programs[size_t(local)], started[size_t(local)]); });
  return status.ok() ? StatusOr<Programs>(std::move(programs)) : status;
}

Status Job::call(const Programs &programs, size_t entry, std::span<const std::vector<DlcBuffer>> arguments,
                 std::span<std::vector<DlcBuffer>> results) {
  return callEach(&Session::Program::call, programs, entry, arguments, results);
}

Status Job::callOnDevice(const Programs &programs, size_t entry, std::span<const std::vector<DlcBuffer>> arguments,
                         std::span<std::vector<DlcBuffer>> results) {
  return callEach(&Session::Program::callOnDevice, programs, entry, arguments, results);
}

Status Job::callEach(Call way, const Programs &programs, size_t entry,
                     std::span<const std::vector<DlcBuffer>> arguments, std::span<std::vector<DlcBuffer>> results) {
  size_t count = size_t(localMembers());
  if (programs.size() != count || arguments.size() != count || results.size() != count)
    return invalid("a call expects programs, arguments and results of " + std::to_string(count) + " members, got " +
                   std::to_string(programs.size()) + ", " + std::to_string(arguments.size()) + " and " +
                   std::to_string(results.size()));
  for (size_t i = 0; i < count; ++i)
    if (Status status = programs[i]->check(entry, arguments[i], results[i]); !status.ok())
      return status;
  return forEachMember([&](int local) {
    size_t i = size_t(local);
    return (programs[i].get()->*way)(entry, arguments[i], results[i]);
  });
}

Status Job::forEachMember(const std::function<Status(int)> &work) {
  if (localMembers() == 1)
    return work(0);
  // Others would wait for this one until their limit.
  return threads_->run(work, [this](int local, const Status &why) {
    Status reason = tellOthers(local, "failed", why);
    return why.code() == StatusCode::PeerFailed ? reason : reason.withContext(memberName(firstMember() + local));
  });
}

StatusOr<Communicator *> Job::communicator(int local, const std::vector<std::string> &axes, const MeshInfo &mesh,
                                           int channel, bool onHost) {
  if (mesh.size() != members())
    return invalid("a mesh of " + std::to_string(mesh.size()) + " members in a job of " + std::to_string(members()));
  int member = firstMember() + local;
  std::string name;
  for (const MeshInfo::Axis &axis : mesh.axes)
    if (std::find(axes.begin(), axes.end(), axis.name) != axes.end())
      name += (name.empty() ? "" : "*") + axis.name;
  return open(local, name, groupOf(mesh, axes, member), channel, mesh.isOrdered(axes), onHost);
}

StatusOr<Communicator *> Job::world(int local) {
  std::vector<int> all;
  all.reserve(size_t(members()));
  for (int member = 0; member < members(); ++member)
    all.push_back(member);
  return open(local, "world", all, 0, /*fixedOrder=*/false, /*onHost=*/true);
}

// The others wait until all have come.
StatusOr<Communicator *> Job::open(int local, const std::string &name, const std::vector<int> &group, int channel,
                                   bool fixedOrder, bool onHost) {
  StatusOr<Communicator *> made = communicators_->get(name, group, firstMember() + local, channel, fixedOrder, onHost);
  return made.ok() ? made : tellOthers(local, "cannot open the communicator of group '" + name + "'", made.status());
}

StatusOr<uint32_t> Job::checkProgram(const Executable &executable) {
  StatusOr<uint32_t> number = check_->check(executable.manifest());
  return number.ok() ? number : failed(number.status(), /*own=*/true);
}

Status Job::failure() const {
  std::lock_guard guard(lock_);
  return failure_;
}

Status Job::failed(const Status &why, bool own) {
  if (Status known = failure(); !known.ok())
    return known;
  return settle(monitor_ ? monitor_->settle(why, own) : why);
}

Status Job::settle(const Status &why) {
  std::lock_guard once(settling_);
  if (Status known = failure(); !known.ok())
    return known;
  Status told = why;
  if (communicators_) // before they are ended
    told = {why.code(), why.message() + reportChannels(contract_, communicators_->history(), why)};
  {
    std::lock_guard guard(lock_);
    failure_ = told;
  }
  if (communicators_)
    communicators_->abort(why);
  if (threads_)
    threads_->expectReturn(told.message(), contract_.timeout);
  return told;
}

Status Job::tellOthers(int local, const std::string &what, const Status &why) {
  if (why.code() == StatusCode::PeerFailed)
    return failed(why);
  (void)failed({StatusCode::PeerFailed, memberName(firstMember() + local) + " " + what + ": " + why.message()},
               /*own=*/true);
  return why;
}

// In one process nobody waits for what one member cannot do: all come to their own answer.
void Job::refuse(int local, const Executable &executable, const Status &why) {
  if (worldSize() > 1 && !executable.manifest().mesh.axes.empty())
    (void)tellOthers(local, "cannot run " + entryNames(executable.manifest()), why);
}

void Job::abort(const Status &why) noexcept { (void)failed(why, /*own=*/true); }

Status Job::wait(int local, StatusOr<WorkPtr> work) {
  if (!work.ok())
    return work.status().code() == StatusCode::PeerFailed ? failed(work.status()) : work.status();
  Progress &member = progress(local);
  Phase before = member.phase();
  member.started(Progress::kChannels - 1, 0, 0, 0);
  member.enter(Phase::Wait);
  Status status = (*work)->wait(deadline());
  member.enter(before);
  return status.ok() ? status : failed(status);
}

Status Job::leave() {
  if (Status status = failure(); !status.ok())
    return status;
  if (left_)
    return {};
  // What is under way on devices needs the others, who may go after this.
  for (const std::unique_ptr<Session> &session : sessions_)
    if (Status status = session->synchronize(); !status.ok())
      return failed(status);
  for (const std::unique_ptr<Progress> &member : progress_)
    member->enter(Phase::Leave);
  Meeting meeting(*store_, contract_, "end", deadline());
  Status status = meeting.arrive(whoIs(contract_));
  if (status.ok())
    status = meeting.waitForAll("not all ranks ended");
  if (!status.ok())
    return failed(status);
  left_ = true;
  // From here on a rank that is gone has just ended.
  if (monitor_)
    monitor_->stop();
  meeting.seenByAll();
  return {};
}

void Job::nameCollectives(uint32_t program, std::vector<std::string> names) {
  std::lock_guard guard(lock_);
  collectives_.emplace(program, std::move(names));
}

std::string Job::describe(uint32_t program, uint32_t index) const {
  std::lock_guard guard(lock_);
  auto found = collectives_.find(program);
  if (found == collectives_.end() || index >= found->second.size())
    return "a collective outside programs";
  return found->second[index];
}

void exitWithin(std::chrono::milliseconds limit, int code) {
  std::thread([limit, code] {
    std::this_thread::sleep_for(limit);
    ::_exit(code);
  }).detach();
}

} // namespace dlc::runtime
