#include "dlc/frontend/Control.h"

#include "dlc/frontend/Ops.h"
#include "grad/LeafGradients.h"
#include "ops/Control.h"

namespace dlc::detail {

using ops::ValueRef;
using record::LeafGradients;

namespace {

/// Micro-batches of equal size, and the rows that are left.
struct Cut {
  int64_t rows, size, whole, rest;

  Cut(int64_t n, const Tensor &x, const Tensor &y, Where where) {
    if (n < 1 || x.dim() == 0 || y.dim() == 0 || x.size(0) != y.size(0) || x.size(0) == 0)
      record::fail(ErrorKind::Value,
                   "accumulate: expected one micro-batch or more of x and y with as many rows, got " +
                       std::to_string(n) + " of " + x.shape().str() + " and " + y.shape().str(),
                   where);
    rows = x.size(0);
    size = (rows + n - 1) / n;
    whole = rows / size;
    rest = rows % size;
  }
};

ValueRef rowsOf(const ValueRef &value, int64_t from, int64_t to, Where where) {
  const ops::Ints &shape = value->type->shape;
  if (from == 0 && to == shape[0])
    return value;
  ops::Ints starts(shape.size(), 0), limits = shape, strides(shape.size(), 1);
  starts[0] = from;
  limits[0] = to;
  return ops::slice(value, starts, limits, strides, where);
}

ValueRef inParts(const ValueRef &value, const Cut &cut, Where where) {
  ops::Ints shape{cut.whole, cut.size};
  shape.insert(shape.end(), value->type->shape.begin() + 1, value->type->shape.end());
  return ops::reshape(rowsOf(value, 0, cut.whole * cut.size, where), shape, where);
}

/// The loss of some rows as its share of the batch's mean.
ValueRef weighted(const MicroBatchLoss &loss, const ValueRef &x, const ValueRef &y, double weight, Where where) {
  Tensor value = loss(ops::wrap(x), ops::wrap(y));
  if (!value.defined() || value.numel() != 1 || !ops::isFloat(value.dtype()))
    record::fail(ErrorKind::Gradient, "accumulate: expected a float loss of one element from f", where);
  ValueRef scalar = ops::reshape(record::valueOf(value, where), {}, where);
  return ops::binary("mul", scalar, ops::number(weight, scalar->type->dtype, where), where);
}

} // namespace

Tensor accumulate(int64_t n, const MicroBatchLoss &loss, const Tensor &x, const Tensor &y, Where where) {
  Cut cut(n, x, y, where);
  if (x.requires_grad() || y.requires_grad())
    record::fail(ErrorKind::Gradient, "accumulate: expected a batch without gradients of its own", where);
  record::Body::prepare(where);
  ValueRef xs = record::valueOf(x, where), ys = record::valueOf(y, where);
  std::vector<record::Ref<record::Storage>> owners;
  auto step = [&](record::Body &body, const ops::ScanValues &now) {
    ValueRef share = weighted(loss, now.stacked[0], now.stacked[1], double(cut.size) / double(cut.rows), where);
    LeafGradients found = record::gradientsOfLeaves("accumulate", share, {}, where);
    record::EnableGradScope off(false);
    owners = found.owners;
    ops::ScanValues next;
    auto add = [&](const ValueRef &value) {
      ValueRef sum = body.addArgument(value->type, value->place, false);
      next.sums.push_back({sum, ops::binary("add", sum, value, where)});
    };
    add(share);
    for (const ValueRef &gradient : found.gradients)
      add(gradient);
    return next;
  };
  record::EnableGradScope on(true);
  ops::ScanValues sums = ops::scan("accumulate", {{}, {inParts(xs, cut, where), inParts(ys, cut, where)}, {}},
                                   {.steps = cut.whole, .gradients = false}, step, where);
  ValueRef total = sums.carried[0];
  if (cut.rest) {
    int64_t from = cut.rows - cut.rest;
    ValueRef share = weighted(loss, rowsOf(xs, from, cut.rows, where), rowsOf(ys, from, cut.rows, where),
                              double(cut.rest) / double(cut.rows), where);
    LeafGradients found = record::gradientsOfLeaves("accumulate", share, {}, where);
    record::EnableGradScope off(false);
    for (size_t i = 0; i < found.owners.size(); ++i)
      record::addToLeaf(*found.owners[i], found.gradients[i], where);
    total = ops::binary("add", total, share, where);
  }
  record::EnableGradScope off(false);
  for (size_t i = 0; i < owners.size(); ++i)
    record::addToLeaf(*owners[i], sums.carried[i + 1], where);
  return ops::wrap(total);
}

} // namespace dlc::detail
