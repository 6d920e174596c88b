#include "record/Random.h"

#include "dlc/frontend/Ops.h"
#include "ops/Primitive.h"

namespace dlc {

Tensor dropout(Arg x, double p, bool training) {
  if (!(p >= 0 && p <= 1))
    record::fail(ErrorKind::Value, "dropout: expected p in [0, 1], got " + std::to_string(p), x.where);
  ops::ValueRef value = ops::floatOf("dropout", x);
  if (!training || p == 0)
    return x.tensor ? *x.tensor : ops::wrap(value);
  record::RandomOperands random = record::nextRandom(x.where);
  ops::ValueRef operands[] = {value, random.seed, random.offset};
  return ops::wrap(record::record(trace::internOp("dl.dropout"), trace::Attributes().real("p", p).intern(), operands,
                                  x.where, value->type));
}

} // namespace dlc
