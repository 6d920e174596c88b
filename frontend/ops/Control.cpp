#include "dlc/frontend/Control.h"

#include "ops/Control.h"
#include "record/Random.h"

#include <algorithm>

namespace dlc {

namespace ops {

using record::Body;

static std::string str(const char *function, const char *what, size_t index, TypeRef expected, TypeRef got) {
  return std::string(function) + ": expected " + what + " " + std::to_string(index) + " to be " + trace::str(expected) +
         ", got " + trace::str(got);
}

static TypeRef sliceType(TypeRef type) { return trace::internType(type->dtype, std::span(type->shape).subspan(1)); }

static TypeRef stackedType(TypeRef type, int64_t steps) {
  Ints shape{steps};
  shape.insert(shape.end(), type->shape.begin(), type->shape.end());
  return trace::internType(type->dtype, shape);
}

static record::AttributesRef scanAttributes(int64_t steps, bool reverse, size_t carried, size_t sliced, size_t whole) {
  std::string sizes =
      "array<i32: " + std::to_string(carried) + ", " + std::to_string(sliced) + ", " + std::to_string(whole) + ">";
  trace::Attributes attributes;
  attributes.integer("trips", steps).raw("operandSegmentSizes", sizes);
  if (reverse)
    attributes.flag("backwards");
  return attributes.intern();
}

/// What derivatives would pass through unseen.
static void refuseOutsideGraph(const char *function, std::span<const ValueRef> captured, const Line &line) {
  for (const ValueRef &value : captured)
    if (value->requiresGrad && !value->leaf)
      record::fail(ErrorKind::Gradient,
                   std::string(function) + ": f uses a value that was computed from parameters outside (" +
                       (value->node ? record::brief(value->node->site) : trace::str(value->type)) +
                       "); compute it inside f, or detach it",
                   line);
}

namespace {
/// A scan while its step is recorded.
struct ScanRecorder {
  const char *function;
  const Line &line;
  ScanMode mode;
  Body body;
  std::vector<ValueRef> carried, inputs, slices; // operands outside, arguments inside
  ScanValues next;
  size_t own = 0; // carried values that are the caller's

  ScanRecorder(const char *function, ScanMode mode, const Line &line)
      : function(function), line(line), mode(mode), body(function, line, /*repeats=*/true) {}

  ValueRef argumentFor(const ValueRef &value, TypeRef type) {
    return body.addArgument(type, value->place, value->requiresGrad);
  }

  void run(const ScanValues &given, const ScanStep &step) {
    carried = given.carried;
    for (const ValueRef &value : given.carried)
      inputs.push_back(argumentFor(value, value->type));
    for (const ValueRef &value : given.stacked)
      slices.push_back(argumentFor(value, sliceType(value->type)));
    next = step(body, {inputs, slices});
    ValueRef drawn = body.draws ? record::nextRandom(line, 0).offset : ValueRef();
    body.end();
    for (const ScanSum &sum : next.sums) {
      carried.push_back(splat(-0.0, sum.argument->type->dtype, sum.argument->type->shape, line));
      inputs.push_back(sum.argument);
      next.carried.push_back(sum.next);
    }
    own = carried.size();
    for (const Body::Touched &touched : body.touched()) {
      carried.push_back(touched.before);
      inputs.push_back(argumentFor(touched.before, touched.before->type));
      body.readAs(touched.before, inputs.back());
      next.carried.push_back(touched.storage->value());
    }
    if (drawn) {
      carried.push_back(record::nextRandom(line, uint64_t(mode.steps) * body.draws->count).offset);
      inputs.push_back(body.draws->base);
      next.carried.push_back(drawn);
    }
    for (size_t i = 0; i < carried.size(); ++i)
      if (next.carried[i]->type != carried[i]->type)
        record::fail(ErrorKind::Type, str(function, "carried value", i, carried[i]->type, next.carried[i]->type), line);
  }

  std::vector<ValueRef> finish(std::span<const ValueRef> sliced) {
    static const trace::OpRef op = trace::internOp("dl.scan");
    std::vector<ValueRef> results = next.carried, operands = carried;
    results.insert(results.end(), next.stacked.begin(), next.stacked.end());
    std::vector<ValueRef> captured = body.captured(results);
    if (!mode.gradients)
      refuseOutsideGraph(function, captured, line);
    inputs.insert(inputs.end(), slices.begin(), slices.end());
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    operands.insert(operands.end(), sliced.begin(), sliced.end());
    operands.insert(operands.end(), captured.begin(), captured.end());
    std::vector<TypeRef> types;
    types.reserve(results.size());
    for (const ValueRef &value : carried)
      types.push_back(value->type);
    for (const ValueRef &value : next.stacked)
      types.push_back(stackedType(value->type, mode.steps));
    record::EnableGradScope scope(mode.gradients && record::gradEnabled());
    return record::recordRegions(
        op, scanAttributes(mode.steps, mode.reverse, carried.size(), sliced.size(), captured.size()),
        {body.region(inputs, results)}, operands, std::move(types), line);
  }

