#include "contraction/PlaneCopy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dlc::codegen {

namespace {

Value rangeMask(KernelBuilder &kernel, int64_t first, int64_t last, int64_t lanes) {
  if (first <= 0 && last >= lanes)
    return {};
  SmallVector<bool> bits;
  for (int64_t lane = 0; lane < lanes; ++lane)
    bits.push_back(lane >= first && lane < last);
  OpBuilder &b = kernel.getBuilder();
  TypedAttr value = DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), bits);
  return arith::ConstantOp::create(b, kernel.getLoc(), value);
}

Value zeros(KernelBuilder &kernel, Type element, int64_t lanes) {
  OpBuilder &b = kernel.getBuilder();
  TypedAttr value = DenseElementsAttr::get(VectorType::get({lanes}, element), Attribute(b.getZeroAttr(element)));
  return arith::ConstantOp::create(b, kernel.getLoc(), value);
}

/// Stores one row of `width` elements, vector by vector: `value(first column)`.
void storeRow(KernelBuilder &kernel, int64_t width, int64_t lanes, Memory target, Value base,
              llvm::function_ref<Value(int64_t first)> value) {
  for (int64_t first = 0; first < width; first += lanes)
    storeLanes(kernel, target, addOffset(kernel, base, first), 1, std::min(lanes, width - first), value(first));
}

} // namespace

// By halving: exchanges the off-diagonal halves of ever smaller blocks.
SmallVector<Value> transposeSquare(KernelBuilder &kernel, SmallVector<Value> rows) {
  OpBuilder &b = kernel.getBuilder();
  int64_t lanes = int64_t(rows.size());
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> upper, lower; // of the pair (row, row + half), lane numbers of the second from `lanes` on
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool second = lane & half;
      upper.push_back(second ? lanes + lane - half : lane);
      lower.push_back(second ? lanes + lane : lane + half);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      if (row & half)
        continue;
      Value first = rows[size_t(row)], other = rows[size_t(row + half)];
      rows[size_t(row)] = vector::ShuffleOp::create(b, kernel.getLoc(), first, other, upper);
      rows[size_t(row + half)] = vector::ShuffleOp::create(b, kernel.getLoc(), first, other, lower);
    }
  }
  return rows;
}

void emitPlaneSpread(KernelBuilder &kernel, const PlaneSpread &spread, int64_t lanes, Memory source, Value sourceBase,
                     Memory target, Value targetBase) {
  int64_t width = spread.to[1];
  auto zeroRows = [&](int64_t first, int64_t last) {
    forLoop(kernel, i64(kernel, first), i64(kernel, last), [&](Value row) {
      storeRow(kernel, width, lanes, target, add(kernel, targetBase, scaled(kernel, row, width)),
               [&](int64_t) { return zeros(kernel, target.element, lanes); });
    });
  };
  // Source rows and columns that land inside.
  auto inside = [&](int axis) {
    int64_t first = std::max<int64_t>(0, llvm::divideCeilSigned(-spread.lower[axis], spread.step[axis]));
    int64_t last = std::min(spread.from[axis],
                            llvm::divideFloorSigned(spread.to[axis] - 1 - spread.lower[axis], spread.step[axis]) + 1);
    return std::pair(first, std::max(first, last));
  };
  auto [firstRow, lastRow] = inside(0);
  auto [firstColumn, lastColumn] = inside(1);
  bool dense = spread.step[0] == 1 && spread.step[1] == 1;
  if (dense) {
    zeroRows(0, std::min(spread.to[0], spread.lower[0] + firstRow));
    zeroRows(std::max<int64_t>(0, spread.lower[0] + lastRow), spread.to[0]);
  } else {
    zeroRows(0, spread.to[0]);
  }
  forLoop(kernel, i64(kernel, firstRow), i64(kernel, lastRow), [&](Value row) {
    Value from = add(kernel, sourceBase, scaled(kernel, row, spread.from[1]));
    Value toRow = addOffset(kernel, scaled(kernel, row, spread.step[0]), spread.lower[0]);
    Value to = add(kernel, targetBase, scaled(kernel, toRow, width));
    if (dense)
      return storeRow(kernel, width, lanes, target, to, [&](int64_t first) {
        int64_t shift = first - spread.lower[1]; // source column of lane 0
        return kernel.load(source, addOffset(kernel, from, shift), 1,
                           Lane{lanes, rangeMask(kernel, firstColumn - shift, lastColumn - shift, lanes)});
      });
    for (int64_t first = firstColumn; first < lastColumn; first += lanes) {
      int64_t live = std::min(lanes, lastColumn - first);
      Value values = loadLanes(kernel, source, addOffset(kernel, from, first), 1, live, lanes);
      storeLanes(kernel, target, addOffset(kernel, to, spread.lower[1] + first * spread.step[1]), spread.step[1], live,
                 values);
    }
  });
}

void emitTranspose(KernelBuilder &kernel, int64_t rows, int64_t columns, int64_t targetWidth, int64_t lanes,
                   Memory source, Value sourceBase, Memory target, Value targetBase) {
  for (int64_t row = 0; row < targetWidth; row += lanes) {
    auto square = [&](Value column, int64_t live) {
      Value from = add(kernel, addOffset(kernel, sourceBase, row * columns), column);
      SmallVector<Value> vectors;
      for (int64_t i = 0; i < lanes; ++i)
        vectors.push_back(row + i < rows
                              ? loadLanes(kernel, source, addOffset(kernel, from, i * columns), 1, live, lanes)
                              : zeros(kernel, source.element, lanes));
      vectors = transposeSquare(kernel, std::move(vectors));
      Value to = addOffset(kernel, add(kernel, targetBase, scaled(kernel, column, targetWidth)), row);
      for (int64_t i = 0; i < live; ++i)
        storeLanes(kernel, target, addOffset(kernel, to, i * targetWidth), 1, lanes, vectors[size_t(i)]);
    };
    forLoop(kernel, i64(kernel, 0), i64(kernel, columns / lanes),
            [&](Value block) { square(scaled(kernel, block, lanes), lanes); });
    if (columns % lanes)
      square(i64(kernel, columns / lanes * lanes), columns % lanes);
  }
}

} // namespace dlc::codegen
