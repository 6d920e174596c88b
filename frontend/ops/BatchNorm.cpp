#include "ops/BatchNorm.h"

#include "ops/Primitive.h"

namespace dlc {

using ops::ValueRef;

namespace {

/// Values of one element a channel, checked.
class Channels {
public:
  Channels(const ValueRef &x, Where where) : where(where) {
    const ops::Ints &shape = x->type->shape;
    if (shape.size() < 2)
      record::fail(ErrorKind::Type, "batch_norm: expected input [N, C, ...], got " + trace::str(shape), where);
    type = trace::internType(x->type->dtype, ops::Ints{shape[1]});
  }

  /// Appends the tensor if there is one; the part of `operandSegmentSizes`.
  std::string take(const char *name, const std::optional<Tensor> &given, std::vector<ValueRef> &operands) const {
    if (!given)
      return ", 0";
    operands.push_back(checked(name, *given));
    return ", 1";
  }
  ValueRef checked(const char *name, const Tensor &given) const {
    ValueRef value = ops::valueOf(Arg(given, where));
    if (value->type != type)
      record::fail(ErrorKind::Type,
                   std::string("batch_norm: expected ") + name + " " + trace::str(type) + ", got " +
                       trace::str(value->type),
                   where);
    return value;
  }

private:
  Where where;
  ops::TypeRef type;
};

/// Elements a channel; an Error if there is no variance of them.
double countOf(const ops::Ints &shape, Where where) {
  int64_t count = shape[0];
  for (size_t i = 2; i < shape.size(); ++i)
    count *= shape[i];
  if (count < 2)
    record::fail(ErrorKind::Value,
                 "batch_norm: expected more than one element a channel in training, got " + trace::str(shape), where);
  return static_cast<double>(count);
}

void follow(Tensor running, const ValueRef &statistic, double factor, const Arg &momentum, const Arg &rest) {
  Tensor value = ops::wrap(ops::stopGradient(statistic, momentum.where));
  if (factor != 1)
    value = value * factor;
  running.copy_(value * momentum + running * rest);
}

} // namespace

Tensor ops::batchNorm(const Arg &x, const std::optional<Tensor> &mean, const std::optional<Tensor> &var,
                      const BatchNormOptions &options, const Arg &momentum, const Arg &rest) {
  Where where = x.where;
  std::vector<ValueRef> operands{ops::floatOf("batch_norm", x)};
  ops::Ints shape = operands[0]->type->shape;
  Channels channels(operands[0], where);
  if (!(options.eps >= 0))
    record::fail(ErrorKind::Value, "batch_norm: eps must not be negative", where);
  if (!mean != !var || (!mean && !options.training))
    record::fail(ErrorKind::Value, "batch_norm: expected both running_mean and running_var, or none in training",
                 where);
  std::string segments = "array<i32: 1" + channels.take("weight", options.weight, operands);
  segments += channels.take("bias", options.bias, operands);
  if (options.training) {
    segments += ", 0, 0";
    if (mean)
      channels.checked("running_mean", *mean), channels.checked("running_var", *var);
  } else {
    segments += channels.take("running_mean", mean, operands);
    segments += channels.take("running_var", var, operands);
  }
  double count = options.training ? countOf(shape, where) : 0;
  trace::Attributes attributes;
  attributes.raw("operandSegmentSizes", segments + ">").real("eps", options.eps);
  std::vector<ValueRef> results =
      record::recordAll(trace::internOp("dl.batch_norm"), attributes.intern(), operands, where);
  if (options.training && mean) {
    follow(*mean, results[1], 1, momentum, rest);
    follow(*var, results[2], count / (count - 1), momentum, rest);
  }
  return ops::wrap(results[0]);
}

Tensor batch_norm(Arg x, const std::optional<Tensor> &running_mean, const std::optional<Tensor> &running_var,
                  const BatchNormOptions &options) {
  return ops::batchNorm(x, running_mean, running_var, options, Arg(options.momentum, x.where),
                        Arg(1 - options.momentum, x.where));
}

} // namespace dlc
