#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"

namespace dlc {

using ops::Ints;
using ops::ValueRef;

namespace {
void checkImage(const char *function, const ValueRef &x, Where where) {
  if (x->type->shape.size() != 4 || !ops::isFloat(x->type->dtype))
    record::fail(ErrorKind::Type,
                 std::string(function) + ": expected images [N, C, H, W] of floats, got " + trace::str(x->type), where);
}

trace::Attributes window(const Ints &strides, const Ints &padding) {
  trace::Attributes attributes;
  attributes.ints("strides", strides).ints("padding_lo", padding).ints("padding_hi", padding);
  return attributes;
}
} // namespace

Tensor conv2d(Arg x, Arg weight, std::optional<Tensor> bias, Conv2dShape shape) {
  Where where = x.where;
  ValueRef operands[] = {ops::valueOf(x), ops::valueOf(weight)};
  checkImage("conv2d", operands[0], where);
  const Ints &image = operands[0]->type->shape, &kernel = operands[1]->type->shape;
  if (kernel.size() != 4 || image[1] != kernel[1])
    record::fail(ErrorKind::Type,
                 "conv2d: input has " + std::to_string(image[1]) + " channels, weight " + trace::str(kernel) +
                     " [out, in, height, width] takes " + (kernel.size() == 4 ? std::to_string(kernel[1]) : "none"),
                 where);
  ValueRef y =
      record::record(trace::internOp("dl.conv"), window(shape.stride, shape.padding).intern(), operands, where);
  if (!bias)
    return ops::wrap(std::move(y));
  ValueRef added = ops::valueOf(Arg(*bias, where));
  if (added->type->shape != Ints{kernel[0]})
    record::fail(ErrorKind::Type,
                 "conv2d: expected bias [" + std::to_string(kernel[0]) + "], got " + trace::str(added->type->shape),
                 where);
  return ops::wrap(ops::binary("add", y, ops::broadcast(added, y->type->shape, {1}, where), where));
}

namespace {
Tensor pooled(const char *op, const char *function, const Arg &x, const Pool2dShape &shape, bool countPadding) {
  ValueRef value = ops::valueOf(x);
  checkImage(function, value, x.where);
  trace::Attributes attributes = window(shape.stride.empty() ? shape.kernel : shape.stride, shape.padding);
  attributes.ints("kernel", shape.kernel).flag("count_include_pad", countPadding);
  return ops::wrap(record::record(trace::internOp(op), attributes.intern(), {&value, 1}, x.where));
}
} // namespace

Tensor max_pool2d(Arg x, Pool2dShape shape) { return pooled("dl.max_pool", "max_pool2d", x, shape, false); }
Tensor avg_pool2d(Arg x, Pool2dShape shape) { return pooled("dl.avg_pool", "avg_pool2d", x, shape, true); }

} // namespace dlc
