#include "dlc/frontend/Autocast.h"

#include "record/AutocastMode.h"
#include "record/Fault.h"

#include <map>

namespace dlc {

namespace record {

std::optional<DType> &autocastMode() {
  static thread_local std::optional<DType> mode;
  return mode;
}

trace::AttributesRef marked(trace::AttributesRef attributes) {
  std::optional<DType> mode = autocastMode();
  if (!mode)
    return attributes;
  static thread_local std::map<std::pair<trace::AttributesRef, DType>, trace::AttributesRef> known;
  trace::AttributesRef &found = known[{attributes, *mode}];
  if (!found)
    found =
        trace::Attributes().raw(*attributes + (attributes->empty() ? "" : ", ") + "dl.autocast", name(*mode)).intern();
  return found;
}

} // namespace record

Autocast::Autocast(DType dtype, bool enabled, Where where) : before(record::autocastMode()) {
  if (dtype != DType::BF16 && dtype != DType::F16)
    record::fail(ErrorKind::Value, "Autocast: expected bf16 or f16, got " + std::string(name(dtype)), where);
  record::autocastMode() = enabled ? std::optional(dtype) : std::nullopt;
}
Autocast::Autocast(bool enabled, Where where) : Autocast(DType::BF16, enabled, where) {}
Autocast::~Autocast() { record::autocastMode() = before; }

std::optional<DType> autocast_dtype() { return record::autocastMode(); }

} // namespace dlc
