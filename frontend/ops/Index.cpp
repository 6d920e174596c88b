#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"

namespace dlc {

using ops::Ints;
using ops::ValueRef;
using trace::Attributes;

namespace {
template <typename T>
void checkRange(const char *function, const ValueRef &index, int64_t extent, Where where) {
  const auto *elements = static_cast<const T *>(index->buffer->data);
  for (int64_t i = 0; i < index->type->elements; ++i)
    if (elements[i] < 0 || elements[i] >= extent)
      record::fail(ErrorKind::Value,
                   std::string(function) + ": index " + std::to_string(elements[i]) + " (element " + std::to_string(i) +
                       ") is outside [0, " + std::to_string(extent) + ")",
                   where);
}

/// Indices of i64 or i32; those that have a value on the cpu already are checked here. In a compiled step one outside
/// reads NaN and writes nothing.
ValueRef indexOf(const char *function, const Arg &index, int64_t extent, Where where) {
  ValueRef value = ops::valueOf(index);
  DType dtype = value->type->dtype;
  if (dtype != DType::I64 && dtype != DType::I32)
    record::fail(ErrorKind::Type,
                 std::string(function) + ": expected indices of i64 or i32, got " + trace::str(value->type), where);
  if (value->state == record::Value::State::Concrete && value->at().isHost()) {
    if (dtype == DType::I64)
      checkRange<int64_t>(function, value, extent, where);
    else
      checkRange<int32_t>(function, value, extent, where);
  }
  return value;
}

ValueRef gatherOp(const ValueRef &x, const ValueRef &index, int64_t axis, int64_t batchDims, Where where) {
  ValueRef operands[] = {x, index};
  return record::record(trace::internOp("dl.gather"),
                        Attributes().integer("axis", axis).integer("batch_dims", batchDims).intern(), operands, where);
}

ValueRef scatterOp(const char *kind, const ValueRef &x, const ValueRef &index, const ValueRef &updates, int64_t axis,
                   int64_t batchDims, Where where) {
  ValueRef operands[] = {x, index, updates};
  Attributes attributes;
  attributes.integer("axis", axis).integer("batch_dims", batchDims).raw("kind", kind);
  return record::record(trace::internOp("dl.scatter"), attributes.intern(), operands, where);
}
constexpr const char *adding = "#dl<scatter_kind(add)>", *setting = "#dl<scatter_kind(set)>";

/// The dim becomes the last one, and back.
ValueRef toLast(const ValueRef &x, int64_t dim, Where where) {
  Ints order;
  for (int64_t i = 0; i < ops::rank(x); ++i)
    if (i != dim)
      order.push_back(i);
  order.push_back(dim);
  return ops::permute(x, order, where);
}
ValueRef fromLast(const ValueRef &x, int64_t dim, Where where) {
  Ints order;
  for (int64_t i = 0; i < ops::rank(x); ++i)
    order.push_back(i < dim ? i : i == dim ? ops::rank(x) - 1 : i - 1);
  return ops::permute(x, order, where);
}

/// The first elements along each dim.
ValueRef cornerOf(const ValueRef &x, const Ints &shape, Where where) {
  if (x->type->shape == shape)
    return x;
  return ops::slice(x, Ints(shape.size()), shape, Ints(shape.size(), 1), where);
}
ValueRef grown(const ValueRef &x, const Ints &shape, double fill, Where where) {
  if (x->type->shape == shape)
    return x;
  Ints hi = shape;
  for (size_t i = 0; i < hi.size(); ++i)
    hi[i] -= x->type->shape[i];
  return ops::pad(x, ops::number(fill, x->type->dtype, where), Ints(hi.size()), hi, Ints(hi.size()), where);
}

/// An extent of `small` may be less than that of `large`, except along `dim`, where any will do.
void checkCovered(const char *function, const char *names, const ValueRef &small, const ValueRef &large, int64_t dim,
                  Where where) {
  const Ints &a = small->type->shape, &b = large->type->shape;
  bool covered = a.size() == b.size() && !a.empty();
  for (size_t i = 0; covered && i < a.size(); ++i)
    covered = static_cast<int64_t>(i) == dim || a[i] <= b[i];
  if (!covered)
    record::fail(ErrorKind::Type,
                 std::string(function) + ": " + names + " " + trace::str(a) + " and " + trace::str(b) +
                     "; expected as many dims, none of index larger" +
                     (dim < 0 ? "" : " except dim " + std::to_string(dim)),
                 where);
}

int64_t axisOf(const char *function, const ValueRef &x, int64_t dim, Where where) {
  if (x->type->shape.empty())
    record::fail(ErrorKind::Type, std::string(function) + ": expected a tensor with dims, got " + trace::str(x->type),
                 where);
  return ops::wrapDim(function, dim, ops::rank(x), where);
}

/// Updates as a tensor of x's dtype.
ValueRef updatesOf(const char *function, const Arg &source, const ValueRef &x, Where where) {
  ValueRef value = ops::valueOf(source, source.tensor ? std::optional<DType>() : x->type->dtype);
  if (value->type->dtype != x->type->dtype)
    record::fail(ErrorKind::Type,
                 std::string(function) + ": source is " + trace::str(value->type) + ", x is " + trace::str(x->type) +
                     "; expected one dtype",
                 where);
  if (x->type->dtype == DType::I1 && function != std::string("scatter"))
    record::fail(ErrorKind::Type, std::string(function) + ": not defined on i1; cast first", where);
  return value;
}

/// Where index is smaller than x, places outside are added to it, which receive nothing.
Tensor scatterAlong(const char *function, const char *kind, const Arg &x, int64_t dim, const Arg &index,
                    const Arg &source) {
  ValueRef value = ops::valueOf(x);
  record::PlaceScope scope(value->place);
  int64_t axis = axisOf(function, value, dim, x.where), last = ops::rank(value) - 1;
  const Ints &shape = value->type->shape;
  ValueRef at = indexOf(function, index, shape[static_cast<size_t>(axis)], x.where);
  checkCovered(function, "index and x are", at, value, axis, x.where);
  ValueRef updates = updatesOf(function, source, value, x.where);
  Ints places = at->type->shape, full = shape;
  full[static_cast<size_t>(axis)] = places[static_cast<size_t>(axis)];
  if (source.tensor) {
    checkCovered(function, "index and source are", at, updates, -1, x.where);
    updates = cornerOf(updates, places, x.where);
  } else {
    updates = ops::broadcastTo(updates, places, x.where);
  }
  at = toLast(grown(at, full, -1, x.where), axis, x.where);
  updates = toLast(grown(updates, full, 0, x.where), axis, x.where);
  ValueRef y = scatterOp(kind, toLast(value, axis, x.where), at, updates, last, last, x.where);
  return ops::wrap(fromLast(y, axis, x.where));
}
} // namespace

Tensor index_select(Arg x, int64_t dim, Arg index) {
  ValueRef value = ops::valueOf(x);
  int64_t axis = axisOf("index_select", value, dim, x.where);
  ValueRef at = indexOf("index_select", index, value->type->shape[static_cast<size_t>(axis)], x.where);
  if (ops::rank(at) > 1)
    record::fail(ErrorKind::Type, "index_select: expected indices of one dim, got " + trace::str(at->type), x.where);
  return ops::wrap(gatherOp(value, ops::reshape(at, {at->type->elements}, x.where), axis, 0, x.where));
}

Tensor gather(Arg x, int64_t dim, Arg index) {
  ValueRef value = ops::valueOf(x);
  int64_t axis = axisOf("gather", value, dim, x.where), last = ops::rank(value) - 1;
  Ints shape = value->type->shape;
  ValueRef at = indexOf("gather", index, shape[static_cast<size_t>(axis)], x.where);
  checkCovered("gather", "index and x are", at, value, axis, x.where);
  Ints corner = at->type->shape;
  corner[static_cast<size_t>(axis)] = shape[static_cast<size_t>(axis)];
  value = toLast(cornerOf(value, corner, x.where), axis, x.where);
  return ops::wrap(fromLast(gatherOp(value, toLast(at, axis, x.where), last, last, x.where), axis, x.where));
}

Tensor scatter(Arg x, int64_t dim, Arg index, Arg source) {
  return scatterAlong("scatter", setting, x, dim, index, source);
}

Tensor scatter_add(Arg x, int64_t dim, Arg index, Arg source) {
  return scatterAlong("scatter_add", adding, x, dim, index, source);
}

Tensor index_add(Arg x, int64_t dim, Arg index, Arg source) {
  ValueRef value = ops::valueOf(x);
  int64_t axis = axisOf("index_add", value, dim, x.where);
  ValueRef at = indexOf("index_add", index, value->type->shape[static_cast<size_t>(axis)], x.where);
  ValueRef updates = updatesOf("index_add", source, value, x.where);
  Ints expected = value->type->shape;
  expected[static_cast<size_t>(axis)] = at->type->elements;
  if (ops::rank(at) > 1 || updates->type->shape != expected)
    record::fail(ErrorKind::Type,
                 "index_add: index is " + trace::str(at->type->shape) + ", source " + trace::str(updates->type->shape) +
                     "; expected indices of one dim and a source of " + trace::str(expected),
                 x.where);
  return ops::wrap(
      scatterOp(adding, value, ops::reshape(at, {at->type->elements}, x.where), updates, axis, 0, x.where));
}

Tensor embedding(Arg indices, Arg weight, std::optional<int64_t> padding) {
  ValueRef table = ops::valueOf(weight);
  if (ops::rank(table) != 2)
    record::fail(ErrorKind::Type, "embedding: expected a weight of two dims, got " + trace::str(table->type),
                 indices.where);
  int64_t rows = table->type->shape[0];
  ValueRef at = indexOf("embedding", indices, rows, indices.where);
  ValueRef y = gatherOp(table, at, 0, 0, indices.where);
  if (!padding)
    return ops::wrap(y);
  if (*padding < -rows || *padding >= rows)
    record::fail(ErrorKind::Value,
                 "embedding: padding_idx " + std::to_string(*padding) + " is outside [" + std::to_string(-rows) + ", " +
                     std::to_string(rows) + ")",
                 indices.where);
  // No gradient reaches the padding row.
  record::PlaceScope scope(at->place);
  int64_t row = *padding < 0 ? *padding + rows : *padding;
  ValueRef number = ops::splat(static_cast<double>(row), at->type->dtype, at->type->shape, indices.where);
  ValueRef isPadding = ops::compare("eq", at, number, indices.where);
  Ints dims;
  for (int64_t i = 0; i < ops::rank(at); ++i)
    dims.push_back(i);
  isPadding = ops::broadcast(isPadding, y->type->shape, dims, indices.where);
  return ops::wrap(ops::select(isPadding, ops::stopGradient(y, indices.where), y, indices.where));
}

Tensor one_hot(Arg x, int64_t classes) {
  ValueRef value = ops::valueOf(x);
  if (value->type->dtype == DType::I64 || value->type->dtype == DType::I32)
    value = indexOf("one_hot", x, classes, x.where);
  record::PlaceScope scope(value->place);
  Ints shape = value->type->shape, dims;
  for (size_t i = 0; i < shape.size(); ++i)
    dims.push_back(static_cast<int64_t>(i));
  shape.push_back(classes);
  ValueRef index = ops::iota(DType::I64, shape, static_cast<int64_t>(shape.size()) - 1, x.where);
  ValueRef label = ops::broadcast(ops::cast(value, DType::I64, x.where), shape, dims, x.where);
  return ops::wrap(ops::cast(ops::compare("eq", label, index, x.where), DType::I64, x.where));
}

Tensor Tensor::index_select(int64_t dim, Arg index) const {
  return dlc::index_select(Arg(*this, index.where), dim, index);
}
Tensor Tensor::gather(int64_t dim, Arg index) const { return dlc::gather(Arg(*this, index.where), dim, index); }
Tensor Tensor::scatter(int64_t dim, Arg index, Arg source) const {
  return dlc::scatter(Arg(*this, index.where), dim, index, source);
}
Tensor Tensor::scatter_add(int64_t dim, Arg index, Arg source) const {
  return dlc::scatter_add(Arg(*this, index.where), dim, index, source);
}
Tensor Tensor::index_add(int64_t dim, Arg index, Arg source) const {
  return dlc::index_add(Arg(*this, index.where), dim, index, source);
}

} // namespace dlc
