#include "dlc/ir/Cast.h"

#include "reference/Registry.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dlc::dl;

// Toward zero, saturating, NaN gives 0.
static int64_t toInteger(double x, unsigned width) {
  double limit = std::ldexp(1.0, int(width) - 1);
  int64_t largest = std::numeric_limits<int64_t>::max() >> (64 - width);
  if (std::isnan(x))
    return 0;
  if (x >= limit)
    return largest;
  return x < -limit ? -largest - 1 : int64_t(x);
}

static double rounded(int64_t x, FloatType type) {
  llvm::APFloat value(type.getFloatSemantics());
  value.convertFromAPInt(llvm::APInt(64, uint64_t(x)), /*IsSigned=*/true, llvm::APFloat::rmNearestTiesToEven);
  bool loses = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

static LogicalResult castElements(CastOp op, ReferenceOperands operands, ReferenceResults results,
                                  ReferenceContext context) {
  const ReferenceTensor &x = operands[0];
  ReferenceTensor &y = results[0];
  Type to = y.type.getElementType();
  // Straight to the type: by way of double a large i64 would be rounded twice.
  bool declared = context.precision == ReferencePrecision::Declared;
  for (int64_t i = 0; i < y.size(); ++i)
    if (y.isFloat())
      y.floats[i] = x.isFloat() ? x.floats[i]
                    : declared  ? rounded(x.integers[i], cast<FloatType>(to))
                                : double(x.integers[i]);
    else if (to.isInteger(1))
      y.integers[i] = x.isFloat() ? x.floats[i] != 0 : x.integers[i] != 0;
    else
      y.integers[i] = x.isFloat() ? toInteger(x.floats[i], to.getIntOrFloatBitWidth()) : x.integers[i];
  return success();
}

void dlc::dl::registerReferenceCast(ReferenceRegistry &registry) { registry.addWithContext<CastOp>(castElements); }
