#pragma once

#include "base/FileDescriptor.h"

#include "dlc/runtime/Communicator.h"

#include <atomic>
#include <list>
#include <mutex>
#include <vector>

#include <mpi.h>

namespace dlc::runtime {

/// What a member tells each other one once, at its end.
struct MpiNotice {
  enum Kind : uint32_t { None, Left, Failed };
  uint32_t kind = None;
  char text[1020] = {};
};

/// The group of one channel as MPI knows it. It moves to MpiProcess when its engine goes: MPI may still use it.
struct MpiChannel {
  MPI_Comm group = MPI_COMM_NULL;
  std::vector<MpiNotice> heard; ///< by member
  std::vector<MPI_Request> hears, tells;
  std::unique_ptr<MpiNotice> told = std::make_unique<MpiNotice>();
  std::vector<FileDescriptor> processes; ///< by member, where it is a process of this host: readable when it has ended
  std::unique_ptr<char[]> stage;         ///< all data that MPI touches
};

/// MPI in this process. One thread at a time calls it: see MpiCall.
class MpiProcess {
public:
  /// Starts MPI on first use, which ends with the process. InvalidInput unless the process was started by mpirun.
  static StatusOr<MpiProcess *> get();

  /// Joins the members of a group, given by their ranks in the world; all do so at about the same time.
  Status join(const std::vector<int> &ranks, int self, MpiChannel &channel);

  /// Takes a channel whose member has told the others its end: kept until they have told theirs, for good if it failed.
  void retire(MpiChannel channel, bool failed);

  const int worldRank, worldSize;
  std::timed_mutex creating; ///< one group after another, so that no two processes wait for each other

private:
  friend class MpiCall;
  MpiProcess(int worldRank, int worldSize, bool ours);
  ~MpiProcess();
  static StatusOr<MpiProcess *> start();
  /// Frees what no member uses any more.
  void sweep();

  std::mutex calling;
  std::atomic<int> callers = 0; ///< that wait
  std::list<MpiChannel> retired, broken;
  const bool ours;
  const int owner;
};

/// While it lives, this thread and no other may call MPI.
class MpiCall {
public:
  explicit MpiCall(MpiProcess &process) : process(process) {
    ++process.callers;
    process.calling.lock();
    --process.callers;
  }
  ~MpiCall() { process.calling.unlock(); }
  MpiCall(const MpiCall &) = delete;
  MpiCall &operator=(const MpiCall &) = delete;

  /// Between two calls of a thread that asks again and again: others come first.
  static void giveWay(const MpiProcess &process);

private:
  MpiProcess &process;
};

/// PeerFailed with MPI's own words, unless it is success.
Status mpiStatus(int code);

constexpr int kMpiNoticeTag = 0, kMpiFirstDataTag = 1;

} // namespace dlc::runtime
