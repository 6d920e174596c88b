#pragma once

#include "drivers/cuda/CudaApi.h"
#include "drivers/sim/SimEngine.h"
#include "drivers/sim/SimMemory.h"
#include "drivers/sim/SimSchedule.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

/// A device and its primary context.
struct CUctx_st {
  int index = 0;
  std::unique_ptr<dlc::runtime::SimMemory> memory;
  std::map<unsigned long long, size_t> allocations;
  std::map<void *, std::unique_ptr<char[]>> locked; ///< of the host
  std::set<const CUctx_st *> peers;                 ///< whose memory this one may reach
  std::atomic<int> failure{0};                      ///< what every call returns from then on
  std::unique_ptr<dlc::SimEngine> engine;
};

/// Work and what must be done before it, by index.
struct GraphNode {
  std::function<int()> work; ///< null: `give`
  std::vector<size_t> after;
  /// Puts work into the stream that the graph is given to, which may wait for others.
  std::function<void(CUstream_st &)> give = {};
};

struct CUgraph_st {
  CUctx_st *context = nullptr;
  std::vector<GraphNode> nodes;
  bool invalid = false; ///< somebody waited while it was captured
};

struct CUgraphExec_st {
  CUctx_st *context = nullptr;
  std::shared_ptr<const std::vector<GraphNode>> nodes;
};

/// Where a stream or an event stands in a graph that is captured; no graph: in none.
struct CapturePlace {
  CUgraph_st *graph = nullptr;
  std::vector<size_t> after;
};

struct CUstream_st {
  CUctx_st *context = nullptr;
  std::shared_ptr<dlc::runtime::SimSchedule::Queue> queue;
  CapturePlace capture;
  bool captureBegan = false; ///< with this stream
};

struct CUevent_st {
  CUctx_st *context = nullptr;
  dlc::runtime::SimSchedule::Point point;
  CapturePlace capture;
};

struct CUfunc_st {
  CUctx_st *context = nullptr;
  dlc::SimKernel kernel;
};

struct CUmod_st {
  CUctx_st *context = nullptr;
  std::shared_ptr<const void> code; ///< what keeps the functions' code in memory
  std::map<std::string, std::shared_ptr<CUfunc_st>> functions;
};

namespace dlc::fakegpu {

/// The state of the driver, one a process. Work runs when somebody waits for it (DLC_SIM_STREAM=eager: at once).
class FakeDriver {
public:
  static FakeDriver &get();

  /// At the start of every entry point: DLCFAKE_FAIL=<entry point>:<k>[:<result>] makes its call k fail, by default
  /// with CUDA_ERROR_OPERATING_SYSTEM. Those of DLCFAKE_COUNT=<entry point> are counted.
  int enter(const char *function);
  /// The same for a library over the driver, whose call fails with `otherwise` where no result is given.
  int failing(const char *function, int otherwise);
  /// The thread's context, or why there is none.
  int context(CUctx_st *&out);

  int initialize();
  bool initialized() const { return ready; }
  std::vector<std::unique_ptr<CUctx_st>> &devices() { return devices_; }
  runtime::SimSchedule &schedule() { return *schedule_; }
  /// Queues work of a stream, or notes it where the stream is captured; its failure is its device's, and work behind a
  /// failure is dropped. It begins when `ready` holds, if there is one, or when the device has failed; such work is
  /// captured by noteGiver.
  int submit(CUstream_st &stream, std::function<int()> work, std::function<bool()> ready = {});

  /// Notes in the graph that captures the stream who puts work there when it is launched.
  void noteGiver(CUstream_st &stream, std::function<void(CUstream_st &)> give);

  void retain(int device);
  int release(int device);
  int reset(int device);
  /// Everything that is not given back.
  void reportAlive() const;
  void reportCalls() const;

  std::recursive_mutex lock; ///< of what follows; never held while work runs
  std::map<CUstream_st *, std::unique_ptr<CUstream_st>> streams;
  std::map<CUevent_st *, std::unique_ptr<CUevent_st>> events;
  std::map<CUmod_st *, std::unique_ptr<CUmod_st>> modules;
  std::map<CUgraph_st *, std::unique_ptr<CUgraph_st>> graphs;
  std::map<CUgraphExec_st *, std::unique_ptr<CUgraphExec_st>> executables;

private:
  FakeDriver();
  void forget(CUctx_st &context);

  bool ready = false;
  std::vector<std::unique_ptr<CUctx_st>> devices_;
  std::vector<int> retained;
  std::unique_ptr<runtime::SimSchedule> schedule_;
  std::string failure;
  int64_t callsOfFailing = 0, callsCounted = 0;
};

/// What CUDA_VISIBLE_DEVICES numbers as `index`.
int deviceOfHost(int index);

/// Communicators of Nccl.cpp that are not given back.
size_t communicatorsAlive();

/// What CublasLt.cpp and Cudnn.cpp have given out and not got back.
size_t cublasLtHandlesAlive();
size_t cublasLtDescriptorsAlive();
size_t cudnnHandlesAlive();
size_t cudnnDescriptorsAlive();

/// The context that cuCtxSetCurrent gave to this thread.
extern thread_local CUctx_st *current;

} // namespace dlc::fakegpu

/// First line of an entry point.
#define DLC_FAKE_ENTER(name)                                                                                           \
  FakeDriver &driver = FakeDriver::get();                                                                              \
  if (int refused = driver.enter(#name))                                                                               \
    return refused;
/// First lines of one that needs a context.
#define DLC_FAKE_ENTER_CONTEXT(name)                                                                                   \
  DLC_FAKE_ENTER(name)                                                                                                 \
  CUctx_st *context = nullptr;                                                                                         \
  if (int refused = driver.context(context))                                                                           \
    return refused;
