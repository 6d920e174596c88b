#include "comm/mpi/MpiProcess.h"
#include "comm/host/BlockedSignals.h"

#include <chrono>
#include <cstdlib>
#include <thread>

#include <unistd.h>

namespace dlc::runtime {

namespace {

// At the end of the process, for members that have not told their end yet.
constexpr std::chrono::seconds kPatience{1};

} // namespace

Status mpiStatus(int code) {
  if (code == MPI_SUCCESS)
    return {};
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {StatusCode::PeerFailed, "MPI: " + std::string(text, size_t(length))};
}

void MpiCall::giveWay(const MpiProcess &process) {
  for (int i = 0; i == 0 || (process.callers > 0 && i < 1000); ++i)
    std::this_thread::yield();
}

MpiProcess::MpiProcess(int worldRank, int worldSize, bool ours)
    : worldRank(worldRank), worldSize(worldSize), ours(ours), owner(getpid()) {}

StatusOr<MpiProcess *> MpiProcess::get() {
  static StatusOr<MpiProcess *> only = start();
  return only;
}

StatusOr<MpiProcess *> MpiProcess::start() {
  int running = 0, provided = 0, rank = 0, size = 0;
  MPI_Initialized(&running);
  if (!running && !std::getenv("OMPI_COMM_WORLD_SIZE") && !std::getenv("PMI_RANK") && !std::getenv("PMIX_RANK"))
    return Status(StatusCode::InvalidInput,
                  "expects a process that mpirun has started, for the communicator 'mpi'; 'gloo' needs none");
  if (running) {
    MPI_Query_thread(&provided);
  } else {
    // MPI's own threads leave signals to the program.
    BlockedSignals blocked;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
      return Status(StatusCode::Internal, "MPI does not start");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  // A program that calls MPI itself does not know of MpiCall.
  if (provided < (running ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED))
    return Status(StatusCode::InvalidInput,
                  "expects an MPI that may be called from any thread, got level " + std::to_string(provided));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  static MpiProcess process(rank, size, !running);
  return &process;
}

// MPI_Finalize waits for all ranks and hangs when one is lost: after a failure the process ends without, and mpirun
// ends the others.
MpiProcess::~MpiProcess() {
  if (!ours || getpid() != owner || !broken.empty())
    return;
  auto limit = std::chrono::steady_clock::now() + kPatience;
  MpiCall call(*this);
  for (sweep(); !retired.empty() && std::chrono::steady_clock::now() < limit; sweep())
    std::this_thread::yield();
  for (MpiChannel &each : retired)
    for (MPI_Request &request : each.hears)
      if (request != MPI_REQUEST_NULL) {
        MPI_Cancel(&request);
        MPI_Request_free(&request);
      }
  MPI_Finalize();
}

Status MpiProcess::join(const std::vector<int> &ranks, int self, MpiChannel &channel) {
  size_t size = ranks.size();
  channel.heard.resize(size);
  channel.hears.assign(size, MPI_REQUEST_NULL);
  channel.tells.assign(size, MPI_REQUEST_NULL);
  MpiCall call(*this);
  sweep();
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  Status status = mpiStatus(MPI_Group_incl(world, int(size), ranks.data(), &group));
  if (status.ok()) {
    status = mpiStatus(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &channel.group));
    MPI_Group_free(&group);
  }
  MPI_Group_free(&world);
  if (!status.ok())
    return status;
  MPI_Comm_set_errhandler(channel.group, MPI_ERRORS_RETURN);
  for (int m = 0; m < int(size) && status.ok(); ++m)
    if (m != self)
      status = mpiStatus(MPI_Irecv(&channel.heard[size_t(m)], sizeof(MpiNotice), MPI_BYTE, m, kMpiNoticeTag,
                                   channel.group, &channel.hears[size_t(m)]));
  return status;
}

void MpiProcess::retire(MpiChannel channel, bool failed) {
  MpiCall call(*this);
  channel.processes.clear();
  (failed ? broken : retired).push_back(std::move(channel));
  sweep();
}

// Only when all have told their end: until then messages may come for this group, and another one that got its number
// would take them.
void MpiProcess::sweep() {
  retired.remove_if([](MpiChannel &each) {
    int heard = 0, told = 0;
    MPI_Testall(int(each.hears.size()), each.hears.data(), &heard, MPI_STATUSES_IGNORE);
    MPI_Testall(int(each.tells.size()), each.tells.data(), &told, MPI_STATUSES_IGNORE);
    if (!heard || !told)
      return false;
    if (each.group != MPI_COMM_NULL)
      MPI_Comm_free(&each.group);
    return true;
  });
}

} // namespace dlc::runtime
