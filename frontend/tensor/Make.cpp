#include "ops/Primitive.h"
#include "record/Extract.h"
#include "record/Recording.h"
#include "record/Variable.h"

#include <cmath>

namespace dlc {

namespace {
using ops::Ints;

/// At the place where new tensors go.
Tensor placed(trace::TypeRef type, std::shared_ptr<record::Buffer> buffer, record::Place &place, Where where) {
  if (!place.isHost()) {
    auto there = record::Buffer::allocate(type->bytes, place, where);
    record::copyBytes(place, there->data, record::Place::host(), buffer->data, type->bytes, where);
    buffer = std::move(there);
  }
  return record::makeTensor(record::concrete(type, std::move(buffer)));
}

record::Place &placeOf(const TensorOptions &options) {
  return options.device ? options.device->place() : record::makersPlace();
}

Tensor filled(const Shape &shape, const InitialValue &init, uint64_t seed, const TensorOptions &options, Where where) {
  DType dtype = options.dtype.value_or(f32);
  trace::TypeRef type = trace::internType(dtype, shape.vec());
  auto buffer = record::Buffer::allocate(type->bytes, record::Place::host(), where);
  record::check(fill(buffer->data, dtype, type->elements, init, seed), where);
  return placed(type, std::move(buffer), placeOf(options), where);
}

Tensor random(const Shape &shape, InitialValue init, const TensorOptions &options, Where where) {
  if (record::Recording *recording = record::recording()) // drawn on the host, so anew at every call
    record::retrace(*recording, where);
  uint64_t seed = 0;
  init.offset = record::nextRandomOffset(seed);
  return filled(shape, init, seed, options, where);
}
} // namespace

Tensor full(Shape shape, Number value, TensorOptions options, Where where) {
  return filled(shape, {.kind = InitialValue::Kind::Constant, .a = value.real}, 0, options, where);
}
Tensor full(Shape shape, Number value, DType dtype, Where where) {
  return full(std::move(shape), value, TensorOptions{dtype, {}}, where);
}
Tensor zeros(Shape shape, TensorOptions options, Where where) { return filled(shape, {}, 0, options, where); }
Tensor zeros(Shape shape, DType dtype, Where where) { return zeros(std::move(shape), TensorOptions{dtype, {}}, where); }
Tensor ones(Shape shape, TensorOptions options, Where where) { return full(std::move(shape), 1, options, where); }
Tensor ones(Shape shape, DType dtype, Where where) { return full(std::move(shape), 1, dtype, where); }
Tensor zeros_like(const Tensor &x, Where where) { return zeros(x.shape(), {x.dtype(), x.device()}, where); }
Tensor ones_like(const Tensor &x, Where where) { return ones(x.shape(), {x.dtype(), x.device()}, where); }

Tensor arange(Number stop, std::optional<DType> dtype, Where where) { return arange(0, stop, 1, dtype, where); }
Tensor arange(Number stop, TensorOptions options, Where where) { return arange(0, stop, 1, options, where); }
Tensor arange(Number start, Number stop, Number step, std::optional<DType> dtype, Where where) {
  return arange(start, stop, step, TensorOptions{dtype, {}}, where);
}

Tensor arange(Number start, Number stop, Number step, TensorOptions options, Where where) {
  bool isReal = false;
  for (const Number &number : {start, stop, step})
    isReal |= number.kind == Number::Kind::Real;
  if (step.real == 0)
    record::fail(ErrorKind::Value, "arange: step is 0", where);
  auto count = static_cast<int64_t>(std::max(0.0, std::ceil((stop.real - start.real) / step.real)));
  DType element = options.dtype.value_or(isReal ? DType::F32 : DType::I64);
  trace::TypeRef type = trace::internType(element, Ints{count});
  auto buffer = record::Buffer::allocate(type->bytes, record::Place::host(), where);
  for (int64_t i = 0; i < count; ++i)
    record::storeNumber(start.real + static_cast<double>(i) * step.real, element,
                        static_cast<char *>(buffer->data) + i * byteSize(element));
  return placed(type, std::move(buffer), placeOf(options), where);
}

namespace {
Tensor fromDoubles(const std::vector<double> &values, const Shape &shape, DType dtype, Where where) {
  trace::TypeRef type = trace::internType(dtype, shape.vec());
  auto buffer = record::Buffer::allocate(type->bytes, record::Place::host(), where);
  for (size_t i = 0; i < values.size(); ++i)
    record::storeNumber(values[i], dtype,
                        static_cast<char *>(buffer->data) + static_cast<int64_t>(i) * byteSize(dtype));
  return placed(type, std::move(buffer), record::makersPlace(), where);
}
} // namespace

Tensor tensor(double value, DType dtype, Where where) { return fromDoubles({value}, {}, dtype, where); }

Tensor tensor(std::initializer_list<double> values, DType dtype, Where where) {
  return fromDoubles(values, {static_cast<int64_t>(values.size())}, dtype, where);
}

Tensor tensor(std::initializer_list<std::initializer_list<double>> rows, DType dtype, Where where) {
  std::vector<double> values;
  for (const auto &row : rows) {
    if (row.size() != rows.begin()->size())
      record::fail(ErrorKind::Value, "tensor: rows of different lengths", where);
    values.insert(values.end(), row.begin(), row.end());
  }
  return fromDoubles(values, {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.begin()->size())}, dtype,
                     where);
}

Tensor from_blob(const void *data, Shape shape, DType dtype, std::function<void()> release) {
  trace::TypeRef type = trace::internType(dtype, shape.vec());
  auto buffer = std::make_shared<record::Buffer>(const_cast<void *>(data), type->bytes, std::move(release));
  return record::makeTensor(record::concrete(type, std::move(buffer)));
}

Tensor rand(Shape shape, TensorOptions options, Where where) {
  return random(shape, {.kind = InitialValue::Kind::Uniform, .a = 0, .b = 1}, options, where);
}
Tensor rand(Shape shape, DType dtype, Where where) { return rand(std::move(shape), TensorOptions{dtype, {}}, where); }
Tensor randn(Shape shape, TensorOptions options, Where where) {
  return random(shape, {.kind = InitialValue::Kind::Normal, .a = 0, .b = 1}, options, where);
}
Tensor randn(Shape shape, DType dtype, Where where) { return randn(std::move(shape), TensorOptions{dtype, {}}, where); }

Scalar::Scalar(double value, std::nullptr_t) {
  static std::atomic<int> count{0};
  int ordinal = count++;
  tensor = record::makeNumber(
      value, DType::F64, "hyper", [ordinal] { return "scalar." + std::to_string(ordinal); }, Where::current());
}

void Scalar::set(double value, Where where) {
  record::Storage &storage = *record::implOf(tensor, where).storage;
  if (!storage.variable)
    record::fail(ErrorKind::State, "set: this Scalar is an argument of a recorded function", where);
  record::hostWrite(*storage.variable, &value, where);
}

} // namespace dlc
