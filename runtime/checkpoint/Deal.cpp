#include "checkpoint/Deal.h"

#include "dlc/runtime/TensorView.h"

#include <algorithm>

namespace dlc::runtime {
namespace {

// Cutting less would make many small pieces for nothing.
constexpr int64_t kSmallestCut = int64_t{64} * 1024;

int64_t bytesOf(const CheckpointTensor &tensor) { return denseByteSize(tensor.dtype, tensor.shape).value_or(0); }

/// Where of `total` bytes the part of `member` begins.
int64_t border(int64_t total, int member, int members) {
  return static_cast<int64_t>(static_cast<__int128>(total) * member / members);
}

} // namespace

std::vector<Dealt> dealOut(std::span<const CheckpointTensor> tensors, int members) {
  int64_t total = 0, offset = 0;
  for (const CheckpointTensor &tensor : tensors)
    total += isReplicated(tensor) ? bytesOf(tensor) : 0;
  std::vector<Dealt> dealt;
  int member = 0; // rises, as the offset does
  for (size_t i = 0; i < tensors.size(); ++i) {
    const CheckpointTensor &tensor = tensors[i];
    if (!isReplicated(tensor))
      continue;
    int64_t bytes = bytesOf(tensor);
    Box whole = Box::whole(tensor.shape);
    if (bytes <= kSmallestCut || tensor.shape.empty() || tensor.shape[0] < 2) {
      while (member + 1 < members && border(total, member + 1, members) <= offset + bytes / 2)
        ++member;
      dealt.push_back({i, member, whole});
    } else {
      int64_t rows = tensor.shape[0], rowBytes = bytes / rows;
      for (int64_t row = 0; row < rows;) {
        int64_t end = rows;
        if (member + 1 < members)
          end = std::clamp((border(total, member + 1, members) - offset + rowBytes / 2) / rowBytes, row, rows);
        if (end > row) {
          Box part = whole;
          part.start[0] = row;
          part.extent[0] = end - row;
          dealt.push_back({i, member, part});
        }
        row = end;
        if (row < rows)
          ++member;
      }
    }
    offset += bytes;
  }
  return dealt;
}

} // namespace dlc::runtime
