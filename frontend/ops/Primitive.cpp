#include "ops/Primitive.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace dlc::ops {

using record::fail;
using record::OpRef;
using trace::Attributes;

namespace {
OpRef op(const char *mnemonic) {
  // Mnemonics are literals: their addresses repeat.
  static thread_local std::map<const char *, OpRef> known;
  OpRef &found = known[mnemonic];
  if (!found)
    found = trace::internOp(std::string("dl.") + mnemonic);
  return found;
}

trace::AttributesRef none() {
  static const trace::AttributesRef empty = Attributes().intern();
  return empty;
}

TypeRef type(DType dtype, const Ints &shape) { return trace::internType(dtype, shape); }
} // namespace

int64_t wrapDim(const char *function, int64_t dim, int64_t rank, const Line &line) {
  int64_t bound = std::max<int64_t>(rank, 1);
  if (dim < -bound || dim >= bound)
    fail(ErrorKind::Value,
         std::string(function) + ": dim " + std::to_string(dim) + " is outside [" + std::to_string(-bound) + ", " +
             std::to_string(bound) + ")",
         line);
  return dim < 0 ? dim + bound : dim;
}

Ints wrapDims(const char *function, const Dims &dims, int64_t rank, const Line &line) {
  Ints list;
  for (int64_t dim : dims.vec())
    list.push_back(wrapDim(function, dim, rank, line));
  if (list.empty()) {
    list.resize(rank);
    std::iota(list.begin(), list.end(), 0);
  }
  std::sort(list.begin(), list.end());
  if (auto twice = std::adjacent_find(list.begin(), list.end()); twice != list.end())
    fail(ErrorKind::Value, std::string(function) + ": dim " + std::to_string(*twice) + " appears twice", line);
  if (rank == 0)
    list.clear();
  return list;
}

ValueRef unary(const char *name, const ValueRef &x, const Line &line) {
  return record::record(op(name), none(), {&x, 1}, line);
}

ValueRef binary(const char *name, const ValueRef &a, const ValueRef &b, const Line &line) {
  ValueRef operands[] = {a, b};
  return record::record(op(name), none(), operands, line);
}

ValueRef compare(const char *predicate, const ValueRef &a, const ValueRef &b, const Line &line) {
  static constexpr std::string_view order = "eqneltlegtge";
  size_t ordinal = order.find(predicate) / 2;
  ValueRef operands[] = {a, b};
  return record::record(op("compare"), Attributes().raw("predicate", std::to_string(ordinal) + " : i32").intern(),
                        operands, line, type(DType::I1, a->type->shape));
}

ValueRef select(const ValueRef &condition, const ValueRef &a, const ValueRef &b, const Line &line) {
  ValueRef operands[] = {condition, a, b};
  return record::record(op("select"), none(), operands, line, a->type);
}

ValueRef cast(const ValueRef &x, DType dtype, const Line &line) {
  if (x->type->dtype == dtype)
    return x;
  return record::record(op("cast"), none(), {&x, 1}, line, type(dtype, x->type->shape));
}

ValueRef stopGradient(const ValueRef &x, const Line &line) { return unary("stop_gradient", x, line); }

ValueRef number(double value, DType dtype, const Line &line) { return record::recordNumber(value, dtype, line); }

ValueRef splat(double value, DType dtype, const Ints &shape, const Line &line) {
  return broadcastTo(number(value, dtype, line), shape, line);
}

ValueRef iota(DType dtype, const Ints &shape, int64_t axis, const Line &line) {
  return record::record(op("iota"), Attributes().integer("axis", axis).intern(), {}, line, type(dtype, shape));
}

ValueRef reshape(const ValueRef &x, const Ints &shape, const Line &line) {
  if (x->type->shape == shape)
    return x;
  return record::record(op("reshape"), none(), {&x, 1}, line, type(x->type->dtype, shape));
}

ValueRef microBatches(const ValueRef &x, int64_t first, int64_t parts, int64_t size, const Line &line) {
  Ints shape{parts, size};
  shape.insert(shape.end(), x->type->shape.begin() + 1, x->type->shape.end());
  return record::record(op("micro_batches"), Attributes().integer("first", first).intern(), {&x, 1}, line,
                        type(x->type->dtype, shape));
}

ValueRef permute(const ValueRef &x, const Ints &order, const Line &line) {
  if (std::is_sorted(order.begin(), order.end()))
    return x;
  return record::record(op("transpose"), Attributes().ints("permutation", order).intern(), {&x, 1}, line);
}

ValueRef broadcast(const ValueRef &x, const Ints &shape, const Ints &dims, const Line &line) {
  return record::record(op("broadcast"), Attributes().ints("dims", dims).intern(), {&x, 1}, line,
                        type(x->type->dtype, shape));
}

ValueRef broadcastTo(const ValueRef &x, const Ints &shape, const Line &line) {
  if (x->type->shape == shape)
    return x;
  Ints dims(x->type->shape.size());
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(shape.size() - dims.size()));
  return broadcast(x, shape, dims, line);
}

ValueRef slice(const ValueRef &x, const Ints &starts, const Ints &limits, const Ints &strides, const Line &line) {
  return record::record(op("slice"),
                        Attributes().ints("starts", starts).ints("limits", limits).ints("strides", strides).intern(),
                        {&x, 1}, line);
}

