#include "record/Random.h"

#include "record/Body.h"
#include "record/Variable.h"

#include <cstring>
#include <utility>

namespace dlc::record {

/// Given to programs, so that no program is made of it.
static ValueRef given(uint64_t number) {
  auto buffer = Buffer::allocate(sizeof number);
  std::memcpy(buffer->data, &number, sizeof number);
  return concrete(trace::internType(DType::I64, {}), std::move(buffer));
}

/// The innermost body whose steps count for themselves; null: none.
static Body *loopAround(Body *body) {
  while (body && !body->repeats())
    body = body->around();
  return body;
}

/// From the recording's base, made where there is none.
static Recording::Random &randomOf(Recording &recording, uint64_t seed, uint64_t offset) {
  if (!recording.random)
    recording.random = Recording::Random{offset, given(seed), given(offset)};
  return *recording.random;
}

static ValueRef seedFor(Body *loop) {
  if (loop && loop->draws)
    return loop->draws->seed;
  if (loop)
    return seedFor(loopAround(loop->around()));
  auto [seed, offset] = randomState();
  return recording() ? randomOf(*recording(), seed, offset).seed : given(seed);
}

static ValueRef behind(const ValueRef &base, uint64_t count, const std::source_location &where) {
  static const OpRef add = trace::internOp("dl.add");
  if (count == 0)
    return base;
  ValueRef operands[] = {base, recordNumber(static_cast<double>(count), DType::I64, where)};
  return record(add, trace::Attributes().intern(), operands, where);
}

RandomOperands nextRandom(const std::source_location &where, uint64_t count) {
  if (Body *loop = loopAround(threadState().body)) {
    if (!loop->draws)
      loop->draws = Body::Draws{seedFor(loop), loop->addArgument(trace::internType(DType::I64, {}), nullptr, false)};
    uint64_t before = std::exchange(loop->draws->count, loop->draws->count + count);
    return {loop->draws->seed, behind(loop->draws->base, before, where)};
  }
  uint64_t seed = 0, offset = takeRandomOffsets(count, seed);
  if (!recording())
    return {given(seed), given(offset)};
  const Recording::Random &random = randomOf(*recording(), seed, offset);
  return {random.seed, behind(random.base, offset - random.start, where)};
}

uint64_t drawnSoFar() {
  Body *loop = loopAround(threadState().body);
  return !loop ? randomState().second : loop->draws ? loop->draws->count : 0;
}

void setDrawnSoFar(uint64_t count) {
  if (Body *loop = loopAround(threadState().body); !loop)
    setRandomState({randomState().first, count});
  else if (loop->draws)
    loop->draws->count = count;
}

} // namespace dlc::record
