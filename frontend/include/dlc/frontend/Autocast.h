#pragma once

#include "dlc/frontend/Error.h"
#include "dlc/runtime/DType.h"

#include <optional>

namespace dlc {

/// While it lives, what this thread records is compiled to mixed precision: products (linear, matmul, conv2d,
/// attention) run in 16 bits, sums, norms, softmax and losses in f32, and other operations in 16 bits where their
/// operands do. Tensors keep the dtypes they have without it, weights and their gradients stay f32, and backward() goes
/// by where an operation was recorded, not by where it is called. Scopes nest.
/// ```
/// auto step = jit([&](Tensor x, Tensor y) {
///   optimizer.zero_grad();
///   Tensor loss;
///   {
///     Autocast scope(bf16);
///     loss = nn::cross_entropy(model(x), y);
///   }
///   loss.backward();
///   …
/// ```
class Autocast {
public:
  /// bf16 or f16; an Error otherwise. Not enabled: as written, also inside of another scope.
  explicit Autocast(DType dtype, bool enabled = true, Where where = Where::current());
  /// In bf16, or as written.
  explicit Autocast(bool enabled, Where where = Where::current());
  ~Autocast();
  Autocast(const Autocast &) = delete;
  Autocast &operator=(const Autocast &) = delete;

private:
  std::optional<DType> before;
};

/// The dtype of this thread's innermost scope; none: as written.
std::optional<DType> autocast_dtype();

} // namespace dlc
