#include "record/Storage.h"

#include "record/Recording.h"
#include "record/Variable.h"

namespace dlc::record {

void destroy(Storage *storage) { delete storage; }
void destroy(Impl *impl) { delete impl; }

uint64_t nextSerial() {
  static std::atomic<uint64_t> count{0};
  return count.fetch_add(1, std::memory_order_relaxed) + 1;
}

Storage::Storage(ValueRef value) : birth(recording() ? recording()->number : 0), serial(nextSerial()) {
  replace(std::move(value));
}

Storage::~Storage() {
  if (current->leaf == this)
    current->leaf = nullptr;
  if (variable) {
    variable->storage = nullptr;
    variable->state = {}; // it refers back to the variable
  }
}

void Storage::replace(ValueRef value) {
  if (current && current != value && current->leaf == this)
    current->leaf = nullptr;
  current = std::move(value);
}

std::string Scaled::text() const { return by->name + ", " + brief(site); }

Leaf &Storage::leaf() {
  if (!leafData)
    leafData = std::make_unique<Leaf>();
  return *leafData;
}

std::vector<int64_t> denseStrides(TypeRef type) {
  std::vector<int64_t> strides(type->shape.size());
  int64_t stride = 1;
  for (size_t i = strides.size(); i-- > 0; stride *= std::max<int64_t>(type->shape[i], 1))
    strides[i] = stride;
  return strides;
}

Tensor makeTensor(Ref<Storage> storage) {
  Impl *impl = new Impl;
  impl->type = storage->value()->type;
  impl->strides = denseStrides(impl->type);
  impl->storage = std::move(storage);
  Ref<Impl> counted(impl);
  return Tensor(counted.leak());
}

Tensor makeTensor(ValueRef value) { return makeTensor(Ref<Storage>(new Storage(std::move(value)))); }

Impl &implOf(const Tensor &tensor, const std::source_location &where) {
  if (!tensor.get())
    fail(ErrorKind::Value, "an undefined tensor has no value", where);
  return *tensor.get();
}

Place &placeOf(const Tensor &tensor, const std::source_location &where) {
  return implOf(tensor, where).storage->value()->at();
}

} // namespace dlc::record