  /// Gives changed tensors what they are after the last step.
  void keepChanges(std::span<const ValueRef> values) {
    for (size_t i = 0; i < body.touched().size(); ++i) {
      const ValueRef &value = values[own + i];
      if (value->requiresGrad && !next.carried[own + i]->requiresGrad) { // computed without gradients
        value->requiresGrad = false;
        value->severed = true;
      }
      body.touched()[i].storage->replace(value);
    }
    body.keepChanges();
  }
};
} // namespace

ScanValues scan(const char *function, const ScanValues &given, ScanMode mode, const ScanStep &step, const Line &line) {
  ScanRecorder recorder(function, mode, line);
  recorder.run(given, step);
  std::vector<ValueRef> values = recorder.finish(given.stacked);
  recorder.keepChanges(values);
  ScanValues last;
  last.carried.assign(values.begin(), values.begin() + static_cast<ptrdiff_t>(recorder.own));
  last.stacked.assign(values.begin() + static_cast<ptrdiff_t>(recorder.carried.size()), values.end());
  return last;
}

} // namespace ops

namespace detail {

using ops::ValueRef;

static Flat wrapAll(std::span<const ValueRef> values, std::vector<int64_t> statics) {
  Flat flat;
  flat.statics = std::move(statics);
  for (const ValueRef &value : values)
    flat.push(ops::wrap(value));
  return flat;
}

static std::vector<ValueRef> valuesOf(const Flat &flat, Where where) {
  std::vector<ValueRef> values;
  values.reserve(flat.size());
  for (size_t i = 0; i < flat.size(); ++i)
    values.push_back(record::valueOf(flat[i], where));
  return values;
}

void scan(const Flat &carried, const Flat &sliced, const ScanBody &body, ScanOptions options, Flat &last, Flat &stacked,
          Where where) {
  record::Body::prepare(where);
  ops::ScanValues given{valuesOf(carried, where), valuesOf(sliced, where), {}};
  if (given.stacked.empty())
    record::fail(ErrorKind::Value, "scan: expected tensors to take slices of, got none", where);
  for (const ValueRef &value : given.stacked)
    if (value->type->shape.empty() || value->type->shape[0] != given.stacked[0]->type->shape[0])
      record::fail(ErrorKind::Type,
                   "scan: expected xs of one size along dim 0, got " + trace::str(given.stacked[0]->type) + " and " +
                       trace::str(value->type),
                   where);
  std::vector<int64_t> lastStatics, stackedStatics;
  auto step = [&](record::Body &, const ops::ScanValues &now) {
    Flat next, ys;
    body(wrapAll(now.carried, carried.statics), wrapAll(now.stacked, sliced.statics), next, ys);
    if (next.size() != carried.size())
      record::fail(ErrorKind::Value,
                   "scan: expected " + std::to_string(carried.size()) + " carried tensors from f, got " +
                       std::to_string(next.size()),
                   where);
    lastStatics = next.statics;
    stackedStatics = ys.statics;
    return ops::ScanValues{valuesOf(next, where), valuesOf(ys, where), {}};
  };
  ops::ScanValues results = ops::scan("scan", given, {given.stacked[0]->type->shape[0], options.reverse}, step, where);
  last = wrapAll(results.carried, lastStatics);
  stacked = wrapAll(results.stacked, stackedStatics);
}

namespace {
/// One side of a cond: what it returns, then the new values of what it changed.
struct Side {
  std::unique_ptr<record::Body> body;
  std::vector<ValueRef> results;
  std::vector<int64_t> statics;
  std::vector<record::Body::Touched> touched;
  std::vector<ValueRef> changed;

  Side(const Branch &branch, Where where) : body(std::make_unique<record::Body>("cond", where)) {
    Flat returned;
    branch(returned);
    results = valuesOf(returned, where);
    statics = returned.statics;
    touched = body->touched();
    for (const record::Body::Touched &each : touched)
      changed.push_back(each.storage->value());
    body->end();
    body->restoreChanges();
  }

