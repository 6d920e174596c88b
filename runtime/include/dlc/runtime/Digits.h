#pragma once

#include "dlc/runtime/Status.h"
#include "dlc/runtime/TensorView.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc {

/// The UCI handwritten digits: images of 8×8 pixels and the digit each shows.
struct Digits {
  static constexpr int64_t side = 8, pixels = side * side, classes = 10;
  /// Samples of the file this project ships.
  static constexpr int64_t samples = 1797;

  std::vector<float> images;   ///< [n, 1, 8, 8], pixel / 16, so from 0 to 1
  std::vector<int64_t> labels; ///< [n], from 0 to 9

  int64_t size() const { return static_cast<int64_t>(labels.size()); }

  /// f32 [n, 1, 8, 8] over `images`.
  TensorView imageView() const;

  /// i64 [n] over `labels`.
  TensorView labelView() const;
};

/// Reads `digits.csv.gz`: gzip-compressed lines of 64 pixels from 0 to 16 and a label, separated by commas. Any other
/// count or value is refused with the line it stands in.
StatusOr<Digits> readDigits(const std::string &path, int64_t samples = Digits::samples);

/// Sample indices of both parts of a data set, each in rising order.
struct DataSplit {
  std::vector<int64_t> train, test;
};

/// Test part: the samples whose index mod 5 is 4.
DataSplit everyFifthSplit(int64_t size);

/// Test part: the last fifth, rounded down. In the digits these are other writers, which is harder.
DataSplit lastFifthSplit(int64_t size);

} // namespace dlc
