#include "ops/Primitive.h"
#include "record/Trace.h"

namespace dlc {

using ops::ValueRef;

namespace {

/// `value` in the tensor's dtype and shape, as PyTorch's in-place operations want it.
ValueRef fitted(const Tensor &self, const Arg &value, const char *name) {
  trace::TypeRef type = record::implOf(self, value.where).type;
  record::Place &place = record::placeOf(self, value.where);
  if (value.tensor && &record::placeOf(*value.tensor, value.where) != &place)
    return fitted(self, Arg(value.tensor->to(Device(place), value.where), value.where), name);
  record::PlaceScope scope(&place);
  ValueRef result = ops::valueOf(value, value.tensor ? std::optional<DType>() : type->dtype);
  if (ops::broadcastShapes(name, type->shape, result->type->shape, value.where) != type->shape)
    record::fail(ErrorKind::Type,
                 std::string(name) + ": shape " + trace::str(result->type->shape) + " does not fit into " +
                     trace::str(type->shape),
                 value.where);
  return ops::broadcastTo(ops::cast(result, type->dtype, value.where), type->shape, value.where);
}

Tensor &update(Tensor &self, const char *op, const char *name, const Arg &other) {
  Arg args[] = {Arg(self, other.where), other};
  record::PlaceScope scope(&record::placeOf(self, other.where));
  DType dtype = ops::resultType(args), own = self.dtype();
  if (ops::isFloat(dtype) != ops::isFloat(own) && !ops::isFloat(own))
    record::fail(ErrorKind::Type,
                 std::string(name) + ": result is " + std::string(dlc::name(dtype)) + ", cannot be stored in " +
                     std::string(dlc::name(own)),
                 other.where);
  ValueRef right = ops::valueOf(other, dtype);
  if (ops::broadcastShapes(name, self.shape().vec(), right->type->shape, other.where) != self.shape().vec())
    record::fail(ErrorKind::Type,
                 std::string(name) + ": shape " + trace::str(right->type->shape) + " does not fit into " +
                     self.shape().str(),
                 other.where);
  right = ops::broadcastTo(right, self.shape().vec(), other.where);
  ValueRef left = ops::cast(record::valueOf(self, other.where), dtype, other.where);
  record::write(self, ops::cast(ops::binary(op, left, right, other.where), own, other.where), name, other.where);
  return self;
}

} // namespace

Tensor &Tensor::add_(Arg other) { return update(*this, "add", "add_", other); }
Tensor &Tensor::sub_(Arg other) { return update(*this, "sub", "sub_", other); }
Tensor &Tensor::mul_(Arg other) { return update(*this, "mul", "mul_", other); }
Tensor &Tensor::div_(Arg other) {
  if (!ops::isFloat(dtype()))
    record::fail(ErrorKind::Type,
                 "div_: the quotient of integers is f32, cannot be stored in " + std::string(name(dtype())),
                 other.where);
  return update(*this, "div", "div_", other);
}
Tensor &Tensor::operator+=(Arg other) { return add_(other); }
Tensor &Tensor::operator-=(Arg other) { return sub_(other); }
Tensor &Tensor::operator*=(Arg other) { return mul_(other); }
Tensor &Tensor::operator/=(Arg other) { return div_(other); }

Tensor &Tensor::copy_(Arg other) {
  record::write(*this, fitted(*this, other, "copy_"), "copy_", other.where);
  return *this;
}

void Tensor::operator=(Arg value) && { record::write(*this, fitted(*this, value, "copy_"), "copy_", value.where); }

Tensor &Tensor::fill_(Arg value) {
  record::write(*this, fitted(*this, value, "fill_"), "fill_", value.where);
  return *this;
}

Tensor &Tensor::zero_(Where where) { return fill_(Arg(0, where)); }

} // namespace dlc
