#pragma once

#include "contraction/RegisterTile.h"
#include "dlc/ir/ConvDims.h"

namespace dlc::codegen {

/// Planes of one size laid out one after the other, and where source elements land: source (i, j) goes to
/// (lower[0] + i * step[0], lower[1] + j * step[1]) where that lies inside, everything else becomes 0.
struct PlaneSpread {
  int64_t from[2];
  int64_t to[2];
  int64_t lower[2];
  int64_t step[2];

  /// The input of a convolution inside its padding.
  static PlaneSpread padding(const dl::ConvDims &dims) {
    PlaneSpread spread{};
    for (int axis : {0, 1}) {
      spread.from[axis] = dims.in[axis];
      spread.to[axis] = dims.in[axis] + dims.paddingLo[axis] + dims.paddingHi[axis];
      spread.lower[axis] = dims.paddingLo[axis];
      spread.step[axis] = 1;
    }
    return spread;
  }

  bool isIdentity() const {
    return from[0] == to[0] && from[1] == to[1] && lower[0] == 0 && lower[1] == 0 && step[0] == 1 && step[1] == 1;
  }
};

/// Emits the copy of one plane; bases are in elements.
void emitPlaneSpread(KernelBuilder &kernel, const PlaneSpread &spread, int64_t lanes, Memory source,
                     mlir::Value sourceBase, Memory target, mlir::Value targetBase);

/// As many vectors as they have lanes, transposed: lane j of vector i becomes lane i of vector j.
llvm::SmallVector<mlir::Value> transposeSquare(KernelBuilder &kernel, llvm::SmallVector<mlir::Value> rows);

/// Emits target[column * targetWidth + row] = source[row * columns + column] for a rows x columns source; rows beyond
/// `rows` up to `targetWidth` (a multiple of lanes) become 0.
void emitTranspose(KernelBuilder &kernel, int64_t rows, int64_t columns, int64_t targetWidth, int64_t lanes,
                   Memory source, mlir::Value sourceBase, Memory target, mlir::Value targetBase);

} // namespace dlc::codegen
