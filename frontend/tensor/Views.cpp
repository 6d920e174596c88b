#include "ops/Primitive.h"
#include "record/Body.h"
#include "record/Recording.h"

#include <algorithm>
#include <numeric>

namespace dlc {

using ops::Ints;
using record::fail;
using record::Impl;
using record::implOf;
using record::TypeRef;
using record::ValueRef;
using record::ViewStep;

namespace record {

namespace {
ValueRef apply(const ViewStep &step, const ValueRef &x, const std::source_location &where) {
  switch (step.kind) {
  case ViewStep::Reshape:
    return ops::reshape(x, step.type->shape, where);
  case ViewStep::Permute:
    return ops::permute(x, step.a, where);
  case ViewStep::Slice:
    return ops::slice(x, step.a, step.b, step.c, where);
  case ViewStep::Expand:
    return ops::broadcastTo(x, step.type->shape, where);
  }
  return x;
}

/// Whether the value can be an operand of the current trace.
bool isReadable(const Value &value) {
  if (value.state == Value::State::Pending)
    return value.node->trace == &currentTrace();
  return value.state == Value::State::Concrete || value.state == Value::State::Variable ||
         (value.state == Value::State::Argument && threadState().recording);
}

/// After a change in place the leaf starts a new graph.
void makeLeafAgain(Storage &storage, const std::source_location &where) {
  record::Body::Before scope(storage);
  ValueRef value = storage.value();
  ValueRef leaf;
  if (value->state == Value::State::Concrete) {
    leaf = concrete(value->type, value->buffer, value->layout);
  } else {
    EnableGradScope off(false);
    leaf = ops::stopGradient(value, where);
  }
  leaf->requiresGrad = true;
  leaf->leaf = &storage;
  noteTouched(storage);
  storage.replace(std::move(leaf));
}
} // namespace

ValueRef valueOf(const Tensor &tensor, const std::source_location &where) {
  Impl &self = implOf(tensor, where);
  Storage &storage = *self.storage;
  noteRead(storage, where);
  if (gradEnabled() && storage.leafData && storage.leafData->requiresGrad && !storage.value()->requiresGrad) {
    if (storage.variable && !threadState().recording)
      cut(where); // rule (b): a step has written the parameter, the next one begins
    else
      makeLeafAgain(storage, where);
  }
  const ValueRef &base = storage.value();
  ValueRef value = base;
  if (!self.chain.empty()) {
    bool fits = self.cachedBase == base && self.cached && isReadable(*self.cached) &&
                (self.cached->requiresGrad == base->requiresGrad || !gradEnabled());
    if (fits && recording()) // what was read outside does not follow its base
      fits = self.cached->state != Value::State::Concrete;
    // Which part of a data set a view shows is no fact of the graph: it would compile anew for each.
    bool outside = base->state == Value::State::Concrete && !threadState().recording;
    ValueRef inPlace;
    if (!fits && outside && (!base->requiresGrad || !gradEnabled()))
      inPlace = viewInPlace(self, where);
    if (inPlace) {
      self.cached = std::move(inPlace);
      self.cachedBase = base;
    } else if (!fits) {
      for (const ViewStep &step : self.chain)
        value = apply(step, value, where);
      self.cached = value;
      self.cachedBase = base;
    }
    value = self.cached;
  }
  if (self.detached && value->requiresGrad && gradEnabled())
    value = ops::stopGradient(value, where);
  return value;
}

namespace {
/// The base with `part` in place of what the slice shows.
ValueRef insertSlice(const ValueRef &base, const ValueRef &part, const ViewStep &step,
                     const std::source_location &where) {
  const Ints &shape = base->type->shape, &partShape = part->type->shape;
  if (part->type->elements == 0)
    return base;
  Ints lo = step.a, hi(shape.size()), interior(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    interior[i] = step.c[i] - 1;
    hi[i] = shape[i] - lo[i] - (partShape[i] + (partShape[i] - 1) * interior[i]);
  }
  DType dtype = part->type->dtype;
  ValueRef padded = ops::pad(part, ops::number(0, dtype, where), lo, hi, interior, where);
  ValueRef inside =
      ops::pad(ops::splat(1, DType::I1, partShape, where), ops::number(0, DType::I1, where), lo, hi, interior, where);
  return ops::select(inside, padded, base, where);
}

/// The value before a step such that the step shows `changed`.
ValueRef invert(const ViewStep &step, const ValueRef &before, const ValueRef &changed, const char *name,
                const std::source_location &where) {
  switch (step.kind) {
  case ViewStep::Reshape:
    return ops::reshape(changed, before->type->shape, where);
  case ViewStep::Permute: {
    Ints inverse(step.a.size());
    for (size_t i = 0; i < inverse.size(); ++i)
      inverse[static_cast<size_t>(step.a[i])] = static_cast<int64_t>(i);
    return ops::permute(changed, inverse, where);
  }
  case ViewStep::Slice:
    return insertSlice(before, changed, step, where);
  case ViewStep::Expand:
    fail(ErrorKind::Value,
         std::string(name) + ": writing through expand would give one element several values; clone() it first", where);
  }
  return changed;
}
} // namespace

void write(const Tensor &tensor, ValueRef value, const char *name, const std::source_location &where) {
  Impl &self = implOf(tensor, where);
  Storage &storage = *self.storage;
  if (gradEnabled() && !self.detached && storage.leafData && storage.leafData->requiresGrad)
    fail(ErrorKind::Gradient,
         std::string(name) + ": in-place change of " + nameOf(storage) +
             ", which requires a gradient; wrap it in dlc::NoGrad",
         where);
  noteRead(storage, where);
  Place &place = storage.value()->at();
  if (&value->at() != &place)
    fail(ErrorKind::Device,
         std::string(name) + ": the tensor is on " + place.name() + ", the value on " + value->at().name() +
             "; move it with .to(\"" + place.name() + "\")",
         where);
  PlaceScope scope(&place);
  std::vector<ValueRef> before{storage.value()};
  for (size_t i = 0; i + 1 < self.chain.size(); ++i)
    before.push_back(apply(self.chain[i], before.back(), where));
  for (size_t i = self.chain.size(); i-- > 0;)
    value = invert(self.chain[i], before[i], value, name, where);

  noteTouched(storage);
  ++storage.version;
  if (Value &old = *storage.value(); old.leaf == &storage) {
    old.leaf = nullptr;
    currentTrace().leafWritten = true;
    old.obstacle = std::make_unique<Obstacle>(Obstacle{Obstacle::Overwritten, nameOf(storage), locate(where), {}});
  }
  if (storage.variable) {
    auto &dirty = currentTrace().dirty;
    if (std::find(dirty.begin(), dirty.end(), Ref<Storage>(&storage)) == dirty.end())
      dirty.emplace_back(&storage);
  }
  bool ran = value->state != Value::State::Pending && !recording();
  storage.replace(std::move(value));
  if (ran && std::exchange(currentTrace().leafWritten, false))
    dropStaleGraphs();
}

} // namespace record

namespace {

Tensor view(const Impl &base, ViewStep step, Ints strides, int64_t offset = 0) {
  record::ImplRef made(new Impl);
  made->storage = base.storage;
  made->chain = base.chain;
  made->type = step.type;
  made->chain.push_back(std::move(step));
  made->strides = std::move(strides);
  made->offset = base.offset + offset;
  made->detached = base.detached;
  return Tensor(made.leak());
}

/// Strides under which a row-major reading of the new shape shows the same elements, if there are any. From the last
/// dimension on, runs of old dimensions that lie densely in one another become runs of new ones.
std::optional<Ints> stridesOfReshape(TypeRef from, const Ints &strides, const Ints &shape) {
  if (from->elements == 0)
    return record::denseStrides(trace::internType(from->dtype, shape));
  const Ints &old = from->shape;
  Ints result(shape.size(), 1);
  size_t to = shape.size();
  int64_t run = 1, base = strides.empty() ? 1 : strides.back();
  for (size_t i = old.size(); i-- > 0;) {
    run *= old[i];
    if (i > 0 && (old[i - 1] == 1 || strides[i - 1] == run * base))
      continue;
    int64_t used = 1;
    while (to > 0 && (used < run || shape[to - 1] == 1)) {
      result[to - 1] = used * base;
      used *= shape[--to];
    }
    if (used != run)
      return {};
    run = 1;
    base = i > 0 ? strides[i - 1] : base;
  }
  return result;
}

/// The shape with -1 replaced by what the elements need.
Ints fullShape(const char *function, Ints shape, int64_t elements, const std::vector<int64_t> &from, Where where) {
  int64_t known = 1, hole = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && hole < 0)
      hole = static_cast<int64_t>(i);
    else
      known *= shape[i];
  }
  Ints asked = shape;
  if (hole >= 0 && known > 0 && elements % known == 0) {
    shape[static_cast<size_t>(hole)] = elements / known;
    known = elements;
  }
  if (known != elements || std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; }))
    fail(ErrorKind::Type,
         std::string(function) + ": shape " + trace::str(asked) + " does not hold the " + std::to_string(elements) +
             " elements of " + trace::str(from),
         where);
  return shape;
}

