#pragma once

#include "dlc/frontend/Ops.h"

namespace dlc::ops {

/// batch_norm() where the momentum, and 1 - momentum, may be tensors of one element; those of the options are not used.
Tensor batchNorm(const Arg &x, const std::optional<Tensor> &mean, const std::optional<Tensor> &var,
                 const BatchNormOptions &options, const Arg &momentum, const Arg &rest);

} // namespace dlc::ops
