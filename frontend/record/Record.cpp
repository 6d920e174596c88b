#include "dlc/frontend/Testing.h"
#include "record/AutocastMode.h"
#include "record/Recording.h"
#include "record/Trace.h"
#include "trace/Infer.h"
#include "trace/Run.h"

#include <mutex>
#include <unordered_set>

namespace dlc::record {

ThreadState &threadState() {
  static thread_local ThreadState state;
  return state;
}

Trace &currentTrace() {
  ThreadState &state = threadState();
  return state.recording ? state.recording->trace : state.outside;
}

void unlink(Node &node) {
  Trace &trace = *node.trace;
  (node.before ? node.before->after : trace.first) = node.after;
  (node.after ? node.after->before : trace.last) = node.before;
  node.before = node.after = nullptr;
  node.trace = nullptr;
  --trace.nodes;
}

void insertAfter(Trace &trace, Node *before, Node &node) {
  node.trace = &trace;
  node.before = before;
  node.after = before ? before->after : trace.first;
  (before ? before->after : trace.first) = &node;
  (node.after ? node.after->before : trace.last) = &node;
  ++trace.nodes;
}

namespace {
void append(Trace &trace, Node &node) { insertAfter(trace, trace.last, node); }

std::mutex keptLock;
std::unordered_set<Value *> keptValues;

bool isFloat(TypeRef type) { return dlc::isFloat(type->dtype); }

/// The operand must have a value that this trace can read.
void checkReadable(const Value &value, const Trace &trace, const std::source_location &line) {
  if (value.state == Value::State::Pending && value.node->trace != &trace)
    fail(ErrorKind::State, "a value recorded by another thread has not run; call dlc::sync() there first", line);
  if (value.state == Value::State::Expired || value.state == Value::State::Dropped) {
    if (value.obstacle)
      fail(ErrorKind::Jit, value.obstacle->name, line);
    fail(ErrorKind::Internal, "a value is used that no longer exists", line);
  }
}
} // namespace

void listKept(Value &value) {
  std::lock_guard lock(keptLock);
  value.kept = keptValues.insert(&value).second || value.kept;
}

void unlistKept(Value &value) {
  std::lock_guard lock(keptLock);
  keptValues.erase(&value);
  value.kept = false;
}

std::vector<Value *> keptList() {
  std::lock_guard lock(keptLock);
  return {keptValues.begin(), keptValues.end()};
}

/// Where the operation runs, with room for it in the trace.
static Place *prepare(OpRef op, std::span<const ValueRef> operands, const std::source_location &line) {
  Place *place = placeOf(op, operands, line);
  Trace &trace = currentTrace();
  if (!trace.recording && !threadState().whole && trace.nodes >= 10000) // rule (c)
    cut(line);
  for (const ValueRef &operand : operands)
    checkReadable(*operand, trace, line);
  return place;
}

static std::vector<ValueRef> addNode(OpRef op, AttributesRef attributes, std::vector<trace::RegionRef> regions,
                                     std::span<const ValueRef> operands, std::vector<TypeRef> types, Place *place,
                                     const std::source_location &line) {
  static const OpRef stop = trace::internOp("dl.stop_gradient");
  static const AttributesRef none = trace::Attributes().intern();
  Trace &trace = currentTrace();
  bool needsGradient = false, severed = false, floating = place && place->isHost();
  for (const ValueRef &operand : operands) {
    floating = floating && isAnywhere(*operand);
    needsGradient |= operand->requiresGrad;
    severed |= operand->requiresGrad || operand->severed;
  }
  needsGradient &= gradEnabled() && op != stop;

  Ref<Node> counted(new Node);
  Node *node = counted.get();
  noteNode(1);
  node->op = op;
  // Regions' operations have marks of their own.
  node->attributes = regions.empty() ? marked(attributes) : attributes;
  node->types = std::move(types);
  node->regions = std::move(regions);
  node->site = locate(line);
  for (const ValueRef &operand : operands) {
    // No derivative may pass through what was computed without gradients.
    bool fence = needsGradient && operand->severed && !operand->requiresGrad && isFloat(operand->type);
    node->operands.push_back(fence ? record(stop, none, {&operand, 1}, line) : operand);
    ++node->operands.back()->uses;
  }
  append(trace, *node);

  std::vector<ValueRef> results;
  for (TypeRef type : node->types) {
    Value *value = new Value;
    value->type = type;
    value->place = place;
    value->floating = floating && type->shape.empty();
    value->node = counted;
    value->result = static_cast<uint16_t>(results.size());
    value->requiresGrad = needsGradient && isFloat(type);
    value->severed = severed && !value->requiresGrad && isFloat(type) && op != stop;
    node->results.push_back(value);
    results.emplace_back(value);
  }
  static const bool eager = std::getenv("DLC_EAGER") != nullptr;
  if (eager && !trace.recording && !threadState().whole)
    cut(line);
  return results;
}

std::vector<ValueRef> recordAll(OpRef op, AttributesRef attributes, std::span<const ValueRef> operands,
                                const std::source_location &line, TypeRef result) {
  Place *place = prepare(op, operands, line);
  std::vector<TypeRef> types;
  for (const ValueRef &operand : operands)
    types.push_back(operand->type);
  auto inferred = trace::infer(op, attributes, types, result);
  if (!inferred.ok())
    fail(inferred.status().code() == StatusCode::InvalidInput ? ErrorKind::Type : ErrorKind::Internal,
         inferred.status().message(), line);
  return addNode(op, attributes, {}, operands, inferred.take(), place, line);
}

std::vector<ValueRef> recordRegions(OpRef op, AttributesRef attributes, std::vector<trace::RegionRef> regions,
                                    std::span<const ValueRef> operands, std::vector<TypeRef> types,
                                    const std::source_location &line) {
  Place *place = prepare(op, operands, line);
  return addNode(op, attributes, std::move(regions), operands, std::move(types), place, line);
}

ValueRef record(OpRef op, AttributesRef attributes, std::span<const ValueRef> operands,
                const std::source_location &line, TypeRef result) {
  return std::move(recordAll(op, attributes, operands, line, result).front());
}

ValueRef recordNumber(double number, DType dtype, const std::source_location &line) {
  static const OpRef constant = trace::internOp("dl.constant");
  bool isReal = dlc::isFloat(dtype);
  std::string text = isReal ? trace::exactText(number, dtype) : std::to_string(static_cast<int64_t>(number));
  if (dtype == DType::I1)
    text = number != 0 ? "true" : "false";
  std::string value = "dense<" + text + "> : tensor<" + std::string(name(dtype)) + ">";
  ValueRef result =
      record(constant, trace::Attributes().raw("value", value).intern(), {}, line, trace::internType(dtype, {}));
  if (result->node)
    result->node->number = number;
  return result;
}

} // namespace dlc::record

namespace dlc::testing {
int64_t compile_count() { return trace::compileCount(); }
int64_t live_nodes() { return record::liveNodes(); }
} // namespace dlc::testing
