#pragma once

#include "drivers/cuda/CublasLtApi.h"
#include "drivers/cuda/LibraryKernel.h"

namespace dlc::runtime::cublaslt {

/// Something of the library's that is given back.
template <typename T>
using Owned = std::unique_ptr<T, int (*)(T *)>;

/// A product as cuBLASLt sees it, D = op(A) op(B), with matrices stored by columns. Our result is stored by rows, which
/// is its transpose by columns: D is that, A comes from the right operand and B from the left one.
struct Descriptors {
  Owned<MatmulDesc> product;
  Owned<MatrixLayout> a, b, d;
  Owned<Preference> preference;
};

/// Refused, with what to do, where the library has no such product.
StatusOr<Descriptors> describe(const Api &api, const MatMulCall &call, int64_t workspaceBytes);

/// cuBLASLt on the device of the thread's context.
StatusOr<std::shared_ptr<DeviceLibrary>> open();

} // namespace dlc::runtime::cublaslt
