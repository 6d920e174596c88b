#include "executor/Segment.h"

#include <algorithm>
#include <bit>

namespace dlc {

namespace {

constexpr int kKernelBits = 32;

void *headOf(const Piece &piece) {
  return std::bit_cast<void *>(uint64_t(piece.operands.size()) << kKernelBits | piece.kernel);
}

} // namespace

void Segment::add(const Piece &piece) {
  words.push_back(headOf(piece));
  words.insert(words.end(), piece.operands.begin(), piece.operands.end());
  ++count;
}

bool Segment::has(const Piece &piece, size_t position) const {
  return position < words.size() && words[position] == headOf(piece) &&
         std::equal(piece.operands.begin(), piece.operands.end(), words.begin() + int64_t(position) + 1);
}

Piece Segment::at(size_t position) const {
  auto head = std::bit_cast<uint64_t>(words[position]);
  return {uint32_t(head), std::span(words).subspan(position + 1, head >> kKernelBits)};
}

bool Segment::isClosed() const {
  std::vector<void *> open;
  for (size_t position = 0; position < words.size();) {
    Piece piece = at(position);
    position = next(piece, position);
    if (piece.kernel == Piece::kStart)
      open.push_back(piece.operands[0]);
    else if (piece.kernel == Piece::kWait && std::erase(open, piece.operands[0]) == 0)
      return false;
  }
  return open.empty();
}

Segment Segment::before(size_t position) const {
  Segment start;
  for (size_t i = 0; i < position; i = next(at(i), i))
    start.add(at(i));
  return start;
}

bool Segment::begins(const Segment &other, size_t position) const {
  return position <= words.size() && std::equal(words.begin(), words.begin() + int64_t(position), other.words.begin());
}

} // namespace dlc
