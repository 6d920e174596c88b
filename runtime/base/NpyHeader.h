#pragma once

#include "dlc/runtime/Status.h"
#include "dlc/runtime/TensorView.h"

#include <cstdint>
#include <string_view>

namespace dlc {

/// Reads the Python dictionary of a .npy header: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
/// Refuses other byte orders, column-major arrays and element types outside DType; positions in messages count from
/// `fileOffset`. The result's data stays null.
StatusOr<TensorView> parseNpyHeader(std::string_view dictionary, uint64_t fileOffset);

} // namespace dlc
