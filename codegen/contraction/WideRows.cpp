#include "contraction/WideRows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace dlc::codegen {

// Whole vectors of falling width: masks of 16-bit lanes are slow on many processors.
void WideRows::move(Value from, Value to, int64_t count) {
  int64_t lanes = kernel.lanesOf(tile.element);
  for (int64_t done = 0; done < count;) {
    auto width = std::min(lanes, int64_t(llvm::bit_floor(uint64_t(count - done))));
    Lane lane{width > 1 ? width : 0};
    kernel.store(*tile.wideRows, addOffset(kernel, to, done), lane,
                 kernel.load(rows, addOffset(kernel, from, done), 1, lane));
    done += width;
  }
}

// As [row][term].
void WideRows::copyAlongTerms(Value base, int64_t terms) {
  int64_t lanes = kernel.lanesOf(tile.element), whole = terms / lanes;
  auto each = [&](Value first, int64_t count) {
    for (auto [row, offset] : llvm::enumerate(tile.rows))
      move(add(kernel, base, addOffset(kernel, first, offset)), addOffset(kernel, first, int64_t(row) * terms), count);
  };
  forLoop(kernel, i64(kernel, 0), i64(kernel, whole), [&](Value i) { each(scaled(kernel, i, lanes), lanes); });
  if (terms % lanes)
    each(i64(kernel, whole * lanes), terms % lanes);
}

// As [term][row].
void WideRows::copyAlongRows(Value base, int64_t terms) {
  auto height = int64_t(tile.rows.size());
  bool neighbours =
      llvm::all_of(llvm::enumerate(tile.rows), [](auto row) { return row.value() == int64_t(row.index()); });
  forLoop(kernel, i64(kernel, 0), i64(kernel, terms), [&](Value term) {
    Value from = add(kernel, base, scaled(kernel, term, tile.loops[0].a)), to = scaled(kernel, term, height);
    if (neighbours)
      return move(from, to, height);
    for (auto [row, offset] : llvm::enumerate(tile.rows))
      move(addOffset(kernel, from, offset), addOffset(kernel, to, int64_t(row)), 1);
  });
}

RegisterTile WideRows::copy(Value base, int64_t terms) {
  bool alongTerms = tile.loops[0].a == 1;
  alongTerms ? copyAlongTerms(base, terms) : copyAlongRows(base, terms);
  RegisterTile wide = tile;
  wide.wideRows = {};
  for (auto [row, offset] : llvm::enumerate(wide.rows))
    offset = int64_t(row) * (alongTerms ? terms : 1);
  wide.loops[0].a = alongTerms ? 1 : int64_t(tile.rows.size());
  return wide;
}

} // namespace dlc::codegen
