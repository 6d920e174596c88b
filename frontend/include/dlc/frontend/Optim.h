#pragma once

#include "dlc/frontend/Module.h"

#include <memory>

namespace dlc {
class GradScaler;
}

namespace dlc::optim {

namespace detail {
struct OptimizerState;
struct Rule;
} // namespace detail

/// Updates parameters by their gradients; a parameter without one is left alone. Everything is recorded, so it works
/// inside and outside jit. Copies of the handle share the state.
class Optimizer {
public:
  void step(Where where = Where::current());
  /// Drops the gradients, or makes them zeros: a parameter that had one is then updated (decay, momentum) though
  /// nothing reaches it.
  void zero_grad(bool set_to_none = true);
  /// Takes effect at the next step, without compiling again. Without a group: in all of them.
  void set_lr(double lr, std::optional<size_t> group = {});
  double lr(size_t group = 0) const;
  /// State tensors as `<state>.<parameter>`, the step count and the hyper-parameters, each with the prefix `opt.`.
  StateDict state_dict() const;
  void load_state_dict(const StateDict &state, LoadOptions options = {}, Where where = Where::current());
  size_t groups() const;

protected:
  friend class dlc::GradScaler;
  /// step() that changes nothing, neither parameters nor state nor counts, where `skip`, a bool, holds.
  void stepUnless(const Tensor &skip, Where where);
  Optimizer(const detail::Rule &rule, std::string name, Where where);
  /// Values in the order of the rule's hyper-parameters, the learning rate first.
  void addGroup(std::vector<Parameter> parameters, const std::vector<double> &hyper, Where where);
  std::shared_ptr<detail::OptimizerState> state;
};

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;
  /// Prefix of the state's names.
  std::string name = "opt";
};

/// d = g + weight_decay·p; with momentum b = momentum·b + d and d = b, or d + momentum·b (nesterov); p -= lr·d.
class SGD : public Optimizer {
public:
  SGD(std::vector<Parameter> parameters, SGDOptions options, Where where = Where::current());
  void add_param_group(std::vector<Parameter> parameters, SGDOptions options, Where where = Where::current());

private:
  bool withMomentum, nesterov;
};

struct AdamOptions {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  std::string name = "opt";
};

/// D. Kingma, J. Ba, 2015; decay is added to the gradient (L2). PyTorch's Adam without amsgrad.
class Adam : public Optimizer {
public:
  Adam(std::vector<Parameter> parameters, AdamOptions options = {}, Where where = Where::current());
  void add_param_group(std::vector<Parameter> parameters, AdamOptions options, Where where = Where::current());
};

struct AdamWOptions {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 1e-2;
  std::string name = "opt";
};

/// I. Loshchilov, F. Hutter, 2019: decay is decoupled from the gradient.
class AdamW : public Optimizer {
public:
  AdamW(std::vector<Parameter> parameters, AdamWOptions options = {}, Where where = Where::current());
  void add_param_group(std::vector<Parameter> parameters, AdamWOptions options, Where where = Where::current());
};

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  /// Divides by the deviation instead of the root of the mean square.
  bool centered = false;
  std::string name = "opt";
};

/// T. Tieleman, G. Hinton, 2012: s = alpha·s + (1 - alpha)·d², p -= lr·d / (√s + eps); PyTorch's RMSprop.
class RMSprop : public Optimizer {
public:
  RMSprop(std::vector<Parameter> parameters, RMSpropOptions options = {}, Where where = Where::current());
  void add_param_group(std::vector<Parameter> parameters, RMSpropOptions options, Where where = Where::current());

private:
  bool withMomentum, centered;
};

} // namespace dlc::optim