  ValueRef valueOf(const record::Body::Touched &each) const {
    for (size_t i = 0; i < touched.size(); ++i)
      if (touched[i].storage == each.storage)
        return changed[i];
    return each.before;
  }
};
} // namespace

void cond(const Arg &predicate, const Branch &taken, const Branch &otherwise, Flat &results) {
  static const trace::OpRef op = trace::internOp("dl.cond");
  Where where = predicate.where;
  record::Body::prepare(where);
  ValueRef holds = ops::cast(ops::valueOf(predicate), DType::I1, where);
  if (holds->type->elements != 1)
    record::fail(ErrorKind::Type,
                 "cond: expected a predicate of one element, got " + trace::str(holds->type) +
                     "; where chooses element by element",
                 where);
  holds = ops::reshape(holds, {}, where);
  uint64_t drawn = record::drawnSoFar();
  Side first(taken, where);
  uint64_t drawnFirst = record::drawnSoFar();
  record::setDrawnSoFar(drawn);
  Side second(otherwise, where);
  record::setDrawnSoFar(std::max(drawnFirst, record::drawnSoFar()));
  std::array<Side, 2> sides{std::move(first), std::move(second)};
  std::vector<record::Body::Touched> touched = sides[0].touched;
  for (const record::Body::Touched &each : sides[1].touched)
    if (std::none_of(touched.begin(), touched.end(), [&](const auto &t) { return t.storage == each.storage; }))
      touched.push_back(each);
  if (sides[0].results.size() != sides[1].results.size() || sides[0].statics != sides[1].statics)
    record::fail(ErrorKind::Value,
                 "cond: expected as many results from both functions, got " + std::to_string(sides[0].results.size()) +
                     " and " + std::to_string(sides[1].results.size()),
                 where);
  std::vector<trace::RegionRef> regions;
  std::vector<ValueRef> captured;
  std::array<std::vector<ValueRef>, 2> all;
  for (size_t i : {0u, 1u}) {
    all[i] = sides[i].results;
    for (const record::Body::Touched &each : touched)
      all[i].push_back(sides[i].valueOf(each));
    for (const ValueRef &value : sides[i].body->captured(all[i]))
      if (std::find(captured.begin(), captured.end(), value) == captured.end())
        captured.push_back(value);
  }
  std::vector<ops::TypeRef> types;
  for (size_t i = 0; i < all[0].size(); ++i) {
    types.push_back(all[0][i]->type);
    if (all[0][i]->type != all[1][i]->type)
      record::fail(ErrorKind::Type, ops::str("cond", "result", i, all[0][i]->type, all[1][i]->type), where);
  }
  for (size_t i : {0u, 1u})
    regions.push_back(sides[i].body->region(captured, all[i]));
  std::vector<ValueRef> operands{holds};
  operands.insert(operands.end(), captured.begin(), captured.end());
  std::vector<ValueRef> values =
      record::recordRegions(op, trace::Attributes().intern(), std::move(regions), operands, types, where);
  size_t own = sides[0].results.size();
  for (size_t i = 0; i < touched.size(); ++i) {
    record::noteTouched(*touched[i].storage);
    touched[i].storage->replace(values[own + i]);
    ++touched[i].storage->version;
  }
  values.resize(own);
  results = wrapAll(values, sides[0].statics);
}

void checkpoint(const Branch &f, Flat &results, Where where) {
  static const trace::OpRef op = trace::internOp("dl.checkpoint");
  record::Body::prepare(where);
  record::Body body("checkpoint", where);
  Flat returned;
  f(returned);
  std::vector<ValueRef> all = valuesOf(returned, where);
  size_t own = all.size();
  body.end();
  for (const record::Body::Touched &touched : body.touched())
    all.push_back(touched.storage->value());
  std::vector<ops::TypeRef> types;
  types.reserve(all.size());
  for (const ValueRef &value : all)
    types.push_back(value->type);
  std::vector<ValueRef> captured = body.captured(all);
  std::vector<ValueRef> values = record::recordRegions(op, trace::Attributes().intern(), {body.region(captured, all)},
                                                       captured, std::move(types), where);
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i]->requiresGrad && !all[i]->requiresGrad) { // computed without gradients
      values[i]->requiresGrad = false;
      values[i]->severed = true;
    }
  for (size_t i = 0; i < body.touched().size(); ++i)
    body.touched()[i].storage->replace(values[own + i]);
  body.keepChanges();
  values.resize(own);
  results = wrapAll(values, returned.statics);
}

} // namespace detail

} // namespace dlc
