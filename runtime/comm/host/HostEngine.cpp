#include "comm/host/HostEngine.h"

namespace dlc::runtime {

Status KindsEngine::dispatch(const Operation &operation) {
  switch (operation.kind) {
  case Operation::Kind::AllReduce:
    return allReduce(operation);
  case Operation::Kind::ReduceScatter:
    return reduceScatter(operation);
  case Operation::Kind::AllGather:
    return allGather(operation);
  case Operation::Kind::Broadcast:
    return broadcast(operation);
  case Operation::Kind::AllToAll:
    return allToAll(operation);
  case Operation::Kind::Send:
    return send(operation);
  case Operation::Kind::Receive:
    return receive(operation);
  case Operation::Kind::Barrier:
    return barrier(operation);
  }
  return {StatusCode::Internal, "expects a kind of operation, got " + std::to_string(int(operation.kind))};
}

} // namespace dlc::runtime
