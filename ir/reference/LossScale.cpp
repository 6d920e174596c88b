#include "dlc/ir/LossScale.h"

#include "reference/Registry.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace dlc::dl;

static bool isFiniteIn(double value, Type element) {
  llvm::APFloat rounded(value);
  bool losesInfo = false;
  rounded.convert(cast<FloatType>(element).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.isFinite();
}

void dlc::dl::registerReferenceLossScale(ReferenceRegistry &registry) {
  registry.add<UnscaleOp>([](UnscaleOp, ReferenceOperands x, ReferenceResults y) {
    for (auto [scaled, plain] : llvm::zip_equal(x[0].floats, y[0].floats))
      plain = scaled * (1 / x[1].floats[0]);
    y[1].integers[0] = llvm::all_of(x[0].floats, [](double g) { return std::isfinite(g); });
  });
  registry.add<UpdateScaleOp>([](UpdateScaleOp op, ReferenceOperands x, ReferenceResults y) {
    double scale = x[0].floats[0], grown = scale * op.getGrowth().convertToDouble();
    int64_t count = x[1].integers[0] + 1;
    bool found = x[2].integers[0], due = count >= int64_t(op.getInterval());
    bool grows = due && isFiniteIn(grown, getElementTypeOrSelf(op.getScale().getType()));
    y[0].floats[0] = found ? scale * op.getBackoff().convertToDouble() : grows ? grown : scale;
    y[1].integers[0] = found || due ? 0 : count;
  });
  registry.add<ClipFactorOp>([](ClipFactorOp, ReferenceOperands x, ReferenceResults y) {
    double squares = 0;
    for (const ReferenceTensor &norm : x.drop_back())
      squares += norm.floats[0] * norm.floats[0];
    double norm = std::sqrt(squares), room = x.back().floats[0] / (norm + 1e-6);
    y[0].floats[0] = norm;
    y[1].floats[0] = std::isnan(room) ? room : std::min(room, 1.0);
  });
}
