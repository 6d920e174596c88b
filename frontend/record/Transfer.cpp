#include "record/Transfer.h"

#include "record/Job.h"
#include "record/Recording.h"

namespace dlc::record {

namespace {
HostBytes onHost(ValueRef value, const void *data, const std::source_location &where) {
  HostBytes bytes{data, std::move(value), {}};
  Value &read = *bytes.value;
  if (read.layout) {
    bytes.data = wholeOf(read, where);
    return bytes;
  }
  if (read.at().isHost())
    return bytes;
  bytes.copy = Buffer::allocate(read.type->bytes);
  copyBytes(Place::host(), bytes.copy->data, read.at(), data, read.type->bytes, where);
  bytes.data = bytes.copy->data;
  return bytes;
}
} // namespace

HostBytes readOnHost(Storage &storage, const std::source_location &where) {
  const void *data = demand(storage, where);
  return onHost(storage.value(), data, where);
}

HostBytes readOnHost(const Tensor &tensor, const std::source_location &where) {
  Impl &self = implOf(tensor, where);
  if (self.chain.empty())
    return readOnHost(*self.storage, where);
  ValueRef value = valueOf(tensor, where);
  const void *data = demand(value, where);
  return onHost(std::move(value), data, where);
}

ValueRef transfer(const ValueRef &value, Place &to, const std::source_location &where) {
  if (&value->at() == &to)
    return value;
  if (Recording *now = recording())
    retrace(*now, where, "a copy to another device ends a program");
  const void *data = demand(value, where);
  int64_t bytes = bytesHere(value->type, value->layout);
  auto buffer = Buffer::allocate(bytes, to, where);
  copyBytes(to, buffer->data, value->at(), data, bytes, where);
  ValueRef copy = concrete(value->type, std::move(buffer), value->layout);
  copy->exact = value->exact;
  if (value->requiresGrad && gradEnabled()) {
    copy->requiresGrad = true;
    copy->obstacle = std::make_unique<Obstacle>(Obstacle{Obstacle::Copied, {}, locate(where), {}});
  }
  return copy;
}

} // namespace dlc::record
