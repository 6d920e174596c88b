#pragma once

#include "ops/Primitive.h"

namespace dlc::record {

/// What backward() adds to each leaf.
struct LeafGradients {
  std::vector<Ref<Storage>> owners;
  std::vector<ValueRef> gradients;
  /// Of each, if the loss was scaled on the way to it.
  std::vector<std::optional<Scaled>> scaled;
};

/// The gradients of a value of one element; an Error, named after the function, where there are none.
LeafGradients gradientsOfLeaves(const char *function, const ValueRef &loss, Tensor::BackwardOptions options,
                                const std::source_location &where);
/// Adds to `.grad`.
void addToLeaf(Storage &leaf, const ValueRef &gradient, const std::optional<Scaled> &scaled,
               const std::source_location &where);

} // namespace dlc::record
