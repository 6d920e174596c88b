#pragma once

#include "dlc/frontend/Optim.h"
#include "record/Variable.h"

#include <map>

namespace dlc::optim::detail {

using record::ValueRef;

/// What one kind of optimizer records.
struct Rule {
  /// Names of the hyper-parameters, the learning rate first.
  std::vector<std::string> hyper;
  /// Names of the state tensors a parameter has.
  std::vector<std::string> states;
  /// Whether it counts steps.
  bool counts = false;
  /// New parameter, then new state tensors. `hyper` in order; `step` counts this step, if any.
  std::vector<ValueRef> (*record)(const ValueRef &parameter, const ValueRef &gradient, std::span<const ValueRef> states,
                                  std::span<const ValueRef> hyper, const ValueRef &step,
                                  const std::source_location &where) = nullptr;
};

struct Group {
  std::vector<Parameter> parameters;
  std::vector<Tensor> hyper;
};

/// What copies of an optimizer share.
struct OptimizerState {
  Rule rule;
  std::string name;
  std::vector<Group> groups;
  /// Per parameter: its state tensors and its step counter, made at its first step.
  struct Slot {
    std::vector<Tensor> states;
    size_t counter = 0;
  };
  std::map<record::Storage *, Slot> slots;
  /// Step counters; parameters that update together share one.
  std::vector<Tensor> counters;
  /// State segments with the offsets of a parameter segment, by (kind, that segment).
  std::map<std::pair<std::string, const record::Segment *>, std::shared_ptr<const record::Segment>> mirrors;
  std::source_location where;
};

} // namespace dlc::optim::detail
