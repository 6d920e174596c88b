#pragma once

#include "checkpoint/Box.h"
#include "dlc/runtime/Checkpoint.h"

namespace dlc::runtime {

/// Whether all members have all of it.
inline bool isReplicated(const CheckpointTensor &tensor) { return tensor.start.empty() && tensor.extent.empty(); }

/// A piece that a member writes.
struct Dealt {
  size_t tensor; ///< by its place
  int member;
  Box box;
};

/// Who writes what of the replicated tensors, so that all write about the same number of bytes; rows of a large tensor
/// may go to several members. Tensors were checked.
std::vector<Dealt> dealOut(std::span<const CheckpointTensor> tensors, int members);

} // namespace dlc::runtime
