#include "record/Body.h"

#include <algorithm>
#include <unordered_set>

namespace dlc::record {

void Body::prepare(const std::source_location &line) {
  if (!recording() && !currentTrace().dirty.empty() && !threadState().body)
    cut(line);
}

Body::Body(const char *function, const std::source_location &line, bool repeats)
    : function(function), line(line), outer(threadState().body), last(currentTrace().last), firstSerial(nextSerial()),
      isStep(repeats) {
  threadState().body = this;
}

Body::~Body() {
  end();
  restoreChanges();
  std::string text = std::string(function) + ": this value was computed in the body (" + brief(locate(line)) +
                     ") and not returned; it has no value outside";
  auto expire = [&](Value &value) {
    value.state = Value::State::Expired;
    value.obstacle = std::make_unique<Obstacle>(Obstacle{Obstacle::Used, text, locate(line), {}});
  };
  for (const Ref<Node> &node : nodes)
    for (size_t i = 0; i < node->results.size(); ++i)
      if (Value *result = node->results[i]) {
        expire(*result);
        forgetNode(*result);
      }
  for (const ValueRef &argument : arguments)
    expire(*argument);
}

ValueRef Body::addArgument(TypeRef type, Place *place, bool requiresGrad) {
  ValueRef value(new Value);
  value->state = Value::State::Argument;
  value->type = type;
  value->place = place;
  value->requiresGrad = requiresGrad;
  arguments.push_back(value);
  return value;
}

/// Whether what the storage holds was there before the body.
bool Body::isOlder(const Storage &storage) const {
  return storage.serial < firstSerial &&
         std::none_of(changes.begin(), changes.end(), [&](const Touched &t) { return t.storage.get() == &storage; });
}

void Body::noteTouched(Storage &storage) {
  if (outer)
    outer->noteTouched(storage);
  if (isOlder(storage))
    changes.push_back({Ref<Storage>(&storage), storage.value(), storage.version});
}

Body::Before::Before(const Storage &storage) : innermost(threadState().body), end(currentTrace().last) {
  for (Body *body = innermost; body && body->isOlder(storage); body = body->outer)
    holder = body;
  if (holder)
    threadState().body = holder->outer;
}

Body::Before::~Before() {
  if (!holder)
    return;
  threadState().body = innermost;
  const Node *place = holder->last.get();
  if (place == end)
    end = nullptr; // nothing in between: the nodes are where they belong
  Trace &trace = currentTrace();
  Ref<Node> last = holder->last;
  for (Node *node = end ? end->after : place ? place->after : trace.first, *after; node; node = after) {
    after = node->after;
    Ref<Node> moved(node);
    if (end) {
      unlink(*node);
      insertAfter(trace, last.get(), *node);
    }
    last = moved;
  }
  for (Body *body = innermost; body != holder->outer; body = body->outer)
    if (body->last.get() == place)
      body->last = last;
}

void Body::restoreChanges() {
  for (const Touched &touched : changes) {
    touched.storage->replace(touched.before);
    touched.storage->version = touched.version;
    if (touched.storage->leafData && touched.storage->leafData->requiresGrad && touched.before->requiresGrad) {
      touched.before->leaf = touched.storage.get();
      touched.before->obstacle.reset();
    }
  }
  changes.clear();
}

void Body::end() {
  if (std::exchange(ended, true))
    return;
  threadState().body = outer;
  Trace &trace = currentTrace();
  for (Node *node = last ? last->after : trace.first; node; node = node->after) {
    inside.emplace(node, nodes.size());
    nodes.emplace_back(node);
  }
  for (const Ref<Node> &node : nodes)
    unlink(*node);
}

const Value &Body::resolved(const Value &value) const {
  auto found = known.find(&value);
  return found == known.end() ? value : *found->second;
}

std::vector<Node *> Body::neededBy(std::span<const ValueRef> results) const {
  std::vector<bool> needed(nodes.size(), false);
  auto need = [&](const Value &value) {
    if (isInside(value))
      needed[inside.at(value.node.get())] = true;
  };
  for (const ValueRef &result : results)
    need(*result);
  for (size_t i = nodes.size(); i-- > 0;)
    if (needed[i])
      for (const ValueRef &operand : nodes[i]->operands)
        need(*operand);
  std::vector<Node *> list;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (needed[i])
      list.push_back(nodes[i].get());
  return list;
}

std::vector<ValueRef> Body::captured(std::span<const ValueRef> results) const {
  std::vector<ValueRef> list;
  std::unordered_set<const Value *> seen;
  for (const ValueRef &argument : arguments)
    seen.insert(argument.get());
  auto read = [&](const ValueRef &value) {
    if (!isInside(*value) && seen.insert(&resolved(*value)).second)
      list.push_back(value);
  };
  for (const Node *node : neededBy(results))
    for (const ValueRef &operand : node->operands)
      read(operand);
  for (const ValueRef &result : results)
    read(result);
  return list;
}

trace::RegionRef Body::region(std::span<const ValueRef> inputs, std::span<const ValueRef> results) const {
  trace::Region region;
  std::unordered_map<const Value *, uint32_t> numbers;
  uint32_t next = 0;
  for (const ValueRef &input : inputs) {
    region.inputs.push_back(input->type);
    numbers.emplace(input.get(), next++);
  }
  auto numberOf = [&](const ValueRef &value) { return numbers.at(&resolved(*value)); };
  for (const Node *node : neededBy(results)) {
    trace::ProgramStep step{node->op, node->attributes, {}, node->types, node->site, node->regions};
    for (const ValueRef &operand : node->operands)
      step.operands.push_back(numberOf(operand));
    for (const Value *result : node->results) {
      if (result)
        numbers.emplace(result, next);
      ++next;
    }
    region.steps.push_back(std::move(step));
  }
  for (const ValueRef &result : results)
    region.outputs.push_back(numberOf(result));
  return trace::internRegion(std::move(region));
}

void Body::refuse(const char *cause, const std::source_location &where) const {
  fail(ErrorKind::Jit,
       std::string(function) + ": " + cause + " while the body is recorded, which is once for all steps (" +
           brief(locate(line)) + "); choose with where or cond",
       where);
}

} // namespace dlc::record