/// `identity` asks for a view or an Error; else a copy where no view is possible.
Tensor reshaped(const char *function, const Tensor &x, const Ints &asked, bool identity, Where where) {
  Impl &self = implOf(x, where);
  Ints shape = fullShape(function, asked, self.type->elements, self.type->shape, where);
  TypeRef type = trace::internType(self.type->dtype, shape);
  if (auto strides = stridesOfReshape(self.type, self.strides, shape))
    return view(self, {ViewStep::Reshape, type, {}, {}, {}}, std::move(*strides));
  if (identity)
    fail(ErrorKind::Type,
         std::string(function) + ": shape " + trace::str(shape) +
             " cannot be a view of this tensor's strides; use reshape()",
         where);
  return ops::wrap(ops::reshape(record::valueOf(x, where), shape, where));
}

} // namespace

Tensor Tensor::view(Shape shape, Where where) const { return reshaped("view", *this, shape.vec(), true, where); }
Tensor Tensor::reshape(Shape shape, Where where) const { return reshaped("reshape", *this, shape.vec(), false, where); }

Tensor Tensor::flatten(int64_t first, int64_t last, Where where) const {
  const Ints &shape = implOf(*this, where).type->shape;
  int64_t rank = static_cast<int64_t>(shape.size());
  if (rank == 0)
    return reshape({1}, where);
  first = ops::wrapDim("flatten", first, rank, where);
  last = ops::wrapDim("flatten", last, rank, where);
  if (first > last)
    fail(ErrorKind::Value, "flatten: first dim comes after the last", where);
  Ints flat(shape.begin(), shape.begin() + first);
  int64_t product = 1;
  for (int64_t i = first; i <= last; ++i)
    product *= shape[static_cast<size_t>(i)];
  flat.push_back(product);
  flat.insert(flat.end(), shape.begin() + last + 1, shape.end());
  return reshaped("flatten", *this, flat, false, where);
}

