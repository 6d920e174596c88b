#include "ops/Primitive.h"
#include "optim/Rule.h"

namespace dlc::optim {

namespace {
template <bool Momentum, bool Nesterov>
std::vector<record::ValueRef> update(const record::ValueRef &parameter, const record::ValueRef &gradient,
                                     std::span<const record::ValueRef> states, std::span<const record::ValueRef> hyper,
                                     const record::ValueRef &, const std::source_location &where) {
  // hyper: lr, weight_decay, momentum
  std::vector<record::ValueRef> operands{parameter, gradient, hyper[0], hyper[1]};
  if (Momentum)
    operands.insert(operands.end(), {states[0], hyper[2]});
  trace::Attributes attributes;
  attributes.raw("operandSegmentSizes", Momentum ? "array<i32: 1, 1, 1, 1, 1, 1>" : "array<i32: 1, 1, 1, 1, 0, 0>")
      .flag("nesterov", Nesterov);
  return record::recordAll(trace::internOp("dl.sgd"), attributes.intern(), operands, where);
}

detail::Rule rule(const SGDOptions &options) {
  bool momentum = options.momentum != 0;
  detail::Rule rule;
  rule.hyper = {"lr", "weight_decay"};
  rule.record = update<false, false>;
  if (momentum) {
    rule.hyper.push_back("momentum");
    rule.states = {"momentum_buffer"};
    rule.record = options.nesterov ? update<true, true> : update<true, false>;
  }
  return rule;
}

void check(const SGDOptions &options, Where where) {
  if (options.lr < 0 || options.momentum < 0 || options.weight_decay < 0)
    record::fail(ErrorKind::Value, "SGD: lr, momentum and weight_decay must not be negative", where);
  if (options.nesterov && options.momentum == 0)
    record::fail(ErrorKind::Value, "SGD: nesterov needs a momentum", where);
}
} // namespace

SGD::SGD(std::vector<Parameter> parameters, SGDOptions options, Where where)
    : Optimizer(rule(options), options.name, where), withMomentum(options.momentum != 0), nesterov(options.nesterov) {
  add_param_group(std::move(parameters), options, where);
}

void SGD::add_param_group(std::vector<Parameter> parameters, SGDOptions options, Where where) {
  check(options, where);
  if ((options.momentum != 0) != withMomentum || options.nesterov != nesterov)
    record::fail(ErrorKind::Value, "SGD: all groups are with or all without momentum, and nesterov", where);
  std::vector<double> hyper{options.lr, options.weight_decay};
  if (withMomentum)
    hyper.push_back(options.momentum);
  addGroup(std::move(parameters), hyper, where);
}

} // namespace dlc::optim
