#include "comm/host/Operation.h"

namespace dlc::runtime {

namespace {

std::string_view name(Operation::Kind kind) {
  constexpr std::string_view kNames[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast",
                                         "all_to_all", "send",           "receive",    "barrier"};
  return size_t(kind) < std::size(kNames) ? kNames[size_t(kind)] : "unknown operation";
}

std::string_view name(Reduce reduce) {
  constexpr std::string_view kNames[] = {"sum", "max", "min"};
  return size_t(reduce) < std::size(kNames) ? kNames[size_t(reduce)] : "unknown reduction";
}

std::string describe(const Signature &what) {
  std::string text = describe(what.kind, what.id);
  if (what.kind == Operation::Kind::Barrier)
    return text;
  if (what.kind != Operation::Kind::AllToAll)
    text += ", " + std::to_string(what.count) + " x";
  text += " ";
  text += isKnown(what.type) ? dlc::name(what.type) : "unknown type";
  if (what.kind == Operation::Kind::AllReduce || what.kind == Operation::Kind::ReduceScatter)
    text.append(" ").append(name(what.reduce));
  if (what.kind == Operation::Kind::Broadcast)
    text += " from member " + std::to_string(what.peer);
  return text;
}

} // namespace

std::string describe(Operation::Kind kind, const CollectiveId &id) {
  return std::string(name(kind)) + " #" + std::to_string(id.index) + " of executable " + std::to_string(id.executable) +
         ", step " + std::to_string(id.step);
}

Signature signatureOf(const Operation &operation) {
  Signature signature;
  signature.id = operation.op.id;
  signature.kind = operation.kind;
  signature.type = operation.type;
  if (operation.kind != Operation::Kind::AllToAll)
    signature.count = operation.count;
  if (operation.kind == Operation::Kind::Broadcast)
    signature.peer = operation.peer;
  if (operation.kind == Operation::Kind::AllReduce || operation.kind == Operation::Kind::ReduceScatter)
    signature.reduce = operation.reduce;
  return signature;
}

Status differ(const Signature &one, const std::string &oneName, const Signature &other, const std::string &otherName) {
  return {StatusCode::PeerFailed, "expects the same collective on all members, got " + describe(one) + " on " +
                                      oneName + " and " + describe(other) + " on " + otherName};
}

Status differCounts(const Operation &operation, int64_t sent, const std::string &from, int64_t taken,
                    const std::string &to) {
  return {StatusCode::PeerFailed, describe(operation.kind, operation.op.id) + ": " + from + " sends " +
                                      std::to_string(sent) + " elements to " + to + ", which expects " +
                                      std::to_string(taken)};
}

Status checkTransfer(const Signature &send, const std::string &from, const Signature &receive, const std::string &to) {
  if (send.id == receive.id && send.count == receive.count && send.type == receive.type)
    return {};
  return differ(send, from, receive, to);
}

} // namespace dlc::runtime
