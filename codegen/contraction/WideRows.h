#pragma once

#include "contraction/RegisterTile.h"

namespace dlc::codegen {

/// The rows of a register tile that lie in memory as 16-bit floats, copied to scratch as f32 one block of terms at a
/// time: a tile reads each element once a column, and converting it costs as much as multiplying it.
class WideRows {
public:
  /// Elements of scratch for tiles of `rows` rows and blocks of `terms`.
  static int64_t elements(int64_t rows, int64_t terms) { return rows * terms; }

  /// `tile` has one loop and `wideRows`; `rows` is where its A lies.
  WideRows(KernelBuilder &kernel, const RegisterTile &tile, Memory rows) : kernel(kernel), tile(tile), rows(rows) {}

  /// Copies `terms` terms from `base` on; the tile that reads them from offset 0 of the scratch memory.
  RegisterTile copy(mlir::Value base, int64_t terms);

private:
  /// `count` neighbours, in vectors.
  void move(mlir::Value from, mlir::Value to, int64_t count);
  void copyAlongTerms(mlir::Value base, int64_t terms);
  void copyAlongRows(mlir::Value base, int64_t terms);

  KernelBuilder &kernel;
  const RegisterTile &tile;
  Memory rows;
};

} // namespace dlc::codegen
