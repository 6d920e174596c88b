#include "record/Trace.h"

namespace dlc::record {

namespace {

[[noreturn]] void failMixed(OpRef op, const Value &a, const Value &b, const std::source_location &line) {
  const Place &other = a.place->isHost() ? *a.place : *b.place, &kept = a.place->isHost() ? *b.place : *a.place;
  std::string name = op->name.substr(op->name.find('.') + 1);
  fail(ErrorKind::Device,
       name + ": tensors are on " + a.place->name() + " (" + trace::str(a.type) + ") and on " + b.place->name() + " (" +
           trace::str(b.type) + "); move the one on " + other.name() + " with .to(\"" + kept.name() + "\")",
       line);
}

/// Of operands that are not all in one place.
Place *join(OpRef op, std::span<const ValueRef> operands, const std::source_location &line) {
  const Value *bound = nullptr;
  for (const ValueRef &operand : operands) {
    if (!operand->place || operand->isHostScalar())
      continue;
    if (!bound)
      bound = operand.get();
    else if (operand->place != bound->place)
      failMixed(op, *bound, *operand, line);
  }
  if (!bound)
    return &Place::host();
  if (!bound->place->isHost())
    for (const ValueRef &operand : operands)
      if (operand->isHostScalar() && !isAnywhere(*operand))
        demand(operand, line);
  return bound->place;
}

bool areScalars(std::span<const ValueRef> operands) {
  for (const ValueRef &operand : operands)
    if (operand->place && !operand->isHostScalar())
      return false;
  return true;
}

} // namespace

bool isAnywhere(const Value &value) {
  return !value.place || (value.isHostScalar() && (value.state != Value::State::Pending || value.floating));
}

Place *placeOf(OpRef op, std::span<const ValueRef> operands, const std::source_location &line) {
  Place *place = operands.empty() ? nullptr : operands.front()->place;
  for (const ValueRef &operand : operands)
    if (operand->place != place) {
      place = join(op, operands, line);
      break;
    }
  Place *wanted = threadState().place;
  if (!wanted || wanted == place || !areScalars(operands))
    return place;
  for (const ValueRef &operand : operands)
    if (!isAnywhere(*operand))
      demand(operand, line);
  return wanted;
}

} // namespace dlc::record
