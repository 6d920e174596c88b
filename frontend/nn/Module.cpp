#include "dlc/frontend/Module.h"

#include "nn/ModuleNode.h"
#include "ops/Primitive.h"
#include "record/Extract.h"
#include "record/Recording.h"
#include "record/Transfer.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace dlc {

using nn::detail::ModuleNode;
using record::fail;
using record::Variable;

namespace {
/// Modules and variables already copied by the clone in progress on this thread.
struct CloneMap {
  std::unordered_map<ModuleNode *, std::shared_ptr<ModuleNode>> nodes;
  std::unordered_map<record::Impl *, Tensor> tensors;
};
thread_local CloneMap *cloning = nullptr;

Tensor makeState(const std::shared_ptr<ModuleNode> &node, const std::string &name, trace::TypeRef type,
                 const std::string &role, const InitialValue &init, uint64_t seed, record::Place &place, Where where) {
  auto variable = std::make_shared<Variable>();
  variable->type = type;
  variable->place = &place;
  variable->role = role;
  variable->init = init;
  variable->seed = seed;
  variable->where = where;
  variable->name = [owner = std::weak_ptr(node), name] {
    std::shared_ptr<ModuleNode> alive = owner.lock();
    return alive ? alive->path() + name : name;
  };
  variable->arrange = [owner = std::weak_ptr(node)](Variable &self) {
    if (std::shared_ptr<ModuleNode> alive = owner.lock())
      nn::detail::placeRoot(alive->root());
    if (!self.segment)
      record::placeAlone(self);
  };
  record::Ref<record::Storage> storage = record::makeVariable(variable);
  if (role == "parameter") {
    storage->leaf().requiresGrad = true;
    record::adoptState(*storage);
  }
  return record::makeTensor(storage);
}

Tensor copyState(const Tensor &tensor, const std::shared_ptr<ModuleNode> &node, const std::string &name) {
  Tensor &copy = cloning->tensors[tensor.get()];
  if (copy.defined())
    return copy;
  Variable &from = nn::detail::variableOf(tensor);
  record::HostBytes values = record::readOnHost(*tensor.get()->storage, from.where);
  copy = makeState(node, name, from.type, from.role, from.init, from.seed, *from.place, from.where);
  if (!from.pristine)
    record::hostWrite(nn::detail::variableOf(copy), values.data, from.where);
  copy.requires_grad_(tensor.requires_grad());
  return copy;
}

std::shared_ptr<ModuleNode> copyNode(const std::shared_ptr<ModuleNode> &from) {
  std::shared_ptr<ModuleNode> &copy = cloning->nodes[from.get()];
  if (copy)
    return copy;
  copy = std::make_shared<ModuleNode>();
  std::shared_ptr<ModuleNode> result = copy;
  result->training = from->training;
  for (const auto &[name, parameter] : from->parameters)
    result->parameters.emplace_back(name, Parameter(copyState(parameter, result, name)));
  for (const auto &[name, buffer, persistent] : from->buffers)
    result->buffers.push_back({name, Buffer(copyState(buffer, result, name)), persistent});
  for (const auto &[name, child] : from->children) {
    result->children.push_back({name, copyNode(child)});
    if (result->children.back().node->parent.expired()) {
      result->children.back().node->parent = result;
      result->children.back().node->nameInParent = name;
    }
  }
  return result;
}
} // namespace

StateTensor::StateTensor(const StateTensor &other) : Tensor(other) {
  if (!cloning || !impl)
    return;
  if (auto found = cloning->tensors.find(impl); found != cloning->tensors.end())
    static_cast<Tensor &>(*this) = found->second;
}

StateTensor &StateTensor::operator=(Arg value) {
  record::implOf(*this, value.where);
  record::EnableGradScope mode(record::gradEnabled() && !is_leaf());
  copy_(value);
  return *this;
}

std::string StateTensor::name() const { return nn::detail::variableOf(*this).name(); }

const Tensor *StateDict::find(const std::string &name) const {
  for (const Entry &entry : entries)
    if (entry.first == name)
      return &entry.second;
  return nullptr;
}

const Tensor &StateDict::at(const std::string &name, Where where) const {
  const Tensor *found = find(name);
  if (!found)
    fail(ErrorKind::Value, "state has no tensor named " + name, where);
  return *found;
}

