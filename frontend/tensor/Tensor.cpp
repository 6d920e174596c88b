#include "dlc/runtime/Float16.h"
#include "ops/Primitive.h"
#include "record/Job.h"
#include "record/Recording.h"
#include "record/Transfer.h"
#include "record/Variable.h"

#include <algorithm>
#include <cstring>

namespace dlc {

using record::fail;
using record::Impl;
using record::implOf;
using record::Ref;

int64_t Shape::numel() const {
  int64_t product = 1;
  for (int64_t extent : extents)
    product *= extent;
  return product;
}

std::string Shape::str() const { return trace::str(extents); }

Tensor::Tensor(record::Impl *impl) : impl(impl) {}
Tensor::Tensor(const Tensor &other) : impl(other.impl) { Ref<Impl>::retain(impl); }
Tensor::~Tensor() {
  if (impl)
    Ref<Impl>::release(impl);
}

Tensor &Tensor::operator=(const Tensor &other) & {
  if (this == &other)
    return *this;
  Ref<Impl>::retain(other.impl);
  Impl *before = std::exchange(impl, other.impl);
  if (before) {
    record::noteRebound(*before);
    Ref<Impl>::release(before);
  }
  return *this;
}

Tensor &Tensor::operator=(Tensor &&other) & noexcept {
  if (this == &other)
    return *this;
  Impl *before = std::exchange(impl, std::exchange(other.impl, nullptr));
  if (before) {
    record::noteRebound(*before);
    Ref<Impl>::release(before);
  }
  return *this;
}

Tensor::operator bool() const {
  // No location can be passed: the line of the producing operation stands in.
  const record::ValueRef &value = implOf(*this, Where::current()).storage->value();
  return itemNumber(value->node ? value->node->site.line : Where::current()) != 0;
}

Shape Tensor::shape() const { return Shape(implOf(*this, Where::current()).type->shape); }
int64_t Tensor::dim() const { return static_cast<int64_t>(implOf(*this, Where::current()).type->shape.size()); }
int64_t Tensor::numel() const { return implOf(*this, Where::current()).type->elements; }
DType Tensor::dtype() const { return implOf(*this, Where::current()).type->dtype; }

int64_t Tensor::size(int64_t dim, Where where) const {
  const auto &shape = implOf(*this, where).type->shape;
  if (shape.empty())
    fail(ErrorKind::Value, "size: a tensor of rank 0 has no dims", where);
  return shape[static_cast<size_t>(ops::wrapDim("size", dim, static_cast<int64_t>(shape.size()), where))];
}

bool Tensor::requires_grad() const {
  Impl &self = implOf(*this, Where::current());
  if (self.detached)
    return false;
  return self.storage->value()->requiresGrad || (self.storage->leafData && self.storage->leafData->requiresGrad);
}

bool Tensor::is_leaf() const {
  Impl &self = implOf(*this, Where::current());
  return !requires_grad() || (self.chain.empty() && self.storage->leafData && self.storage->leafData->requiresGrad);
}

std::vector<int64_t> Tensor::strides() const { return implOf(*this, Where::current()).strides; }

bool Tensor::is_contiguous() const {
  Impl &self = implOf(*this, Where::current());
  std::vector<int64_t> dense = record::denseStrides(self.type);
  for (size_t i = 0; i < dense.size(); ++i)
    if (self.type->shape[i] != 1 && self.strides[i] != dense[i])
      return self.type->elements == 0;
  return true;
}

bool Tensor::shares_storage_with(const Tensor &other) const {
  return impl && other.impl && impl->storage == other.impl->storage;
}

const void *Tensor::read(DType dtype, Where where) const {
  Impl &self = implOf(*this, where);
  if (self.type->dtype != dtype)
    fail(ErrorKind::Type,
         "data: the tensor is " + std::string(name(self.type->dtype)) + ", asked for as " + std::string(name(dtype)),
         where);
  if (record::Place &place = record::placeOf(*this, where); !place.isHost())
    fail(ErrorKind::Device,
         "data: the tensor is on " + place.name() +
             ", whose memory the host cannot read; copy it with .to(\"cpu\"), to_vector() or item()",
         where);
  if (self.chain.empty()) {
    const void *data = record::demand(*self.storage, where);
    record::Value &value = *self.storage->value();
    return value.layout ? record::wholeOf(value, where) : data;
  }
  // A strided view is computed once and kept with the handle.
  record::ValueRef value = record::valueOf(*this, where);
  const void *data = record::demand(value, where);
  return value->layout ? record::wholeOf(*value, where) : data;
}

namespace {
template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<double> : std::integral_constant<DType, DType::F64> {};
template <>
struct DTypeOf<float> : std::integral_constant<DType, DType::F32> {};
template <>
struct DTypeOf<int64_t> : std::integral_constant<DType, DType::I64> {};
template <>
struct DTypeOf<int32_t> : std::integral_constant<DType, DType::I32> {};
template <>
struct DTypeOf<int8_t> : std::integral_constant<DType, DType::I8> {};
template <>
struct DTypeOf<bool> : std::integral_constant<DType, DType::I1> {};

template <typename T, typename To>
To elementAs(const void *data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  if constexpr (std::is_class_v<T>)
    return static_cast<To>(static_cast<float>(value));
  else
    return static_cast<To>(value);
}

template <typename To>
To convertElement(const void *data, DType dtype, int64_t i) {
  using Read = To (*)(const void *, int64_t);
  static constexpr Read reads[] = {elementAs<double, To>,  elementAs<float, To>,   elementAs<int64_t, To>,
                                   elementAs<int32_t, To>, elementAs<int8_t, To>,  elementAs<int8_t, To>,
                                   elementAs<Float16, To>, elementAs<BFloat16, To>};
  return reads[static_cast<size_t>(dtype)](data, i);
}
} // namespace

double Tensor::itemNumber(Where where) const {
  Impl &self = implOf(*this, where);
  if (self.type->elements != 1)
    fail(ErrorKind::Value, "item: expected one element, got shape " + trace::str(self.type->shape), where);
  // A loss is read at every step: nothing is counted or copied on the way.
  if (self.chain.empty() && self.storage->value()->at().isHost()) {
    const void *data = record::demand(*self.storage, where);
    if (!self.storage->value()->layout)
      return convertElement<double>(data, self.type->dtype, 0);
  }
  return convertElement<double>(record::readOnHost(*this, where).data, self.type->dtype, 0);
}

template <typename T>
std::span<const T> Tensor::data(Where where) const {
  return {static_cast<const T *>(read(DTypeOf<T>::value, where)), static_cast<size_t>(numel())};
}

template <typename T>
std::vector<T> Tensor::to_vector(Where where) const {
  record::HostBytes bytes = record::readOnHost(*this, where);
  std::vector<T> elements;
  elements.reserve(static_cast<size_t>(numel()));
  for (int64_t i = 0; i < numel(); ++i)
    elements.push_back(convertElement<T>(bytes.data, dtype(), i));
  return elements;
}

template <typename T>
Tensor tensor(std::span<const T> values, Shape shape, Where where) {
  trace::TypeRef type = trace::internType(DTypeOf<T>::value, shape.vec());
  if (type->elements != static_cast<int64_t>(values.size()))
    fail(ErrorKind::Value, "tensor: " + std::to_string(values.size()) + " elements do not fill shape " + shape.str(),
         where);
  auto buffer = record::Buffer::allocate(type->bytes);
  std::memcpy(buffer->data, values.data(), values.size_bytes());
  return record::makeTensor(record::transfer(record::concrete(type, std::move(buffer)), record::makersPlace(), where));
}

#define DLC_ELEMENT(T)                                                                                                 \
  template std::span<const T> Tensor::data<T>(Where) const;                                                            \
  template std::vector<T> Tensor::to_vector<T>(Where) const;                                                           \
  template Tensor tensor<T>(std::span<const T>, Shape, Where);
DLC_ELEMENT(double)
DLC_ELEMENT(float)
DLC_ELEMENT(int64_t)
DLC_ELEMENT(int32_t)
DLC_ELEMENT(int8_t)
#undef DLC_ELEMENT
template std::span<const bool> Tensor::data<bool>(Where) const;

void sync() { record::cut(Where::current()); }

} // namespace dlc
