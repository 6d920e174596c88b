#include "distributed/Membership.h"

#include "dlc/frontend/Distributed.h"
#include "record/Fault.h"
#include "record/Recording.h"

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

runtime::JobOptions jobOptions(const distributed::InitOptions &options, Where where) {
  const char *wanted = std::getenv("DLC_DEVICES");
  auto devices = runtime::parseDevices(!options.devices.empty() ? options.devices : wanted ? wanted : "cpu");
  check(devices.status(), where);
  if (devices->size() > 1 && devices->front() != DeviceId())
    fail(ErrorKind::Value,
         "init: a process has several members on the cpu only, got " + std::to_string(devices->size()) + " on " +
             devices->front().kind + "; start a process for each",
         where);
  return {.devices = devices.take(), .engine = options.engine};
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
  auto joined = runtime::Job::join(contractOf(options, where), jobOptions(options, where));
  check(joined.status(), where);
  self.runtime = joined.take();
  runtime::Job &job = *self.runtime;
  self.known = {.rank = job.rank(),
                .worldSize = job.worldSize(),
                .localRank = job.contract().localRank,
                .members = job.members(),
                .firstMember = job.firstMember(),
                .localMembers = job.localMembers(),
                .runtime = &job};
  self.active = true;
  static const int registered = std::atexit(leaveAtExit);
  (void)registered;
}

bool is_initialized() { return membership().active; }
bool is_launched(Where where) { return contractOf({}, where).origin != runtime::Contract().origin; }
int64_t rank(Where where) { return record::requireJob("rank", where).rank; }
int64_t world_size(Where where) { return record::requireJob("world_size", where).worldSize; }
int64_t num_members(Where where) { return record::requireJob("num_members", where).members; }
int64_t local_rank(Where where) { return record::requireJob("local_rank", where).localRank; }

void shutdown(Where where) {
  record::requireJob("shutdown", where);
  record::cut(where);
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
