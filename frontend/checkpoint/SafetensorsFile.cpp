#include "dlc/frontend/Checkpoint.h"

#include "dlc/runtime/Safetensors.h"
#include "record/Trace.h"
#include "record/Transfer.h"

#include <cstring>

namespace dlc {

void save(const StateDict &state, const std::string &path, Where where) {
  std::vector<TensorView> views;
  std::vector<record::HostBytes> contents; // live until they are written
  contents.reserve(state.size());
  for (const auto &[name, tensor] : state) {
    contents.push_back(record::readOnHost(tensor, where));
    const trace::TensorType &type = *record::implOf(tensor, where).type;
    views.push_back({name, type.dtype, type.shape, contents.back().data});
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
