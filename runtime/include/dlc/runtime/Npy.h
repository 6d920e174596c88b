#pragma once

#include "dlc/runtime/Status.h"
#include "dlc/runtime/TensorView.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace dlc {

class MappedFile;

/// A checked .npy file (NumPy's format 1.0 and 2.0): little-endian, row-major, the element types of DType; anything
/// else is refused. Copies share the mapping.
class Npy {
public:
  /// Maps and checks `path`; the file must not be shortened in place while this object lives.
  static StatusOr<Npy> open(const std::string &path);

  /// Checks a file's content in memory; `bytes` must outlive the result.
  static StatusOr<Npy> parse(std::span<const std::byte> bytes);

  /// The array; its name is empty.
  const TensorView &array() const { return array_; }

private:
  std::shared_ptr<const MappedFile> file_;
  TensorView array_;
};

/// Writes format 1.0 with the data at a multiple of 64 bytes, replacing `path` in one step; the view's name is unused.
Status writeNpy(const std::string &path, const TensorView &array);

} // namespace dlc
