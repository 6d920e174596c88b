#pragma once

#include "dlc/frontend/Tensor.h"

namespace dlc {

/// While it lives, operations of this thread are not differentiated.
class NoGrad {
public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad &) = delete;
  NoGrad &operator=(const NoGrad &) = delete;

private:
  bool before;
};

/// While it lives, operations are differentiated again, inside a NoGrad.
class EnableGrad {
public:
  EnableGrad();
  ~EnableGrad();
  EnableGrad(const EnableGrad &) = delete;
  EnableGrad &operator=(const EnableGrad &) = delete;

private:
  bool before;
};

struct GradOptions {
  /// The gradients can be differentiated in turn.
  bool create_graph = false;
  /// An input that does not influence the output gets zeros instead of an Error.
  bool allow_unused = false;
  bool retain_graph = false;
};

/// Derivatives of a scalar (a tensor of one element) with respect to tensors; touches no `.grad`.
std::vector<Tensor> grad(Arg output, std::vector<Tensor> inputs, GradOptions options = {});

} // namespace dlc