Tensor Tensor::permute(Dims order, Where where) const {
  Impl &self = implOf(*this, where);
  int64_t rank = dim();
  Ints list;
  for (int64_t dim : order.vec())
    list.push_back(ops::wrapDim("permute", dim, rank, where));
  Ints sorted = list;
  std::sort(sorted.begin(), sorted.end());
  bool complete = static_cast<int64_t>(sorted.size()) == rank;
  for (size_t i = 0; complete && i < sorted.size(); ++i)
    complete = sorted[i] == static_cast<int64_t>(i);
  if (!complete)
    fail(ErrorKind::Value,
         "permute: " + trace::str(order.vec()) + " is no order of the dims of " + trace::str(self.type->shape), where);
  Ints shape, strides;
  for (int64_t dim : list) {
    shape.push_back(self.type->shape[static_cast<size_t>(dim)]);
    strides.push_back(self.strides[static_cast<size_t>(dim)]);
  }
  return dlc::view(self, {ViewStep::Permute, trace::internType(self.type->dtype, shape), list, {}, {}},
                   std::move(strides));
}

Tensor Tensor::transpose(int64_t a, int64_t b, Where where) const {
  int64_t rank = dim();
  Ints order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  if (rank > 0)
    std::swap(order[static_cast<size_t>(ops::wrapDim("transpose", a, rank, where))],
              order[static_cast<size_t>(ops::wrapDim("transpose", b, rank, where))]);
  return permute(order, where);
}

Tensor Tensor::t(Where where) const {
  if (dim() > 2)
    fail(ErrorKind::Type, "t: expected at most 2 dims, got " + shape().str(), where);
  return dim() < 2 ? *this : transpose(0, 1, where);
}

Tensor Tensor::expand(Shape shape, Where where) const {
  Impl &self = implOf(*this, where);
  Ints to = shape.vec();
  size_t rank = self.type->shape.size();
  bool fits = to.size() >= rank;
  size_t lead = fits ? to.size() - rank : 0;
  Ints strides(to.size(), 0);
  for (size_t i = 0; fits && i < rank; ++i) {
    int64_t own = self.type->shape[i];
    int64_t &extent = to[lead + i];
    if (extent == -1)
      extent = own;
    fits = extent == own || own == 1;
    strides[lead + i] = extent == own ? self.strides[i] : 0;
  }
  if (!fits || std::any_of(to.begin(), to.end(), [](int64_t extent) { return extent < 0; }))
    fail(ErrorKind::Type, "expand: " + trace::str(self.type->shape) + " does not expand to " + shape.str(), where);
  return dlc::view(self, {ViewStep::Expand, trace::internType(self.type->dtype, to), {}, {}, {}}, std::move(strides));
}

