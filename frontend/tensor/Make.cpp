#include "ops/Primitive.h"
#include "record/Extract.h"
#include "record/Recording.h"
#include "record/Variable.h"

#include <cmath>

namespace dlc {

namespace {
using ops::Ints;

/// At the place where new tensors go.
Tensor placed(trace::TypeRef type, std::shared_ptr<record::Buffer> buffer, record::Place &place) {
  if (!place.isHost()) {
    auto there = record::Buffer::allocate(type->bytes, place);
    record::copyBytes(place, there->data, record::Place::host(), buffer->data, type->bytes, Where::current());
    buffer = std::move(there);
  }
  return record::makeTensor(record::concrete(type, std::move(buffer)));
}

record::Place &placeOf(const TensorOptions &options) {
  return options.device ? options.device->place() : record::makersPlace();
}

Tensor filled(const Shape &shape, const InitialValue &init, uint64_t seed, const TensorOptions &options) {
  DType dtype = options.dtype.value_or(f32);
  trace::TypeRef type = trace::internType(dtype, shape.vec());
  auto buffer = record::Buffer::allocate(type->bytes);
  record::check(fill(buffer->data, dtype, type->elements, init, seed), Where::current());
  return placed(type, std::move(buffer), placeOf(options));
}

Tensor random(const Shape &shape, InitialValue init, const TensorOptions &options) {
  if (record::Recording *recording = record::recording()) // drawn on the host, so anew at every call
    record::retrace(*recording, Where::current());
  uint64_t seed = 0;
  init.offset = record::nextRandomOffset(seed);
  return filled(shape, init, seed, options);
}
} // namespace

Tensor full(Shape shape, Number value, TensorOptions options) {
  return filled(shape, {.kind = InitialValue::Kind::Constant, .a = value.real}, 0, options);
}
Tensor full(Shape shape, Number value, DType dtype) { return full(std::move(shape), value, TensorOptions{dtype, {}}); }
Tensor zeros(Shape shape, TensorOptions options) { return filled(shape, {}, 0, options); }
Tensor zeros(Shape shape, DType dtype) { return zeros(std::move(shape), TensorOptions{dtype, {}}); }
Tensor ones(Shape shape, TensorOptions options) { return full(std::move(shape), 1, options); }
Tensor ones(Shape shape, DType dtype) { return full(std::move(shape), 1, dtype); }
Tensor zeros_like(const Tensor &x) { return zeros(x.shape(), {x.dtype(), x.device()}); }
Tensor ones_like(const Tensor &x) { return ones(x.shape(), {x.dtype(), x.device()}); }

Tensor arange(Number stop, std::optional<DType> dtype) { return arange(0, stop, 1, dtype); }
Tensor arange(Number stop, TensorOptions options) { return arange(0, stop, 1, options); }
Tensor arange(Number start, Number stop, Number step, std::optional<DType> dtype) {
  return arange(start, stop, step, TensorOptions{dtype, {}});
}

Tensor arange(Number start, Number stop, Number step, TensorOptions options) {
  bool isReal = false;
  for (const Number &number : {start, stop, step})
    isReal |= number.kind == Number::Kind::Real;
  if (step.real == 0)
    record::fail(ErrorKind::Value, "arange: step is 0", Where::current());
  auto count = static_cast<int64_t>(std::max(0.0, std::ceil((stop.real - start.real) / step.real)));
  DType element = options.dtype.value_or(isReal ? DType::F32 : DType::I64);
  trace::TypeRef type = trace::internType(element, Ints{count});
  auto buffer = record::Buffer::allocate(type->bytes);
  for (int64_t i = 0; i < count; ++i)
    record::storeNumber(start.real + static_cast<double>(i) * step.real, element,
                        static_cast<char *>(buffer->data) + i * byteSize(element));
  return placed(type, std::move(buffer), placeOf(options));
}

namespace {
Tensor fromDoubles(const std::vector<double> &values, const Shape &shape, DType dtype) {
  trace::TypeRef type = trace::internType(dtype, shape.vec());
  auto buffer = record::Buffer::allocate(type->bytes);
  for (size_t i = 0; i < values.size(); ++i)
    record::storeNumber(values[i], dtype,
                        static_cast<char *>(buffer->data) + static_cast<int64_t>(i) * byteSize(dtype));
  return placed(type, std::move(buffer), record::makersPlace());
}
} // namespace

Tensor tensor(double value, DType dtype) { return fromDoubles({value}, {}, dtype); }

Tensor tensor(std::initializer_list<double> values, DType dtype) {
  return fromDoubles(values, {static_cast<int64_t>(values.size())}, dtype);
}

Tensor tensor(std::initializer_list<std::initializer_list<double>> rows, DType dtype) {
  std::vector<double> values;
  for (const auto &row : rows) {
    if (row.size() != rows.begin()->size())
      record::fail(ErrorKind::Value, "tensor: rows of different lengths", Where::current());
    values.insert(values.end(), row.begin(), row.end());
  }
  return fromDoubles(values, {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.begin()->size())}, dtype);
}

Tensor from_blob(const void *data, Shape shape, DType dtype, std::function<void()> release) {
  trace::TypeRef type = trace::internType(dtype, shape.vec());
  auto buffer = std::make_shared<record::Buffer>(const_cast<void *>(data), type->bytes, std::move(release));
  return record::makeTensor(record::concrete(type, std::move(buffer)));
}

Tensor rand(Shape shape, TensorOptions options) {
  return random(shape, {.kind = InitialValue::Kind::Uniform, .a = 0, .b = 1}, options);
}
Tensor rand(Shape shape, DType dtype) { return rand(std::move(shape), TensorOptions{dtype, {}}); }
Tensor randn(Shape shape, TensorOptions options) {
  return random(shape, {.kind = InitialValue::Kind::Normal, .a = 0, .b = 1}, options);
}
Tensor randn(Shape shape, DType dtype) { return randn(std::move(shape), TensorOptions{dtype, {}}); }

Scalar::Scalar(double value, std::nullptr_t) {
  static std::atomic<int> count{0};
  int ordinal = count++;
  tensor = record::makeNumber(
      value, DType::F64, "hyper", [ordinal] { return "scalar." + std::to_string(ordinal); }, Where::current());
}

void Scalar::set(double value) {
  record::Storage &storage = *record::implOf(tensor, Where::current()).storage;
  if (!storage.variable)
    record::fail(ErrorKind::State, "set: this Scalar is an argument of a recorded function", Where::current());
  record::hostWrite(*storage.variable, &value, Where::current());
}

} // namespace dlc
