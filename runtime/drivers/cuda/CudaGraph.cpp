#include "drivers/cuda/CudaStream.h"

namespace dlc::runtime {

// A failure of the device can come from anywhere.
static Status withoutGraphs(const CudaDevice &device, const Status &status) {
  if (!device.check().ok())
    return status;
  return {status.code(), status.message() + "; DLC_CUDA_GRAPHS=0 does without graphs"};
}

CudaGraph::~CudaGraph() {
  device.enterToEnd();
  device.ended(device.api().cuGraphExecDestroy(handle), "cuGraphExecDestroy");
}

// Capturing ends in any case: else the stream would be of no use.
StatusOr<CUgraph> CudaStream::note(const std::function<Status()> &give) {
  const CudaApi &api = device.api();
  auto held = device.holdCapture();
  if (Status status = device.done(api.cuStreamBeginCapture(handle, kCaptureThreadLocal), "cuStreamBeginCapture");
      !status.ok())
    return status;
  Status given = give();
  CUgraph graph = nullptr;
  Status ended = device.done(api.cuStreamEndCapture(handle, &graph), "cuStreamEndCapture");
  if (given.ok() && ended.ok())
    return graph;
  if (graph)
    device.ended(api.cuGraphDestroy(graph), "cuGraphDestroy");
  return given.ok() ? ended : given;
}

StatusOr<std::unique_ptr<Graph>> CudaStream::capture(const std::function<Status()> &give) {
  auto held = hold();
  if (Status status = device.enter(); !status.ok())
    return status;
  if (!device.usesGraphs())
    return std::unique_ptr<Graph>();
  device.launches().beginNote(handle);
  StatusOr<CUgraph> graph = note(give);
  LaunchLog::Span noted = device.launches().endNote(handle);
  if (!graph.ok())
    return withoutGraphs(device, graph.status());
  CUgraphExec ready = nullptr;
  Status status = device.done(device.api().cuGraphInstantiate(&ready, *graph, 0), "cuGraphInstantiate");
  device.ended(device.api().cuGraphDestroy(*graph), "cuGraphDestroy");
  if (!status.ok())
    return withoutGraphs(device, status);
  return std::unique_ptr<Graph>(new CudaGraph(device, ready, std::move(noted)));
}

Status CudaStream::launch(Graph &graph) {
  auto held = hold();
  if (Status status = device.enter(); !status.ok())
    return status;
  auto *known = dynamic_cast<CudaGraph *>(&graph);
  if (!known || &known->device != &device)
    return {StatusCode::InvalidInput, device.id().str() + ": expected a graph of this device, got another's"};
  int result = device.api().cuGraphLaunch(known->handle, handle);
  if (result != kSuccess && !endsDevice(result)) {
    std::string work = known->launches.str();
    return withoutGraphs(device, device.api()
                                     .status(result, "cuGraphLaunch")
                                     .withContext(device.id().str() + (work.empty() ? "" : ": graph of " + work)));
  }
  device.launches().add(handle, known->launches);
  return device.done(result, "cuGraphLaunch");
}

} // namespace dlc::runtime
