#include "ops/Primitive.h"
#include "optim/Rule.h"

namespace dlc::optim {

namespace {
std::vector<record::ValueRef> update(const char *op, const record::ValueRef &parameter,
                                     const record::ValueRef &gradient, std::span<const record::ValueRef> states,
                                     std::span<const record::ValueRef> hyper, const record::ValueRef &step,
                                     const std::source_location &where) {
  std::vector<record::ValueRef> operands{parameter, gradient, states[0], states[1], step};
  operands.insert(operands.end(), hyper.begin(), hyper.end()); // lr, beta1, beta2, eps, weight_decay
  return record::recordAll(trace::internOp(op), trace::Attributes().intern(), operands, where);
}

detail::Rule rule() {
  detail::Rule rule;
  rule.hyper = {"lr", "beta1", "beta2", "eps", "weight_decay"};
  rule.states = {"exp_avg", "exp_avg_sq"};
  rule.counts = true;
  return rule;
}

detail::Rule adamRule() {
  detail::Rule made = rule();
  made.record = [](auto &parameter, auto &gradient, auto states, auto hyper, auto &step, auto &where) {
    return update("dl.adam", parameter, gradient, states, hyper, step, where);
  };
  return made;
}

detail::Rule adamWRule() {
  detail::Rule made = rule();
  made.record = [](auto &parameter, auto &gradient, auto states, auto hyper, auto &step, auto &where) {
    return update("dl.adamw", parameter, gradient, states, hyper, step, where);
  };
  return made;
}

template <typename Options>
std::vector<double> checked(const char *function, const Options &options, Where where) {
  auto [beta1, beta2] = options.betas;
  if (options.lr < 0 || options.eps < 0 || options.weight_decay < 0 || beta1 < 0 || beta1 >= 1 || beta2 < 0 ||
      beta2 >= 1)
    record::fail(ErrorKind::Value,
                 std::string(function) + ": lr, eps and weight_decay must not be negative, betas lie in [0, 1)", where);
  return {options.lr, beta1, beta2, options.eps, options.weight_decay};
}
} // namespace

Adam::Adam(std::vector<Parameter> parameters, AdamOptions options, Where where)
    : Optimizer(adamRule(), options.name, where) {
  add_param_group(std::move(parameters), options, where);
}
void Adam::add_param_group(std::vector<Parameter> parameters, AdamOptions options, Where where) {
  addGroup(std::move(parameters), checked("Adam", options, where), where);
}

AdamW::AdamW(std::vector<Parameter> parameters, AdamWOptions options, Where where)
    : Optimizer(adamWRule(), options.name, where) {
  add_param_group(std::move(parameters), options, where);
}
void AdamW::add_param_group(std::vector<Parameter> parameters, AdamWOptions options, Where where) {
  addGroup(std::move(parameters), checked("AdamW", options, where), where);
}

} // namespace dlc::optim
