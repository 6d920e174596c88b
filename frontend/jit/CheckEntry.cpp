#include "jit/FunctionState.h"
#include "record/Transfer.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace dlc::detail {

namespace {

const Storage *storageOf(const Tensor &tensor) { return tensor.get() ? tensor.get()->storage.get() : nullptr; }

bool sameBytes(const record::ValueRef &a, const record::ValueRef &b) {
  auto hostData = [](const record::ValueRef &value) {
    return record::readOnHost(*record::makeTensor(value).get()->storage, Where::current());
  };
  record::HostBytes x = hostData(a), y = hostData(b);
  return std::memcmp(x.data, y.data, static_cast<size_t>(a->type->bytes)) == 0;
}

/// Operations, variables, and what is captured by identity or made by the body on the host.
bool readsTheSame(const Entry &a, const Entry &b) {
  if (a.graph.key != b.graph.key || a.captured.size() != b.captured.size())
    return false;
  for (size_t i = 0; i < a.captured.size(); ++i)
    if (a.captured[i].input != b.captured[i].input || a.captured[i].storage != b.captured[i].storage)
      return false;
  for (size_t i = 0; i < a.constants.size(); ++i) {
    const record::Value &x = *a.constants[i], &y = *b.constants[i];
    if (a.random.owns(x) && b.random.owns(y)) // other numbers in each call
      continue;
    if (x.buffer != y.buffer && !sameBytes(a.constants[i], b.constants[i]))
      return false;
  }
  return true;
}

/// Where results go.
bool leavesTheSame(const Entry &a, const Entry &b) {
  auto same = [](const auto &x, const auto &y, auto equal) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  };
  return a.outputStatics == b.outputStatics &&
         same(a.outputs, b.outputs,
              [](const Output &x, const Output &y) {
                return x.kind == y.kind && x.index == y.index && storageOf(x.handle) == storageOf(y.handle);
              }) &&
         same(a.updates, b.updates,
              [](const Update &x, const Update &y) { return x.storage == y.storage && x.result == y.result; }) &&
         same(a.leaves, b.leaves, [](const LeafExit &x, const LeafExit &y) {
           return x.storage == y.storage && x.kind == y.kind && x.result == y.result &&
                  storageOf(x.gradient) == storageOf(y.gradient);
         });
}

/// Shortest that reads back as the same number.
std::string text(double number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

/// "number captured at train.cpp:22 was 0.1 when compiled, is 0.05 now", or empty if nothing differs; and what `was`.
std::string difference(const FunctionState &function, const Entry &entry, const Entry &now, std::string &was) {
  was = "the former ones";
  if (now.retraced || !readsTheSame(entry, now) || !leavesTheSame(entry, now))
    return function.options.name + " was compiled from other operations or tensors than it records now";
  for (size_t i = 0; i < entry.hostNumbers.size(); ++i) {
    double before = entry.hostNumbers[i].value, after = now.hostNumbers[i].value;
    if (std::bit_cast<uint64_t>(before) == std::bit_cast<uint64_t>(after))
      continue;
    was = text(before);
    return "number captured at " + record::brief(entry.hostNumbers[i].site) + " was " + was + " when compiled, is " +
           text(after) + " now";
  }
  return {};
}

} // namespace

bool checkEntry(FunctionState &function, Entry &entry, const Flat &arguments, Body body) {
  std::string was;
  std::string found = difference(function, entry, *recordAgain(function, arguments, body), was);
  // What the body itself rebinds is part of the entry.
  entry.rebinds = record::rebindEpoch();
  entry.structure = record::structureEpoch();
  if (found.empty())
    return true;
  found = "jit: " + found;
  const char *advice = ". Use dlc::Scalar or a parameter";
  // The check before was at half the calls; that of call 1 is the recording itself, with the values of then.
  uint64_t first = (entry.calls + 1) / 2 + 1;
  if (first > 2) {
    std::string calls = "call " + std::to_string(first);
    if (first < entry.calls)
      calls = "calls " + std::to_string(first) + " to " + std::to_string(entry.calls);
    record::fail(ErrorKind::StaleCapture, found + "; " + calls + " may have used " + was + advice, function.where);
  }
  if (function.options.fullgraph)
    record::fail(ErrorKind::StaleCapture, found + "; the function asks for one graph" + advice, function.where);
  record::remark(found + "; " + function.options.name + " is traced again at every call" + advice,
                 {function.where, nullptr});
  entry.retraced = true;
  return false;
}

} // namespace dlc::detail
