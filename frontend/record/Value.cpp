#include "record/Value.h"

#include "record/Storage.h"
#include "record/Trace.h"

namespace dlc::record {

namespace {
std::atomic<int64_t> nodesAlive{0};
} // namespace

int64_t liveNodes() { return nodesAlive; }

Buffer::~Buffer() {
  if (release)
    release();
}

std::shared_ptr<Buffer> Buffer::allocate(int64_t bytes, Place &place) {
  void *data = place.allocate(bytes, std::source_location::current());
  return std::make_shared<Buffer>(data, bytes, [data, bytes, &place] { place.release(data, bytes); }, place);
}

void forgetNode(Value &value) {
  if (!value.node)
    return;
  value.node->results[value.result] = nullptr;
  value.severed = false;
  // A long chain of nodes dies one by one: by recursion it would overflow the stack.
  static thread_local std::vector<Ref<Node>> dying;
  static thread_local bool draining = false;
  dying.push_back(std::move(value.node));
  value.node = {};
  if (draining)
    return;
  draining = true;
  while (!dying.empty()) {
    Ref<Node> next = std::move(dying.back());
    dying.pop_back();
  }
  draining = false;
}

void destroy(Value *value) {
  if (value->kept)
    unlistKept(*value);
  forgetNode(*value);
  delete value;
}

void noteNode(int change) { nodesAlive += change; }

void destroy(Node *node) {
  if (node->trace)
    unlink(*node);
  for (const ValueRef &operand : node->operands)
    --operand->uses;
  noteNode(-1);
  delete node;
}

ValueRef concrete(TypeRef type, std::shared_ptr<Buffer> buffer) {
  ValueRef value(new Value);
  value->state = Value::State::Concrete;
  value->type = type;
  value->place = buffer->place;
  value->buffer = std::move(buffer);
  return value;
}

} // namespace dlc::record
