// The entry points of libcuda for graphs: work that is captured keeps the edges that streams and events gave it.
#include "FakeDriver.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

using namespace dlc::fakegpu;
using namespace dlc::runtime;

namespace {

/// Whether each of `nodes` is one of `last` or must be done before one of them.
bool reaches(const CUgraph_st &graph, const std::vector<size_t> &last, const std::vector<size_t> &nodes) {
  std::vector<bool> seen(graph.nodes.size());
  std::vector<size_t> open = last;
  while (!open.empty()) {
    size_t node = open.back();
    open.pop_back();
    if (seen[node])
      continue;
    seen[node] = true;
    open.insert(open.end(), graph.nodes[node].after.begin(), graph.nodes[node].after.end());
  }
  return std::all_of(nodes.begin(), nodes.end(), [&](size_t node) { return seen[node]; });
}

/// In the order of capture, or (DLCFAKE_GRAPH=reverse) the youngest that is ready first: an edge that is missing shows
/// in one of them.
std::vector<const GraphNode *> ordered(const std::vector<GraphNode> &nodes) {
  const char *order = std::getenv("DLCFAKE_GRAPH");
  bool reverse = order && std::string_view(order) == "reverse";
  std::vector<bool> done(nodes.size());
  std::vector<const GraphNode *> list;
  while (list.size() < nodes.size()) {
    size_t chosen = nodes.size();
    for (size_t i = 0; i < nodes.size() && (reverse || chosen == nodes.size()); ++i)
      if (!done[i] && std::all_of(nodes[i].after.begin(), nodes[i].after.end(), [&](size_t j) { return done[j]; }))
        chosen = i;
    list.push_back(&nodes[chosen]);
    done[chosen] = true;
  }
  return list;
}

} // namespace

extern "C" {

int cuStreamBeginCapture_v2(CUstream stream, int mode) {
  DLC_FAKE_ENTER_CONTEXT(cuStreamBeginCapture)
  std::lock_guard guard(driver.lock);
  if (!driver.streams.contains(stream) || mode != kCaptureThreadLocal)
    return kInvalidHandle;
  if (stream->capture.graph)
    return kCaptureUnmatched;
  auto graph = std::make_unique<CUgraph_st>();
  graph->context = context;
  stream->capture = {graph.get(), {}};
  stream->captureBegan = true;
  driver.graphs.emplace(graph.get(), std::move(graph));
  return kSuccess;
}

// Whatever it returns, the stream is captured no longer.
int cuStreamEndCapture(CUstream stream, CUgraph *result) {
  FakeDriver &driver = FakeDriver::get();
  int refused = driver.enter("cuStreamEndCapture");
  CUctx_st *context = nullptr;
  if (int failure = driver.context(context))
    return failure;
  std::lock_guard guard(driver.lock);
  *result = nullptr;
  if (!driver.streams.contains(stream))
    return kInvalidHandle;
  CUgraph_st *graph = stream->capture.graph;
  if (!graph || !stream->captureBegan)
    return kCaptureUnmatched;
  std::vector<size_t> last = stream->capture.after;
  int failure = refused != kSuccess ? refused : graph->invalid ? kCaptureInvalidated : int(kSuccess);
  for (auto &[handle, other] : driver.streams)
    if (other->capture.graph == graph) {
      if (failure == kSuccess && !reaches(*graph, last, other->capture.after))
        failure = kCaptureUnjoined;
      other->capture = {};
      other->captureBegan = false;
    }
  for (auto &[handle, event] : driver.events)
    if (event->capture.graph == graph)
      event->capture = {};
  if (failure != kSuccess)
    driver.graphs.erase(graph);
  else
    *result = graph;
  return failure;
}

int cuGraphInstantiateWithFlags(CUgraphExec *result, CUgraph graph, unsigned long long flags) {
  DLC_FAKE_ENTER_CONTEXT(cuGraphInstantiate)
  std::lock_guard guard(driver.lock);
  if (!driver.graphs.contains(graph) || flags != 0)
    return kInvalidValue;
  auto made = std::make_unique<CUgraphExec_st>();
  made->context = context;
  made->nodes = std::make_shared<const std::vector<GraphNode>>(graph->nodes);
  *result = made.get();
  driver.executables.emplace(*result, std::move(made));
  return kSuccess;
}

int cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  DLC_FAKE_ENTER_CONTEXT(cuGraphLaunch)
  std::shared_ptr<const std::vector<GraphNode>> nodes;
  {
    std::lock_guard guard(driver.lock);
    if (!driver.executables.contains(graph) || !driver.streams.contains(stream))
      return kInvalidHandle;
    if (stream->capture.graph)
      return kNotSupported; // graphs in graphs
    nodes = graph->nodes;
  }
  // What waits for others is a piece of the stream's work by itself.
  for (const GraphNode *node : ordered(*nodes))
    if (node->give)
      node->give(*stream);
    else if (int refused = driver.submit(*stream, [nodes, node] { return node->work(); }))
      return refused;
  return kSuccess;
}

int cuGraphDestroy(CUgraph graph) {
  DLC_FAKE_ENTER_CONTEXT(cuGraphDestroy)
  std::lock_guard guard(driver.lock);
  return driver.graphs.erase(graph) ? kSuccess : kInvalidValue;
}

int cuGraphExecDestroy(CUgraphExec graph) {
  DLC_FAKE_ENTER_CONTEXT(cuGraphExecDestroy)
  std::lock_guard guard(driver.lock);
  return driver.executables.erase(graph) ? kSuccess : kInvalidValue;
}

} // extern "C"
