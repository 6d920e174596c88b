#include "record/Storage.h"
#include "record/Trace.h"

#include <cstring>

namespace dlc::record {

namespace {

/// Elements in row-major order of the view, a run of the last dimension at a time.
void copyStrided(const Impl &view, const char *from, char *to) {
  const std::vector<int64_t> &shape = view.type->shape, &strides = view.strides;
  const int64_t size = byteSize(view.type->dtype);
  const size_t rank = shape.size();
  const int64_t run = rank ? shape[rank - 1] : 1, step = rank ? strides[rank - 1] : 1;
  std::vector<int64_t> index(rank, 0);
  for (int64_t done = 0; done < view.type->elements; done += run) {
    int64_t at = 0;
    for (size_t i = 0; i + 1 < rank; ++i)
      at += index[i] * strides[i];
    if (step == 1) {
      std::memcpy(to, from + at * size, static_cast<size_t>(run * size));
      to += run * size;
    } else {
      for (int64_t i = 0; i < run; ++i, to += size)
        std::memcpy(to, from + (at + i * step) * size, static_cast<size_t>(size));
    }
    for (size_t i = rank - 1; i-- > 0;) {
      if (++index[i] < shape[i])
        break;
      index[i] = 0;
    }
  }
}

/// Whether the view has all elements of a split value in its order, and the split dimension as it is: then members have
/// the same memory of both.
bool sameRows(const Impl &view, const Value &shown) {
  size_t dim = static_cast<size_t>(shown.layout->dim);
  const std::vector<int64_t> &before = shown.type->shape, &after = view.type->shape;
  if (view.strides != denseStrides(view.type) || view.type->elements != shown.type->elements || dim >= after.size())
    return false;
  int64_t outer = 1, outerBefore = 1;
  for (size_t i = 0; i < dim; ++i)
    outer *= after[i], outerBefore *= before[i];
  return outer == outerBefore && before[dim] == after[dim];
}

} // namespace

ValueRef viewInPlace(const Impl &view, const std::source_location &where) {
  const Value &shown = *view.storage->value();
  const std::shared_ptr<Buffer> &base = shown.buffer;
  if (shown.layout)
    return sameRows(view, shown) ? concrete(view.type, base, shown.layout) : ValueRef();
  char *first = static_cast<char *>(base->data) + view.offset * byteSize(view.type->dtype);
  std::vector<int64_t> dense = denseStrides(view.type);
  bool isDense = true;
  for (size_t i = 0; i < dense.size(); ++i)
    isDense &= view.type->shape[i] == 1 || view.strides[i] == dense[i];
  // Kernels of other places than the host read pieces of 64 bytes.
  bool readable = base->place->isHost() || reinterpret_cast<uintptr_t>(first) % 64 == 0;
  if ((isDense && readable) || view.type->elements == 0)
    return concrete(view.type, std::make_shared<Buffer>(first, view.type->bytes, [base] {}, *base->place));
  if (!base->place->isHost() && !isDense)
    return {};
  if (isDense) {
    auto copy = Buffer::allocate(view.type->bytes, *base->place);
    copyBytes(*base->place, copy->data, *base->place, first, view.type->bytes, where);
    return concrete(view.type, std::move(copy));
  }
  auto copy = Buffer::allocate(view.type->bytes);
  copyStrided(view, first, static_cast<char *>(copy->data));
  return concrete(view.type, std::move(copy));
}

} // namespace dlc::record
