#include "record/Random.h"

#include "record/Variable.h"

#include <cstring>

namespace dlc::record {

/// Given to programs, so that no program is made of it.
static ValueRef given(uint64_t number) {
  auto buffer = Buffer::allocate(sizeof number);
  std::memcpy(buffer->data, &number, sizeof number);
  return concrete(trace::internType(DType::I64, {}), std::move(buffer));
}

RandomOperands nextRandom(const std::source_location &where) {
  static const OpRef add = trace::internOp("dl.add");
  uint64_t seed = 0, offset = nextRandomOffset(seed);
  Recording *now = recording();
  if (!now)
    return {given(seed), given(offset)};
  if (!now->random)
    now->random = Recording::Random{offset, given(seed), given(offset)};
  if (offset == now->random->start)
    return {now->random->seed, now->random->base};
  ValueRef operands[] = {now->random->base,
                         recordNumber(static_cast<double>(offset - now->random->start), DType::I64, where)};
  return {now->random->seed, record(add, trace::Attributes().intern(), operands, where)};
}

} // namespace dlc::record