Tensor Tensor::squeeze(Dims dims, Where where) const {
  Impl &self = implOf(*this, where);
  Ints drop = ops::wrapDims("squeeze", dims, dim(), where), shape;
  for (int64_t i = 0; i < dim(); ++i)
    if (int64_t extent = self.type->shape[static_cast<size_t>(i)];
        extent != 1 || std::find(drop.begin(), drop.end(), i) == drop.end())
      shape.push_back(extent);
  return reshaped("squeeze", *this, shape, false, where);
}

Tensor Tensor::unsqueeze(int64_t dim, Where where) const {
  Ints shape = implOf(*this, where).type->shape;
  int64_t at = ops::wrapDim("unsqueeze", dim, this->dim() + 1, where);
  shape.insert(shape.begin() + at, 1);
  return reshaped("unsqueeze", *this, shape, false, where);
}

Tensor Tensor::slice(int64_t dim, int64_t start, int64_t stop, int64_t step, Where where) const {
  Impl &self = implOf(*this, where);
  if (self.type->shape.empty())
    fail(ErrorKind::Type, "slice: a tensor of rank 0 has no dims", where);
  size_t at = static_cast<size_t>(ops::wrapDim("slice", dim, this->dim(), where));
  if (step < 1)
    fail(ErrorKind::Value, "slice: step is " + std::to_string(step) + ", expected at least 1", where);
  int64_t extent = self.type->shape[at];
  auto bound = [&](int64_t position) {
    return std::clamp<int64_t>(position < 0 ? position + extent : position, 0, extent);
  };
  start = bound(start);
  stop = std::max(bound(stop), start);
  Ints shape = self.type->shape, strides = self.strides;
  Ints starts(shape.size(), 0), limits = shape, steps(shape.size(), 1);
  starts[at] = start, limits[at] = stop, steps[at] = step;
  int64_t offset = start * strides[at];
  shape[at] = (stop - start + step - 1) / step;
  strides[at] *= step;
  return dlc::view(self,
                   {ViewStep::Slice, trace::internType(self.type->dtype, shape), std::move(starts), std::move(limits),
                    std::move(steps)},
                   std::move(strides), offset);
}

Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length, Where where) const {
  int64_t extent = size(dim, where);
  if (start < 0)
    start += extent;
  if (start < 0 || length < 0 || start + length > extent)
    fail(ErrorKind::Value,
         "narrow: " + std::to_string(length) + " elements from " + std::to_string(start) + " do not fit extent " +
             std::to_string(extent),
         where);
  return slice(dim, start, start + length, 1, where);
}

Tensor Tensor::select(int64_t dim, int64_t index, Where where) const {
  if (this->dim() == 0)
    fail(ErrorKind::Type, "select: a tensor of rank 0 has no dims", where);
  int64_t at = ops::wrapDim("select", dim, this->dim(), where), extent = size(at, where);
  if (index < -extent || index >= extent)
    fail(ErrorKind::Value,
         "index " + std::to_string(index) + " is outside dim " + std::to_string(at) + " of " + shape().str(), where);
  if (index < 0)
    index += extent;
  Tensor row = slice(at, index, index + 1, 1, where);
  Ints shape = row.shape().vec(), strides = row.strides();
  shape.erase(shape.begin() + at);
  strides.erase(strides.begin() + at);
  return dlc::view(*row.get(), {ViewStep::Reshape, trace::internType(dtype(), shape), {}, {}, {}}, std::move(strides));
}

Tensor Tensor::operator[](Index index) const { return this->index({index}, index.where); }

Tensor Tensor::index(std::initializer_list<Index> indices, Where where) const {
  Tensor result = *this;
  int64_t dim = 0;
  for (const Index &index : indices) {
    if (dim >= result.dim())
      fail(ErrorKind::Type, "index: more indices than dims of " + shape().str(), where);
    if (index.position) {
      result = result.select(dim, *index.position, index.where);
      continue;
    }
    int64_t extent = result.size(dim);
    result = result.slice(dim, index.slice.start.value_or(0), index.slice.stop.value_or(extent), index.slice.step,
                          index.where);
    ++dim;
  }
  return result;
}

Tensor Tensor::contiguous(Where where) const {
  return is_contiguous() ? *this : ops::wrap(record::valueOf(*this, where));
}

Tensor Tensor::detach() const {
  record::ImplRef made(new Impl);
  Impl &self = implOf(*this, Where::current());
  made->storage = self.storage;
  made->chain = self.chain;
  made->type = self.type;
  made->strides = self.strides;
  made->offset = self.offset;
  made->detached = true;
  return Tensor(made.leak());
}

Tensor Tensor::clone(Where where) const {
  // Values never change, so a copy is the same value in a storage of its own.
  Tensor copy = ops::wrap(record::valueOf(*this, where));
  copy.get()->detached = !record::gradEnabled();
  return copy;
}

} // namespace dlc
