#pragma once

#include "checkpoint/Box.h"
#include "dlc/runtime/Checkpoint.h"

#include <string_view>
#include <utility>

namespace dlc::runtime {

/// `index.json`: what a checkpoint holds, and where.
struct CheckpointIndex {
  struct File {
    std::string name;   ///< inside the checkpoint's directory
    int64_t bytes = 0;  ///< of the file
    std::string sha256; ///< of its content, 64 hexadecimal digits
  };
  struct Piece {
    size_t file = 0; ///< index into files
    std::string key; ///< name of the tensor in the file
    Box box;
  };
  struct Tensor {
    std::string name, role;
    DType dtype = DType::F32;
    std::vector<int64_t> shape;
    std::vector<Piece> pieces;
  };

  int64_t step = 0;
  uint64_t generation = 0;
  std::vector<std::pair<std::string, int64_t>> mesh;
  std::vector<File> files;
  std::vector<Tensor> tensors;
  std::map<std::string, std::string> state; ///< JSON texts

  /// Checks everything: numbers, unique and plain names, that the pieces of each tensor cover it once.
  static StatusOr<CheckpointIndex> parse(std::string_view json);
  std::string toJson() const;
};

/// The index file is refused above this.
constexpr int64_t kLongestIndex = int64_t{64} << 20;

/// InvalidInput: not one JSON value, or nested too deeply.
Status checkJson(std::string_view text);

} // namespace dlc::runtime
