#pragma once

#include "base/FileDescriptor.h"
#include "base/SafetensorsHeader.h"
#include "checkpoint/Index.h"

#include <unordered_map>

namespace dlc::runtime {

/// A member's file of a checkpoint, read in ranges.
class PieceFile {
public:
  /// Refused unless it is a regular file of that size, and no link.
  static StatusOr<std::unique_ptr<PieceFile>> open(const std::string &directory, const CheckpointIndex::File &file);

  /// Compares all of its content with the checksum.
  Status verify() const;

  /// Copies what `wanted` and the piece share to where it lies in `target`, the dense elements of `wanted`.
  Status read(const CheckpointIndex::Tensor &tensor, const CheckpointIndex::Piece &piece, const Box &wanted,
              std::byte *target);

private:
  PieceFile(std::string path, CheckpointIndex::File file, int descriptor);
  Status readHeader();
  /// Where the piece's data begin in the file.
  StatusOr<int64_t> locate(const CheckpointIndex::Tensor &tensor, const CheckpointIndex::Piece &piece);
  Status readRange(int64_t offset, std::span<std::byte> to) const;

  std::string path;
  CheckpointIndex::File file;
  FileDescriptor descriptor;
  std::unordered_map<std::string, SafetensorsEntry> entries; ///< empty until the header is read
  int64_t dataBegin = 0;
};

} // namespace dlc::runtime
