#include "dlc/frontend/Checkpoint.h"

#include "dlc/runtime/Safetensors.h"
#include "record/Trace.h"

#include <cstring>

namespace dlc {

void save(const StateDict &state, const std::string &path, Where where) {
  std::vector<TensorView> views;
  std::vector<record::ValueRef> values; // views of tensors live until they are written
  for (const auto &[name, tensor] : state) {
    record::Impl &impl = record::implOf(tensor, where);
    void *data;
    if (impl.chain.empty()) {
      data = record::demand(*impl.storage, where);
    } else {
      values.push_back(record::valueOf(tensor, where));
      data = record::demand(values.back(), where);
    }
    views.push_back({name, impl.type->dtype, impl.type->shape, data});
  }
  if (Status status = writeSafetensors(path, views); !status.ok())
    record::fail(ErrorKind::File, status.message(), where);
}

StateDict load(const std::string &path, Where where) {
  auto file = Safetensors::open(path);
  if (!file.ok())
    record::fail(ErrorKind::File, file.status().message(), where);
  StateDict state;
  for (const TensorView &view : file->tensors()) {
    trace::TypeRef type = trace::internType(view.dtype, view.shape);
    auto buffer = record::Buffer::allocate(type->bytes);
    std::memcpy(buffer->data, view.data, static_cast<size_t>(type->bytes));
    state.add(view.name, record::makeTensor(record::concrete(type, std::move(buffer))));
  }
  return state;
}

} // namespace dlc
