#pragma once

#include "dlc/dlc.h"

#include <string>
#include <vector>

/// Characters as numbers, and the parts to train on and to judge by.
class Text {
public:
  /// Every regular file of a folder is wholly in one part: of the files in order of size the 4th, 9th, 14th … in
  /// validation. Of a single file the last tenth is. Links and empty files are left out. Throws std::runtime_error.
  explicit Text(const std::string &path);

  int64_t vocabulary() const { return int64_t(alphabet.size()); }
  /// `count` random pieces of one length from the training part: characters and those after them, i64 [count, length].
  std::pair<dlc::Tensor, dlc::Tensor> batch(int64_t count, int64_t length, uint64_t seed) const;
  /// Pieces side by side that cover the validation part, `count` at a time.
  std::vector<std::pair<dlc::Tensor, dlc::Tensor>> validation(int64_t count, int64_t length) const;

  std::vector<int64_t> encode(const std::string &text) const;
  std::string decode(const std::vector<int64_t> &numbers) const;

private:
  std::pair<dlc::Tensor, dlc::Tensor> pieces(const std::vector<int64_t> &from, const std::vector<int64_t> &starts,
                                             int64_t length) const;
  std::string alphabet; ///< of the training part; others are blanks
  std::vector<int64_t> training, judged;
};