namespace nn {

namespace detail {
CloneScope::CloneScope() : before(cloning) { cloning = new CloneMap; }
CloneScope::~CloneScope() {
  delete cloning;
  cloning = static_cast<CloneMap *>(before);
}

CallScope::CallScope(Where where) : before(record::threadState().scope) {
  record::threadState().scope = record::enterScope(where, before);
}
CallScope::~CallScope() { record::threadState().scope = before; }

Variable &variableOf(const Tensor &tensor) {
  record::Impl &impl = record::implOf(tensor, Where::current());
  if (!impl.storage->variable)
    fail(ErrorKind::State, "the tensor is not the state of a module", Where::current());
  return *impl.storage->variable;
}

std::string ModuleNode::path() const {
  std::shared_ptr<ModuleNode> owner = parent.lock();
  if (owner)
    return owner->path() + nameInParent + ".";
  return prefix.empty() ? "" : prefix + ".";
}

ModuleNode &ModuleNode::root() {
  std::shared_ptr<ModuleNode> owner = parent.lock();
  return owner ? owner->root() : *this;
}

void placeRoot(ModuleNode &root) {
  static std::atomic<int> roots{0};
  std::map<std::tuple<std::string, std::string, DType>, std::vector<Variable *>> kinds;
  root.walk("", [&](ModuleNode &node, const std::string &) {
    auto take = [&](const Tensor &tensor) {
      Variable &variable = variableOf(tensor);
      auto &list = kinds[{variable.place->name(), variable.role, variable.type->dtype}];
      if (!variable.segment && std::find(list.begin(), list.end(), &variable) == list.end())
        list.push_back(&variable);
    };
    for (const auto &[name, parameter] : node.parameters)
      take(parameter);
    for (const auto &[name, buffer, persistent] : node.buffers)
      take(buffer);
  });
  std::string prefix = "r" + std::to_string(roots++) + ".";
  for (auto &[kind, variables] : kinds) {
    if (variables.empty())
      continue;
    int64_t bytes = 0;
    for (Variable *variable : variables)
      bytes += record::aligned(variable->type->bytes);
    const auto &[place, role, dtype] = kind;
    auto segment = record::makeSegment(prefix + role + "." + std::string(name(dtype)), bytes, *variables.front()->place,
                                       variables.front()->where);
    int64_t offset = 0;
    for (Variable *variable : variables) {
      record::placeAt(*variable, segment, offset);
      offset += record::aligned(variable->type->bytes);
    }
  }
}
} // namespace detail

Module::Module() : node(std::make_shared<ModuleNode>()) {}
Module::Module(const Module &other) : node(cloning ? copyNode(other.node) : other.node) {}
// The source keeps its node, so that a moved-from module is still a module.
// NOLINTNEXTLINE(performance-move-constructor-init)
Module::Module(Module &&other) noexcept : node(other.node) {}
Module::~Module() = default;

Tensor Module::forward(Tensor) {
  fail(ErrorKind::State, "forward() of this module is not defined; override it, or define operator()",
       Where::current());
}

Tensor Module::operator()(Arg x) {
  if (!x.tensor)
    fail(ErrorKind::Type, "a module takes a tensor, not a number", x.where);
  detail::CallScope scope(x.where);
  return forward(*x.tensor);
}

std::vector<Parameter> Module::parameters() const {
  std::vector<Parameter> list;
  for (auto &[name, parameter] : named_parameters())
    list.push_back(parameter);
  return list;
}

std::vector<std::pair<std::string, Parameter>> Module::named_parameters() const {
  std::vector<std::pair<std::string, Parameter>> list;
  std::unordered_set<const void *> seen;
  node->walk("", [&](ModuleNode &part, const std::string &path) {
    for (const auto &[name, parameter] : part.parameters)
      if (seen.insert(parameter.get()->storage.get()).second)
        list.emplace_back(path + name, parameter);
  });
  return list;
}

std::vector<std::pair<std::string, Buffer>> Module::named_buffers() const {
  std::vector<std::pair<std::string, Buffer>> list;
  node->walk("", [&](ModuleNode &part, const std::string &path) {
    for (const auto &[name, buffer, persistent] : part.buffers)
      list.emplace_back(path + name, buffer);
  });
  return list;
}

StateDict Module::state_dict() const {
  StateDict state;
  node->walk("", [&](ModuleNode &part, const std::string &path) {
    for (const auto &[name, parameter] : part.parameters)
      state.add(path + name, parameter);
    for (const auto &[name, buffer, persistent] : part.buffers)
      if (persistent)
        state.add(path + name, buffer);
  });
  return state;
}

void Module::load_state_dict(const StateDict &state, LoadOptions options, Where where) {
  record::loadState(state_dict(), state, options.strict, where);
}

Module &Module::train(bool on) {
  node->walk("", [&](ModuleNode &part, const std::string &) {
    if (part.training == on)
      return;
    if (record::Recording *recording = record::recording())
      recording->undo.emplace_back([part = part.shared_from_this(), on] { part->training = !on; });
    record::noteStructureChange();
    part.training = on;
  });
  return *this;
}

bool Module::is_training() const {
  if (record::Recording *recording = record::recording())
    recording->guards.push_back([part = node, on = node->training] { return part->training == on; });
  return node->training;
}

void Module::zero_grad(bool set_to_none) const {
  for (const Parameter &parameter : parameters())
    parameter.zero_grad(set_to_none);
}

Module &Module::requires_grad_(bool on) {
  for (Parameter &parameter : parameters())
    static_cast<Tensor &>(parameter).requires_grad_(on);
  return *this;
}

Module &Module::to(Device device, Where where) {
  if (record::recording())
    fail(ErrorKind::Jit, "to: a module cannot be moved inside a jitted function; move it before the call", where);
  std::vector<record::Ref<record::Storage>> storages;
  auto take = [&](const Tensor &tensor) {
    const record::Ref<record::Storage> &storage = tensor.get()->storage;
    if (std::find(storages.begin(), storages.end(), storage) == storages.end())
      storages.push_back(storage);
  };
  node->walk("", [&](ModuleNode &part, const std::string &) {
    for (const auto &[name, parameter] : part.parameters)
      take(parameter);
    for (const auto &[name, buffer, persistent] : part.buffers)
      take(buffer);
  });
  record::moveState(storages, device.place(), where);
  return *this;
}

void Module::set_name(std::string name) { node->prefix = std::move(name); }

namespace {
void checkName(const ModuleNode &node, const std::string &name, Where where) {
  bool taken = name.empty() || name.find('.') != std::string::npos;
  for (const auto &entry : node.parameters)
    taken |= entry.first == name;
  for (const auto &entry : node.buffers)
    taken |= entry.name == name;
  for (const auto &entry : node.children)
    taken |= entry.name == name;
  if (taken)
    fail(ErrorKind::State, "'" + name + "' cannot name a part of the module: empty, with a dot, or taken", where);
}

InitialValue initialValue(const Init &init, uint64_t &seed) {
  InitialValue value;
  value.kind = static_cast<InitialValue::Kind>(init.kind);
  value.a = init.a, value.b = init.b;
  if (init.kind == Init::Kind::Uniform || init.kind == Init::Kind::Normal)
    value.offset = record::nextRandomOffset(seed);
  return value;
}
} // namespace

Parameter Module::parameter(const std::string &name, Shape shape, Init init, DType dtype, Where where) {
  checkName(*node, name, where);
  uint64_t seed = 0;
  InitialValue value = initialValue(init, seed);
  Parameter made(makeState(node, name, trace::internType(dtype, shape.vec()), "parameter", value, seed,
                           record::makersPlace(), where));
  node->parameters.emplace_back(name, made);
  return made;
}

Parameter Module::parameter(const std::string &name, const Tensor &values, Where where) {
  DeviceScope scope(values.device());
  Parameter made = parameter(name, values.shape(), {}, values.dtype(), where);
  record::hostWrite(detail::variableOf(made), record::readOnHost(values, where).data, where);
  return made;
}

Buffer Module::buffer(const std::string &name, Shape shape, Init init, DType dtype, BufferOptions options,
                      Where where) {
  checkName(*node, name, where);
  uint64_t seed = 0;
  InitialValue value = initialValue(init, seed);
  Buffer made(makeState(node, name, trace::internType(dtype, shape.vec()), "buffer", value, seed, record::makersPlace(),
                        where));
  node->buffers.push_back({name, made, options.persistent});
  return made;
}

void Module::link(const std::string &name, const Module &child, Where where) {
  checkName(*node, name, where);
  node->children.push_back({name, child.node});
  if (child.node->parent.expired()) {
    child.node->parent = node;
    child.node->nameInParent = name;
  }
}

} // namespace nn
} // namespace dlc
