#include "dlc/frontend/Control.h"

#include "dlc/frontend/Ops.h"
#include "grad/LeafGradients.h"
#include "ops/Control.h"
#include "record/Fault.h"
#include "record/Job.h"

#include <bit>

namespace dlc::detail {

using ops::ValueRef;
using record::LeafGradients;

namespace {

/// Micro-batches of equal size, and the rows that are left.
struct Cut {
  int64_t rows, size, whole, rest;
  /// Of the loops around a micro-batch, the outer one first.
  ops::Ints trips;

  Cut(int64_t n, const Tensor &x, const Tensor &y, Where where) {
    if (n < 1 || x.dim() == 0 || y.dim() == 0 || x.size(0) != y.size(0) || x.size(0) == 0)
      record::fail(ErrorKind::Value,
                   "accumulate: expected one micro-batch or more of x and y with as many rows, got " +
                       std::to_string(n) + " of " + x.shape().str() + " and " + y.shape().str(),
                   where);
    rows = x.size(0);
    const record::Job *job = record::job();
    bool isOrdered = job && job->leaves;
    if (isOrdered)
      n = inLeaves(n, *job, where);
    size = (rows + n - 1) / n;
    whole = rows / size;
    rest = rows % size;
    trips = {whole};
    if (isOrdered && whole > 1)
      trips.assign(size_t(std::countr_zero(uint64_t(whole))), 2);
  }

private:
  /// Sums over members do not depend on their number where each part is whole leaves of all of them; loops of two steps
  /// then add parts as the leaves' tree does.
  int64_t inLeaves(int64_t n, const record::Job &job, Where where) const {
    if (job.leaves % (n * job.members))
      record::fail(ErrorKind::Value,
                   "accumulate: expected a number of micro-batches that, times " + std::to_string(job.members) +
                       " members, divides the " + std::to_string(job.leaves) + " parts of invariant, got " +
                       std::to_string(n),
                   where);
    if (rows % job.leaves == 0)
      return n;
    if (n > 1)
      record::remark("accumulate: " + std::to_string(rows) + " rows are no multiple of the " +
                         std::to_string(job.leaves) + " parts of invariant; they are one micro-batch",
                     record::locate(where));
    return 1;
  }
};

/// All but the rest, by step of each loop.
ValueRef inParts(const ValueRef &value, const Cut &cut, Where where) {
  if (cut.whole == 1 && cut.rest == 0) {
    ops::Ints shape{1};
    shape.insert(shape.end(), value->type->shape.begin(), value->type->shape.end());
    return ops::reshape(value, shape, where);
  }
  ValueRef parts = ops::microBatches(value, 0, cut.whole, cut.size, where);
  ops::Ints shape = cut.trips;
  shape.insert(shape.end(), parts->type->shape.begin() + 1, parts->type->shape.end());
  return ops::reshape(parts, shape, where);
}

ValueRef restOf(const ValueRef &value, const Cut &cut, Where where) {
  ValueRef part = ops::microBatches(value, cut.rows - cut.rest, 1, cut.rest, where);
  ops::Ints shape = value->type->shape;
  shape[0] = cut.rest;
  return ops::reshape(part, shape, where);
}

/// The loss of some rows as its share of the batch's mean.
ValueRef weighted(const MicroBatchLoss &loss, const ValueRef &x, const ValueRef &y, double weight, Where where) {
  Tensor value = loss(ops::wrap(x), ops::wrap(y));
  if (!value.defined() || value.numel() != 1 || !ops::isFloat(value.dtype()))
    record::fail(ErrorKind::Gradient, "accumulate: expected a float loss of one element from f", where);
  ValueRef scalar = ops::reshape(record::valueOf(value, where), {}, where);
  return ops::binary("mul", scalar, ops::number(weight, scalar->type->dtype, where), where);
}

/// Records the loss and gradients of micro-batches.
class Accumulation {
public:
  using Values = std::vector<ValueRef>;

  Accumulation(const MicroBatchLoss &loss, Where where) : loss(loss), where(where) {}

  /// The loss, then the gradients of `owners`.
  Values ofRows(const ValueRef &x, const ValueRef &y, double weight) {
    record::EnableGradScope on(true);
    ValueRef share = weighted(loss, x, y, weight, where);
    LeafGradients found = record::gradientsOfLeaves("accumulate", share, {}, where);
    owners = found.owners;
    scaled = found.scaled;
    Values values{share};
    values.insert(values.end(), found.gradients.begin(), found.gradients.end());
    return values;
  }

  /// Their sums over parts, cut along as many leading dims as there are loops.
  Values ofParts(std::span<const int64_t> trips, const ValueRef &xs, const ValueRef &ys, double weight) {
    if (trips.empty())
      return ofRows(xs, ys, weight);
    auto step = [&](record::Body &body, const ops::ScanValues &now) {
      Values values = ofParts(trips.subspan(1), now.stacked[0], now.stacked[1], weight);
      record::EnableGradScope off(false);
      ops::ScanValues next;
      for (const ValueRef &value : values) {
        ValueRef sum = body.addArgument(value->type, value->place, false);
        next.sums.push_back({sum, ops::binary("add", sum, value, where)});
      }
      return next;
    };
    return ops::scan("accumulate", {{}, {xs, ys}, {}}, {.steps = trips[0], .gradients = false}, step, where).carried;
  }

  void addToLeaves(const Values &values) const {
    record::EnableGradScope off(false);
    for (size_t i = 0; i < owners.size(); ++i)
      record::addToLeaf(*owners[i], values[i + 1], scaled[i], where);
  }

private:
  const MicroBatchLoss &loss;
  Where where;
  std::vector<record::Ref<record::Storage>> owners;
  std::vector<std::optional<record::Scaled>> scaled;
};

} // namespace

Tensor accumulate(int64_t n, const MicroBatchLoss &loss, const Tensor &x, const Tensor &y, Where where) {
  Cut cut(n, x, y, where);
  if (x.requires_grad() || y.requires_grad())
    record::fail(ErrorKind::Gradient, "accumulate: expected a batch without gradients of its own", where);
  record::Body::prepare(where);
  ValueRef xs = record::valueOf(x, where), ys = record::valueOf(y, where);
  auto weightOf = [&](int64_t rows) { return double(rows) / double(cut.rows); };
  Accumulation parts(loss, where), rest(loss, where);
  std::vector<ValueRef> sums =
      parts.ofParts(cut.trips, inParts(xs, cut, where), inParts(ys, cut, where), weightOf(cut.size));
  ValueRef total = sums[0];
  if (cut.rest) {
    std::vector<ValueRef> last = rest.ofRows(restOf(xs, cut, where), restOf(ys, cut, where), weightOf(cut.rest));
    rest.addToLeaves(last);
    record::EnableGradScope off(false);
    total = ops::binary("add", total, last[0], where);
  }
  parts.addToLeaves(sums);
  return ops::wrap(total);
}

} // namespace dlc::detail
