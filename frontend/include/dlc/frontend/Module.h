#pragma once

#include "dlc/frontend/Tensor.h"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dlc {

/// How a variable's first values are made; nothing is computed before they are needed.
struct Init {
  enum class Kind : uint8_t { Zeros, Constant, Uniform, Normal };
  Kind kind = Kind::Zeros;
  double a = 0, b = 0;
};
namespace init {
inline Init zeros() { return {}; }
inline Init ones() { return {Init::Kind::Constant, 1, 0}; }
inline Init constant(double value) { return {Init::Kind::Constant, value, 0}; }
/// In [low, high).
inline Init uniform(double low, double high) { return {Init::Kind::Uniform, low, high}; }
inline Init normal(double mean, double deviation) { return {Init::Kind::Normal, mean, deviation}; }
} // namespace init

/// State of a module: assignment writes the variable. Copies of the handle name the same variable.
class StateTensor : public Tensor {
public:
  StateTensor() = default;
  explicit StateTensor(Tensor tensor) : Tensor(std::move(tensor)) {}
  StateTensor(const StateTensor &other);
  StateTensor(StateTensor &&other) noexcept = default;
  /// Writes the value; shapes must fit.
  StateTensor &operator=(Arg value); // NOLINT(bugprone-derived-method-shadowing-base-method): by design
  StateTensor &operator=(const StateTensor &value) { return *this = Arg(value); }
  /// From now on this handle names the other's variable.
  void tie(const StateTensor &other) { static_cast<Tensor &>(*this) = static_cast<const Tensor &>(other); }
  /// The name in messages and files: the path from the outermost module.
  std::string name() const;
};

/// A trained tensor.
class Parameter : public StateTensor {
public:
  using StateTensor::StateTensor;
  using StateTensor::operator=;
  Parameter() = default;
  Parameter(const Parameter &) = default;
  Parameter(Parameter &&) noexcept = default;
  Parameter &operator=(const Parameter &value) {
    StateTensor::operator=(value);
    return *this;
  }
};

/// State that is not trained, such as running statistics.
class Buffer : public StateTensor {
public:
  using StateTensor::StateTensor;
  using StateTensor::operator=;
  Buffer() = default;
  Buffer(const Buffer &) = default;
  Buffer(Buffer &&) noexcept = default;
  Buffer &operator=(const Buffer &value) {
    StateTensor::operator=(value);
    return *this;
  }
};

/// Tensors by name, in order.
class StateDict {
public:
  using Entry = std::pair<std::string, Tensor>;
  /// An Error when the name is not there.
  const Tensor &at(const std::string &name, Where where = Where::current()) const;
  bool contains(const std::string &name) const { return find(name) != nullptr; }
  const Tensor *find(const std::string &name) const;
  void add(std::string name, Tensor tensor) { entries.emplace_back(std::move(name), std::move(tensor)); }
  /// Adds the other's entries.
  void merge(const StateDict &other) { entries.insert(entries.end(), other.entries.begin(), other.entries.end()); }
  size_t size() const { return entries.size(); }
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }

private:
  std::vector<Entry> entries;
};

struct LoadOptions {
  /// Every name must be in both.
  bool strict = true;
};

namespace nn {

namespace detail {
struct ModuleNode;
/// While it lives, copies of modules made by this thread are new modules.
class CloneScope {
public:
  CloneScope();
  ~CloneScope();
  CloneScope(const CloneScope &) = delete;
  CloneScope &operator=(const CloneScope &) = delete;

private:
  void *before;
};
} // namespace detail

/// A handle to named state and children; copies share them, as in Python.
class Module {
public:
  Module();
  Module(const Module &other);
  Module(Module &&other) noexcept;
  /// A module's members write their variables when assigned, so modules cannot be.
  Module &operator=(const Module &other) = delete;
  virtual ~Module();

  /// What operator() calls.
  virtual Tensor forward(Tensor x);
  /// forward(), with the caller's line in messages.
  Tensor operator()(Arg x);

  std::vector<Parameter> parameters() const;
  std::vector<std::pair<std::string, Parameter>> named_parameters() const;
  std::vector<std::pair<std::string, Buffer>> named_buffers() const;
  /// Parameters and persistent buffers by path, in PyTorch's order; the tensors are the module's own.
  StateDict state_dict() const;
  /// Copies the values in. All faults are listed together, before anything is written.
  void load_state_dict(const StateDict &state, LoadOptions options = {}, Where where = Where::current());

  Module &train(bool on = true);
  Module &eval() { return train(false); }
  bool is_training() const;
  void zero_grad(bool set_to_none = true) const;
  /// Freezes (false) or trains (true) all parameters.
  Module &requires_grad_(bool on = true);
  /// Moves parameters, their gradients and buffers to the device. Handles stay valid, so an optimizer may be made
  /// before or after; its state follows at its next step. Jitted functions compile anew. Not inside a jitted function.
  Module &to(Device device, Where where = Where::current());
  /// A prefix of all names, for programs with several models.
  void set_name(std::string name);

protected:
  Parameter parameter(const std::string &name, Shape shape, Init init, DType dtype = f32,
                      Where where = Where::current());
  /// A parameter with given first values.
  Parameter parameter(const std::string &name, const Tensor &values, Where where = Where::current());
  struct BufferOptions {
    bool persistent = true;
  };
  Buffer buffer(const std::string &name, Shape shape, Init init, DType dtype, BufferOptions options,
                Where where = Where::current());
  Buffer buffer(const std::string &name, Shape shape, Init init = {}, DType dtype = f32,
                Where where = Where::current()) {
    return buffer(name, std::move(shape), init, dtype, BufferOptions(), where);
  }
  /// Makes the child part of this module under the name, and returns it.
  template <typename M>
  M add(const std::string &name, M child, Where where = Where::current()) {
    static_assert(std::is_base_of_v<Module, M>, "add() takes a module");
    link(name, child, where);
    return child;
  }

private:
  void link(const std::string &name, const Module &child, Where where);
  std::shared_ptr<detail::ModuleNode> node;
};

/// A deep copy: own variables with the values of now, ties kept.
template <typename M>
M clone(const M &module) {
  detail::CloneScope scope;
  return M(module);
}

} // namespace nn
} // namespace dlc
