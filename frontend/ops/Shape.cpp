#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"

namespace dlc {

using ops::Ints;
using ops::ValueRef;

Tensor cat(Args tensors, int64_t dim) {
  if (tensors.tensors.empty())
    record::fail(ErrorKind::Value, "cat: expected at least one tensor", tensors.where);
  std::vector<Arg> args;
  args.reserve(tensors.tensors.size());
  for (const Tensor &tensor : tensors.tensors)
    args.emplace_back(tensor, tensors.where);
  DType dtype = ops::resultType(args);
  std::vector<ValueRef> values;
  values.reserve(args.size());
  for (const Arg &arg : args)
    values.push_back(ops::valueOf(arg, dtype));
  int64_t axis = ops::wrapDim("cat", dim, ops::rank(values[0]), tensors.where);
  for (const ValueRef &value : values) {
    Ints a = values[0]->type->shape, b = value->type->shape;
    bool fits = a.size() == b.size() && !a.empty();
    if (fits)
      a[static_cast<size_t>(axis)] = b[static_cast<size_t>(axis)];
    if (!fits || a != b)
      record::fail(ErrorKind::Type,
                   "cat: shapes " + trace::str(values[0]->type->shape) + " and " + trace::str(b) +
                       " differ outside dim " + std::to_string(axis),
                   tensors.where);
  }
  return ops::wrap(record::record(trace::internOp("dl.concat"), trace::Attributes().integer("axis", axis).intern(),
                                  values, tensors.where));
}

Tensor stack(Args tensors, int64_t dim) {
  Args rows({}, tensors.where);
  for (const Tensor &tensor : tensors.tensors)
    rows.tensors.push_back(tensor.unsqueeze(dim, tensors.where));
  int64_t rank = rows.tensors.empty() ? 1 : rows.tensors[0].dim();
  return cat(rows, ops::wrapDim("stack", dim, rank, tensors.where));
}

Tensor flip(Arg x, Dims dims) {
  ValueRef value = ops::valueOf(x);
  if (dims.vec().empty())
    return ops::wrap(value);
  Ints axes = ops::wrapDims("flip", dims, ops::rank(value), x.where);
  return ops::wrap(record::record(trace::internOp("dl.reverse"), trace::Attributes().ints("axes", axes).intern(),
                                  {&value, 1}, x.where));
}

Tensor pad(Arg x, std::vector<int64_t> amounts, double fill) {
  ValueRef value = ops::valueOf(x);
  size_t rank = value->type->shape.size();
  bool fits = amounts.size() % 2 == 0 && amounts.size() <= 2 * rank;
  Ints lo(rank), hi(rank), interior(rank);
  for (size_t i = 0; fits && i < amounts.size() / 2; ++i) {
    lo[rank - 1 - i] = amounts[2 * i];
    hi[rank - 1 - i] = amounts[2 * i + 1];
    fits = amounts[2 * i] >= 0 && amounts[2 * i + 1] >= 0;
  }
  if (!fits)
    record::fail(ErrorKind::Value,
                 "pad: expected pairs of amounts of at least 0 for the last dims of " + trace::str(value->type->shape) +
                     ", got " + trace::str(amounts),
                 x.where);
  return ops::wrap(ops::pad(value, ops::number(fill, value->type->dtype, x.where), lo, hi, interior, x.where));
}

Tensor reshape(Arg x, Shape shape) { return x.tensor->reshape(std::move(shape), x.where); }
Tensor transpose(Arg x, int64_t a, int64_t b) { return x.tensor->transpose(a, b, x.where); }

} // namespace dlc
