#include "record/Value.h"

#include "record/Job.h"
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

std::shared_ptr<Buffer> Buffer::allocate(int64_t bytes, Place &place, const std::source_location &where) {
  void *data = place.allocate(bytes, where);
  return std::make_shared<Buffer>(data, bytes, [data, bytes, &place] { place.release(data, bytes); }, place);
}

void forgetNode(Value &value) {
  if (!value.node)
    return;
  value.node->results[value.result] = nullptr;
  value.severed = false;
  Node *node = value.node.leak();
  if (node->count.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  // A long chain of nodes dies one by one: by recursion it would overflow the stack. Plain pointers, since what is
  // pending at the end of a thread dies after the thread's other objects.
  static thread_local Node *dying = nullptr;
  static thread_local bool draining = false;
  node->nextDying = dying;
  dying = node;
  if (draining)
    return;
  draining = true;
  while (Node *next = dying) {
    dying = next->nextDying;
    destroy(next);
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

int64_t bytesHere(TypeRef type, LayoutRef layout) {
  return layout ? trace::memberBytes(type, layout) * localMembers() : type->bytes;
}

ValueRef concrete(TypeRef type, std::shared_ptr<Buffer> buffer, LayoutRef layout) {
  ValueRef value(new Value);
  value->state = Value::State::Concrete;
  value->type = type;
  value->layout = layout;
  value->place = buffer->place;
  value->buffer = std::move(buffer);
  return value;
}

} // namespace dlc::record
