#include "distributed/Membership.h"

#include "checkpoint/Group.h"
#include "dlc/frontend/Distributed.h"
#include "record/Fault.h"
#include "record/Recording.h"

#include <charconv>
#include <cstdlib>

namespace dlc {

using record::check;
using record::fail;

namespace {

/// The process's job; the runtime's part lives to the end of the process, since state lies in its sessions.
struct Membership {
  std::unique_ptr<runtime::Job> runtime;
  record::Job known;
  bool active = false;
};
Membership &membership() {
  static Membership &instance = *new Membership; // tensors in static memory may outlive everything else
  return instance;
}

/// The environment's contract with what the program says itself.
runtime::Contract contractOf(const distributed::InitOptions &options, Where where) {
  auto contract = runtime::detectContract(runtime::currentEnvironment());
  check(contract.status(), where);
  if (options.timeout)
    contract->timeout = *options.timeout;
  return contract.take();
}

runtime::JobOptions jobOptions(const distributed::InitOptions &options, const runtime::Contract &contract,
                               Where where) {
  const char *wanted = std::getenv("DLC_DEVICES");
  auto devices = runtime::parseDevices(!options.devices.empty() ? options.devices : wanted ? wanted : "cpu", contract);
  check(devices.status(), where);
  return {.devices = devices.take(), .engine = options.engine};
}

/// The number of "data:8"; 0 where nobody asks for an order.
int64_t leavesOf(const distributed::InitOptions &options, int64_t members, Where where) {
  const char *wanted = std::getenv("DLC_INVARIANT");
  std::string text = !options.invariant.empty() ? options.invariant : wanted ? wanted : "";
  if (text.empty())
    return 0;
  std::string prefix = std::string(trace::kDataAxis) + ":";
  int64_t leaves = 0;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data() + std::min(prefix.size(), text.size()), end, leaves);
  if (!text.starts_with(prefix) || error != std::errc() || rest != end || leaves < 1 || leaves & (leaves - 1))
    fail(ErrorKind::Value, "init: invariant: expected data:8, or another power of two, got '" + text + "'", where);
  if (leaves % members)
    fail(ErrorKind::Value,
         "init: invariant: expected a number of members that divides " + std::to_string(leaves) + ", got " +
             std::to_string(members),
         where);
  return leaves;
}

void leaveAtExit() {
  if (membership().active)
    (void)membership().runtime->leave(); // nobody is left to hear of it
}

} // namespace

namespace record {

const Job *job() { return membership().active ? &membership().known : nullptr; }

int localMembers() { return membership().known.localMembers; }

const Job &requireJob(const char *function, const std::source_location &where) {
  if (!membership().active)
    fail(ErrorKind::Distributed, std::string(function) + ": this process is in no job; call distributed::init() before",
         where);
  return membership().known;
}

} // namespace record

namespace distributed {

void init(InitOptions options, Where where) {
  Membership &self = membership();
  if (self.active)
    fail(ErrorKind::Distributed, "init: this process is in a job already", where);
  if (self.runtime)
    fail(ErrorKind::Distributed, "init: this process has left a job; it cannot join another", where);
  for (record::Place *place : record::Place::open())
    if (place->isUsed())
      fail(ErrorKind::Distributed,
           "init: something has been computed on " + place->name() + " already; call init() before", where);
  runtime::Contract contract = contractOf(options, where);
  runtime::JobOptions job = jobOptions(options, contract, where);
  int64_t leaves = leavesOf(options, contract.worldSize * std::ssize(job.devices), where);
  auto joined = runtime::Job::join(contract, job);
  check(joined.status(), where);
  self.runtime = joined.take();
  runtime::Job &own = *self.runtime;
  self.known = {.rank = own.rank(),
                .worldSize = own.worldSize(),
                .localRank = own.contract().localRank,
                .members = own.members(),
                .firstMember = own.firstMember(),
                .localMembers = own.localMembers(),
                .leaves = leaves,
                .runtime = &own};
  self.active = true;
  static const int registered = std::atexit(leaveAtExit);
  (void)registered;
}

bool is_initialized() { return membership().active; }
bool is_launched(Where where) { return contractOf({}, where).origin != runtime::Contract().origin; }
int64_t rank(Where where) { return record::requireJob("rank", where).rank; }
int64_t world_size(Where where) { return record::requireJob("world_size", where).worldSize; }
int64_t num_members(Where where) { return record::requireJob("num_members", where).members; }
Device device(Where where) {
  return Device(record::requireJob("device", where).runtime->session().device().id().str(), where);
}
int64_t local_rank(Where where) { return record::requireJob("local_rank", where).localRank; }

void shutdown(Where where) {
  record::requireJob("shutdown", where);
  record::cut(where);
  record::finishCheckpoints(where);
  membership().active = false;
  check(membership().runtime->leave(), where);
}

void splitBatches() { membership().known.splitsBatches = true; }

void needValues(const char *cause, const std::source_location &where) {
  if (record::Recording *now = record::recording())
    record::retrace(*now, where, cause);
}

void together(const record::Job &job, const Start &start, const std::source_location &where) {
  static uint64_t count = 0; // all ranks count alike
  runtime::Op op{.id = {.step = ++count}};
  check(job.runtime->forEachMember([&](int local) -> Status {
    auto world = job.runtime->world(local);
    if (!world.ok())
      return world.status();
    return job.runtime->wait(local, start(**world, op, local));
  }),
        where);
}

void barrier(Where where) {
  const record::Job &job = record::requireJob("barrier", where);
  needValues("barrier() runs at once", where);
  record::cut(where);
  together(job, [](runtime::Communicator &world, const runtime::Op &op, int) { return world.barrier(op); }, where);
}

} // namespace distributed
} // namespace dlc