ValueRef pad(const ValueRef &x, const ValueRef &value, const Ints &lo, const Ints &hi, const Ints &interior,
             const Line &line) {
  ValueRef operands[] = {x, value};
  return record::record(op("pad"), Attributes().ints("lo", lo).ints("hi", hi).ints("interior", interior).intern(),
                        operands, line);
}

ValueRef reduce(const char *name, const ValueRef &x, const Ints &axes, const Line &line) {
  return record::record(op(name), Attributes().ints("axes", axes).intern(), {&x, 1}, line);
}

ValueRef dotGeneral(const ValueRef &a, const ValueRef &b, const Ints &lhsBatch, const Ints &rhsBatch,
                    const Ints &lhsContract, const Ints &rhsContract, const Line &line) {
  ValueRef operands[] = {a, b};
  return record::record(op("dot_general"),
                        Attributes()
                            .ints("lhs_batch", lhsBatch)
                            .ints("rhs_batch", rhsBatch)
                            .ints("lhs_contract", lhsContract)
                            .ints("rhs_contract", rhsContract)
                            .intern(),
                        operands, line);
}

Ints broadcastShapes(const char *function, const Ints &a, const Ints &b, const Line &line) {
  size_t rank = std::max(a.size(), b.size());
  Ints result(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t left = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    int64_t right = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (left != right && left != 1 && right != 1)
      fail(ErrorKind::Type,
           std::string(function) + ": shapes " + trace::str(a) + " and " + trace::str(b) + " do not broadcast: dim " +
               std::to_string(i) + " is " + std::to_string(left) + " against " + std::to_string(right),
           line);
    result[i] = left == 1 ? right : left;
  }
  return result;
}

DType promote(DType a, DType b) {
  // i1 < i8 < i32 < i64 < f16, bf16 < f32 < f64. Of the two floats of 16 bits neither holds the other: f32 does.
  if (a != b && isFloat(a) && isFloat(b) && byteSize(a) == 2 && byteSize(b) == 2)
    return DType::F32;
  auto order = [](DType dtype) {
    switch (dtype) {
    case DType::I1:
      return 0;
    case DType::I8:
      return 1;
    case DType::I32:
      return 2;
    case DType::I64:
      return 3;
    case DType::F16:
    case DType::BF16:
      return 4;
    case DType::F32:
      return 5;
    case DType::F64:
      return 6;
    }
    return 6;
  };
  return order(a) < order(b) ? b : a;
}

namespace {
int kindOf(DType dtype) { return isFloat(dtype) ? 2 : dtype == DType::I1 ? 0 : 1; }
int kindOf(const Number &number) { return static_cast<int>(number.kind); }
DType defaultOf(int kind) { return kind == 2 ? DType::F32 : kind == 1 ? DType::I64 : DType::I1; }
} // namespace

DType resultType(std::span<const Arg> args) {
  // Tensors with dimensions decide; rank-0 tensors, then numbers, only raise the kind.
  std::optional<DType> dimensioned, scalar;
  int numbers = -1;
  auto join = [](std::optional<DType> &to, DType dtype) { to = to ? promote(*to, dtype) : dtype; };
  for (const Arg &arg : args) {
    if (arg.tensor && !arg.weak)
      join(arg.tensor->dim() ? dimensioned : scalar, arg.tensor->dtype());
    else
      numbers = std::max(numbers, arg.weak ? 2 : kindOf(arg.number));
  }
  std::optional<DType> result = dimensioned;
  if (scalar && (!result || kindOf(*scalar) > kindOf(*result)))
    result = scalar;
  if (numbers >= 0 && (!result || numbers > kindOf(*result)))
    result = defaultOf(numbers);
  return *result;
}

ValueRef valueOf(const Arg &arg, std::optional<DType> dtype) {
  if (arg.tensor) {
    ValueRef value = record::valueOf(*arg.tensor, arg.where);
    return dtype ? cast(value, *dtype, arg.where) : value;
  }
  return number(arg.number.real, dtype ? *dtype : defaultOf(kindOf(arg.number)), arg.where);
}

record::Place *commonPlace(std::span<const Arg> args) {
  record::Place *place = nullptr;
  for (const Arg &arg : args)
    if (arg.tensor)
      if (record::Place &own = record::placeOf(*arg.tensor, arg.where); !own.isHost())
        place = &own;
  return place;
}

std::vector<ValueRef> unify(const char *function, std::span<const Arg> args) {
  for (const Arg &arg : args)
    if (arg.tensor)
      record::implOf(*arg.tensor, arg.where);
  record::PlaceScope scope(commonPlace(args));
  DType dtype = resultType(args);
  Ints shape;
  bool first = true;
  for (const Arg &arg : args) {
    Ints own = arg.tensor ? arg.tensor->shape().vec() : Ints{};
    shape = first ? own : broadcastShapes(function, shape, own, args.front().where);
    first = false;
  }
  std::vector<ValueRef> values;
  for (const Arg &arg : args)
    values.push_back(broadcastTo(valueOf(arg, dtype), shape, arg.where));
  return values;
}

ValueRef floatOf(const char *function, const Arg &arg) {
  ValueRef value = valueOf(arg);
  if (!isFloat(value->type->dtype))
    fail(ErrorKind::Type, std::string(function) + ": expected a tensor of floats, got " + trace::str(value->type),
         arg.where);
  return value;
}

ValueRef asFloat(const Arg &arg) {
  ValueRef value = valueOf(arg);
  return isFloat(value->type->dtype) ? value : cast(value, DType::F32, arg.where);
}

} // namespace dlc::ops
