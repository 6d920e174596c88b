#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"
#include "record/Recording.h"

#include <numeric>

namespace dlc {

using ops::Ints;
using ops::ValueRef;

namespace {

[[noreturn]] void failInner(const Ints &a, const Ints &b, Where where) {
  std::string hint;
  int64_t inner = a.back();
  bool transposed = b.size() > 1 && b.back() == inner;
  hint = "; expected [" + std::to_string(inner) + (b.size() > 1 ? ", *" : "") + "] on the right";
  record::fail(ErrorKind::Type,
               "matmul: inner dims differ: " + trace::str(a) + " x " + trace::str(b) + hint +
                   (transposed || b.size() > 1 ? " (transpose it?)" : ""),
               where);
}

/// Leading dimensions broadcast, the last two stay.
ValueRef batched(const ValueRef &x, const Ints &batch, Where where) {
  Ints shape = batch;
  shape.insert(shape.end(), x->type->shape.end() - 2, x->type->shape.end());
  return ops::broadcastTo(x, shape, where);
}

} // namespace

Tensor matmul(Arg a, Arg b) {
  ValueRef left = ops::valueOf(a), right = ops::valueOf(b);
  Where where = a.where;
  DType dtype = ops::promote(left->type->dtype, right->type->dtype);
  if (!ops::isFloat(dtype))
    record::fail(
        ErrorKind::Type,
        "matmul: expected tensors of floats, got " + trace::str(left->type) + " and " + trace::str(right->type), where);
  left = ops::cast(left, dtype, where), right = ops::cast(right, dtype, where);
  Ints ls = left->type->shape, rs = right->type->shape;
  if (ls.empty() || rs.empty())
    record::fail(ErrorKind::Type, "matmul: expected at least one dim, got " + trace::str(ls) + " x " + trace::str(rs),
                 where);
  int64_t lr = static_cast<int64_t>(ls.size()), rr = static_cast<int64_t>(rs.size());
  if (ls.back() != (rr == 1 ? rs[0] : rs[rs.size() - 2]))
    failInner(ls, rs, where);
  if (rr <= 2) // also batches on the left: their dims are free
    return ops::wrap(ops::dotGeneral(left, right, {}, {}, {lr - 1}, {0}, where));
  if (lr == 1) {
    Ints order(static_cast<size_t>(rr - 2));
    std::iota(order.begin(), order.end(), 0);
    return ops::wrap(ops::dotGeneral(right, left, {}, {}, {rr - 2}, {0}, where));
  }
  if (lr == 2) {
    // [m, k] x [..., k, n]: the product has m first; it belongs before n.
    ValueRef product = ops::dotGeneral(right, left, {}, {}, {rr - 2}, {1}, where); // [..., n, m]
    Ints order(static_cast<size_t>(rr));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[static_cast<size_t>(rr - 1)], order[static_cast<size_t>(rr - 2)]);
    return ops::wrap(ops::permute(product, order, where));
  }
  Ints batch = ops::broadcastShapes("matmul", Ints(ls.begin(), ls.end() - 2), Ints(rs.begin(), rs.end() - 2), where);
  left = batched(left, batch, where), right = batched(right, batch, where);
  Ints dims(batch.size());
  std::iota(dims.begin(), dims.end(), 0);
  int64_t depth = static_cast<int64_t>(batch.size());
  return ops::wrap(ops::dotGeneral(left, right, dims, dims, {depth + 1}, {depth}, where));
}

Tensor Tensor::matmul(Arg other) const { return dlc::matmul(Arg(*this, other.where), other); }

Tensor linear(Arg x, Arg weight, std::optional<Tensor> bias) {
  ValueRef input = ops::valueOf(x), w = ops::valueOf(weight);
  Where where = x.where;
  const Ints &shape = input->type->shape, &ws = w->type->shape;
  if (ws.size() != 2)
    record::fail(ErrorKind::Type, "linear: expected weight [out, in], got " + trace::str(ws), where);
  if (shape.empty() || shape.back() != ws[1])
    record::fail(ErrorKind::Type,
                 "linear: input has " + (shape.empty() ? std::string("no") : std::to_string(shape.back())) +
                     " features, " + record::nameOf(*record::implOf(*weight.tensor, where).storage) + " " +
                     trace::str(ws) + " takes " + std::to_string(ws[1]),
                 where);
  if (input->type->dtype != w->type->dtype)
    record::fail(ErrorKind::Type, "linear: input is " + trace::str(input->type) + ", weight is " + trace::str(w->type),
                 where);
  ValueRef product = ops::dotGeneral(input, w, {}, {}, {static_cast<int64_t>(shape.size()) - 1}, {1}, where);
  if (!bias)
    return ops::wrap(std::move(product));
  ValueRef added = ops::valueOf(Arg(*bias, where));
  if (added->type->shape != Ints{ws[0]})
    record::fail(ErrorKind::Type,
                 "linear: expected bias [" + std::to_string(ws[0]) + "], got " + trace::str(added->type->shape), where);
  return ops::wrap(ops::binary("add", product, ops::broadcastTo(added, product->type->shape, where), where));
}

} // namespace dlc
