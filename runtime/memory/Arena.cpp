#include "dlc/runtime/Arena.h"

#include "dlc/runtime/Device.h"

namespace dlc::runtime {

Arena::~Arena() {
  if (base_)
    device->free(*this);
}

} // namespace dlc::runtime
