#include "dlc/frontend/Device.h"

#include "ops/Primitive.h"
#include "record/Extract.h"
#include "record/Transfer.h"

namespace dlc {

using record::Place;

Device::Device() : place_(&Place::host()) {}
Device::Device(const std::string &text, Where where) : place_(&Place::find(text, where)) {}
const std::string &Device::str() const { return place_->name(); }

DeviceScope::DeviceScope(Device device) : before(record::threadState().makers) {
  record::threadState().makers = &device.place();
}
DeviceScope::~DeviceScope() { record::threadState().makers = before; }

int device_count(const std::string &kind) { return Place::count(kind); }

MemoryStats memory_stats(const Device &device) {
  record::PlaceMemory memory = device.place().memory();
  return {memory.allocated, memory.reserved, memory.peak};
}

void release_unused() {
  record::cut(Where::current());
  record::forgetUnreachable();
  for (Place *place : Place::open())
    place->releaseUnused();
}

Device Tensor::device() const { return Device(record::placeOf(*this, Where::current())); }

Tensor Tensor::to(Device device, Where where) const {
  if (&record::placeOf(*this, where) == &device.place())
    return *this;
  return ops::wrap(record::transfer(record::valueOf(*this, where), device.place(), where));
}

Tensor Tensor::to(Device device, DType dtype, Where where) const { return to(dtype, where).to(device, where); }

} // namespace dlc
