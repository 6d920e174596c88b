#include "dlc/frontend/Nn.h"

#include "ops/Primitive.h"

namespace dlc::nn {

using ops::Ints;
using ops::ValueRef;

namespace {
const char *spelling(Reduction reduction) {
  switch (reduction) {
  case Reduction::Mean:
    return "#dl.loss_reduction<mean>";
  case Reduction::Sum:
    return "#dl.loss_reduction<sum>";
  case Reduction::None:
    return "#dl.loss_reduction<none>";
  }
  return "";
}

/// Classes last, everything else one dimension of rows.
ValueRef rowsOf(ValueRef x, Where where) {
  const Ints &shape = x->type->shape;
  if (shape.size() == 2)
    return x;
  if (shape.size() == 1)
    return ops::reshape(x, {1, shape[0]}, where);
  Ints order{0};
  for (size_t i = 2; i < shape.size(); ++i)
    order.push_back(static_cast<int64_t>(i));
  order.push_back(1);
  int64_t classes = shape[1], rows = classes ? x->type->elements / classes : 0;
  return ops::reshape(ops::permute(x, order, where), {rows, classes}, where);
}

/// Class indices that have a value already are checked here; in a compiled step a bad row does not count.
void checkIndices(const ValueRef &target, int64_t classes, int64_t ignored, Where where) {
  if (target->state != record::Value::State::Concrete || target->type->dtype != DType::I64 || !target->at().isHost())
    return;
  const auto *indices = static_cast<const int64_t *>(target->buffer->data);
  for (int64_t i = 0; i < target->type->elements; ++i)
    if (int64_t index = indices[i]; (index < 0 || index >= classes) && index != ignored)
      record::fail(ErrorKind::Value,
                   "cross_entropy: target " + std::to_string(index) + " of row " + std::to_string(i) +
                       " is outside [0, " + std::to_string(classes) + ")",
                   where);
}

Tensor withProbabilities(const Tensor &logits, const Tensor &target, const CrossEntropyOptions &options, Where where) {
  int64_t dim = logits.dim() == 1 ? 0 : 1;
  Tensor weights = target;
  if (options.label_smoothing != 0)
    weights = Arg(target, where) * (1 - options.label_smoothing) +
              options.label_smoothing / static_cast<double>(logits.size(dim));
  Tensor rows = -sum(Arg(Arg(weights, where) * log_softmax(Arg(logits, where), dim), where), dim);
  if (options.reduction == Reduction::None)
    return rows;
  return options.reduction == Reduction::Sum ? sum(Arg(rows, where)) : mean(Arg(rows, where));
}
} // namespace

Tensor mse_loss(Arg input, Arg target, MseOptions options) {
  Arg args[] = {input, target};
  if (input.tensor && target.tensor && input.tensor->shape() != target.tensor->shape())
    record::fail(ErrorKind::Type,
                 "mse_loss: input is " + input.tensor->shape().str() + ", target is " + target.tensor->shape().str() +
                     "; expected equal shapes",
                 input.where);
  std::vector<ValueRef> operands = ops::unify("mse_loss", args);
  if (!ops::isFloat(operands[0]->type->dtype))
    record::fail(ErrorKind::Type, "mse_loss: expected tensors of floats, got " + trace::str(operands[0]->type),
                 input.where);
  return ops::wrap(record::record(trace::internOp("dl.mse"),
                                  trace::Attributes().raw("reduction", spelling(options.reduction)).intern(), operands,
                                  input.where));
}

Tensor cross_entropy(Arg logits, Arg target, CrossEntropyOptions options) {
  Where where = logits.where;
  ValueRef x = ops::floatOf("cross_entropy", logits), y = ops::valueOf(target);
  const Ints &shape = x->type->shape;
  Ints rows = shape;
  if (!rows.empty())
    rows.erase(rows.begin() + (shape.size() == 1 ? 0 : 1));
  bool isFloat = ops::isFloat(y->type->dtype);
  if (isFloat && y->type->shape == shape && !shape.empty())
    return withProbabilities(*logits.tensor, *target.tensor, options, where);
  if (shape.empty() || isFloat || y->type->dtype == DType::I1 || y->type->shape != rows)
    record::fail(ErrorKind::Type,
                 "cross_entropy: target is " + trace::str(y->type) + "; expected i64 class indices " +
                     trace::str(rows) + " or probabilities " + trace::str(shape),
                 where);
  int64_t classes = shape[shape.size() == 1 ? 0 : 1];
  checkIndices(y, classes, options.ignore_index, where);
  ValueRef operands[] = {rowsOf(x, where), {}};
  operands[1] = ops::reshape(ops::cast(y, DType::I64, where), {operands[0]->type->shape[0]}, where);
  trace::Attributes attributes;
  attributes.raw("reduction", spelling(options.reduction))
      .real("label_smoothing", options.label_smoothing)
      .integer("ignore_index", options.ignore_index);
  ValueRef loss = record::record(trace::internOp("dl.cross_entropy"), attributes.intern(), operands, where);
  return ops::wrap(options.reduction == Reduction::None ? ops::reshape(loss, rows, where) : loss);
}

} // namespace dlc::nn
