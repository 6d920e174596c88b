#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"

#include <cmath>

namespace dlc {

using ops::Ints;
using ops::ValueRef;

namespace {

constexpr const char *kName = "scaled_dot_product_attention";

[[noreturn]] void failWith(const std::string &message, Where where) {
  record::fail(ErrorKind::Type, std::string(kName) + ": " + message, where);
}

Ints batchOf(const ValueRef &x) { return Ints(x->type->shape.begin(), x->type->shape.end() - 2); }

/// The same rows for every batch.
ValueRef batched(const ValueRef &x, const Ints &batch, Where where) {
  Ints shape = batch;
  shape.insert(shape.end(), x->type->shape.end() - 2, x->type->shape.end());
  return ops::broadcastTo(x, shape, where);
}

void checkOperands(const ValueRef &q, const ValueRef &k, const ValueRef &v, Where where) {
  for (const ValueRef &x : {q, k, v})
    if (x->type->shape.size() < 2 || !ops::isFloat(x->type->dtype) || x->type->dtype != q->type->dtype)
      failWith("expected query, key and value [..., rows, width] of one float dtype, got " + trace::str(q->type) +
                   ", " + trace::str(k->type) + " and " + trace::str(v->type),
               where);
  const Ints &qs = q->type->shape, &ks = k->type->shape, &vs = v->type->shape;
  if (qs.back() != ks.back())
    failWith("query has rows of " + std::to_string(qs.back()) + " elements, key of " + std::to_string(ks.back()),
             where);
  if (ks[ks.size() - 2] != vs[vs.size() - 2])
    failWith("key has " + std::to_string(ks[ks.size() - 2]) + " rows, value " + std::to_string(vs[vs.size() - 2]),
             where);
}

/// A bool mask, or one of the query's dtype, of the scores' shape.
ValueRef maskOf(const Tensor &given, DType dtype, const Ints &scores, Where where) {
  ValueRef mask = ops::valueOf(Arg(given, where));
  if (!ops::isFloat(mask->type->dtype) && mask->type->dtype != DType::I1)
    failWith("expected attn_mask of bool or float, got " + trace::str(mask->type), where);
  if (ops::broadcastShapes(kName, mask->type->shape, scores, where) != scores)
    failWith("expected attn_mask to broadcast to " + trace::str(scores) + ", got " + trace::str(mask->type->shape),
             where);
  if (mask->type->dtype != DType::I1)
    mask = ops::cast(mask, dtype, where);
  return ops::broadcastTo(mask, scores, where);
}

} // namespace

Tensor scaled_dot_product_attention(Arg query, Arg key, Arg value, const AttentionOptions &options) {
  ValueRef q = ops::valueOf(query), k = ops::valueOf(key), v = ops::valueOf(value);
  Where where = query.where;
  checkOperands(q, k, v, where);
  Ints batch = ops::broadcastShapes(kName, batchOf(q), batchOf(k), where);
  batch = ops::broadcastShapes(kName, batch, batchOf(v), where);
  std::vector<ValueRef> operands{batched(q, batch, where), batched(k, batch, where), batched(v, batch, where)};
  if (options.attn_mask) {
    Ints scores = operands[0]->type->shape;
    scores.back() = k->type->shape[k->type->shape.size() - 2];
    operands.push_back(maskOf(*options.attn_mask, q->type->dtype, scores, where));
  }
  double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q->type->shape.back())));
  trace::Attributes attributes;
  attributes.flag("causal", options.is_causal).real("scale", scale);
  return ops::wrap(record::recordAll(trace::internOp("dl.attention"), attributes.intern(), operands, where)[0]);
}

} // namespace dlc
