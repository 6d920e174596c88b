#include "ops/Primitive.h"
#include "optim/Rule.h"

namespace dlc::optim {

namespace {
template <bool Centered, bool Momentum>
std::vector<record::ValueRef> update(const record::ValueRef &parameter, const record::ValueRef &gradient,
                                     std::span<const record::ValueRef> states, std::span<const record::ValueRef> hyper,
                                     const record::ValueRef &, const std::source_location &where) {
  // states: square, then average, then buffer; hyper: lr, alpha, eps, weight_decay, then momentum
  std::vector<record::ValueRef> operands{parameter, gradient, states[0]};
  operands.insert(operands.end(), hyper.begin(), hyper.begin() + 4);
  operands.insert(operands.end(), states.begin() + 1, states.end());
  operands.insert(operands.end(), hyper.begin() + 4, hyper.end());
  std::string segments = "array<i32: 1, 1, 1, 1, 1, 1, 1";
  segments += Centered ? ", 1" : ", 0";
  segments += Momentum ? ", 1, 1>" : ", 0, 0>";
  return record::recordAll(trace::internOp("dl.rmsprop"),
                           trace::Attributes().raw("operandSegmentSizes", segments).intern(), operands, where);
}

detail::Rule rule(const RMSpropOptions &options) {
  bool momentum = options.momentum != 0;
  detail::Rule rule;
  rule.hyper = {"lr", "alpha", "eps", "weight_decay"};
  rule.states = {"square_avg"};
  if (options.centered)
    rule.states.push_back("grad_avg");
  if (momentum) {
    rule.states.push_back("momentum_buffer");
    rule.hyper.push_back("momentum");
  }
  if (options.centered)
    rule.record = momentum ? update<true, true> : update<true, false>;
  else
    rule.record = momentum ? update<false, true> : update<false, false>;
  return rule;
}

void check(const RMSpropOptions &options, Where where) {
  if (options.lr < 0 || options.eps < 0 || options.weight_decay < 0 || options.momentum < 0 || options.alpha < 0)
    record::fail(ErrorKind::Value, "RMSprop: lr, alpha, eps, weight_decay and momentum must not be negative", where);
}
} // namespace

RMSprop::RMSprop(std::vector<Parameter> parameters, RMSpropOptions options, Where where)
    : Optimizer(rule(options), options.name, where), withMomentum(options.momentum != 0), centered(options.centered) {
  add_param_group(std::move(parameters), options, where);
}

void RMSprop::add_param_group(std::vector<Parameter> parameters, RMSpropOptions options, Where where) {
  check(options, where);
  if ((options.momentum != 0) != withMomentum || options.centered != centered)
    record::fail(ErrorKind::Value, "RMSprop: all groups are with or all without momentum, and centered", where);
  std::vector<double> hyper{options.lr, options.alpha, options.eps, options.weight_decay};
  if (withMomentum)
    hyper.push_back(options.momentum);
  addGroup(std::move(parameters), hyper, where);
}

} // namespace dlc::optim
