#include "Commands.h"
#include "RunFiles.h"

#include "dlc/codegen/Explain.h"
#include "dlc/runtime/Session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

namespace dlc::tool {

namespace {

/// Magnitudes of a value over all steps.
struct Range {
  double most = 0, least = std::numeric_limits<double>::infinity();

  void add(double max, double min) {
    most = std::isnan(max) ? max : std::max(most, max);
    least = std::min(least, min);
  }
};

float numberOf(const Value &value) {
  float number = 0;
  std::memcpy(&number, value.memory.data(), sizeof number);
  return number;
}

/// What an entry reads and gives in a call.
struct CallMemory {
  std::vector<Value> values;
  std::vector<DlcBuffer> arguments, results;

  Status prepare(const EntryInfo &entry, const std::vector<std::string> &files) {
    values.reserve(entry.arguments.size() + entry.results.size());
    for (size_t i = 0; i < entry.arguments.size(); ++i) {
      StatusOr<Value> input = readInput(files[i], entry.arguments[i]);
      if (!input.ok())
        return input.status();
      arguments.push_back(values.emplace_back(input.take()).buffer());
    }
    for (const ValueInfo &result : entry.results)
      results.push_back(values.emplace_back(result.type).buffer());
    return {};
  }
  const Value &result(size_t index) const { return values[arguments.size() + index]; }
};

/// Runs the entry with the casts' ranges as results, behind its own.
StatusOr<std::vector<Range>> observe(const ExplainArguments &arguments, const std::string &text,
                                     const std::string &entryName) {
  codegen::CompileOptions options = arguments.options;
  options.observeCasts = true;
  auto compiled = codegen::compile(text, arguments.module, options);
  if (!compiled.ok())
    return compiled.status();
  auto executable = (*compiled)->load();
  if (!executable.ok())
    return executable.status();
  std::optional<size_t> index = (*executable)->findEntry(entryName);
  if (!index)
    return Status(StatusCode::Internal, "the entry " + entryName + " is gone");
  const EntryInfo &entry = (*executable)->manifest().entries[*index];
  StatusOr<std::vector<std::string>> files = placeFiles(arguments.inputs, entry.arguments, "argument");
  if (!files.ok())
    return files.status();
  CallMemory memory;
  if (Status status = memory.prepare(entry, *files); !status.ok())
    return status;
  StatusOr<std::unique_ptr<Session>> session = Session::create({.seed = arguments.seed});
  if (!session.ok())
    return session.status();
  auto program = (*session)->attach(*executable);
  if (!program.ok())
    return program.status();
  auto isRange = [](const ValueInfo &result) { return result.name.starts_with("cast."); };
  auto first = std::find_if(entry.results.begin(), entry.results.end(), isRange);
  size_t own = size_t(first - entry.results.begin());
  std::vector<Range> ranges((entry.results.size() - own) / 2);
  for (int64_t step = 0; step < arguments.steps; ++step) {
    if (Status status = (*program)->call(*index, memory.arguments, memory.results); !status.ok())
      return status;
    for (size_t i = 0; i < ranges.size(); ++i)
      ranges[i].add(numberOf(memory.result(own + 2 * i)), numberOf(memory.result(own + 2 * i + 1)));
  }
  return ranges;
}

void print(const std::vector<codegen::CastInfo> &casts, const std::vector<Range> &ranges) {
  size_t reader = 2, place = 4, value = 5, reason = 6;
  for (const codegen::CastInfo &cast : casts) {
    reader = std::max(reader, cast.reader.size());
    place = std::max(place, cast.place.size());
    value = std::max(value, cast.value.size());
    reason = std::max(reason, cast.reason.size());
  }
  fmt::print("{:<{}}  {:<{}}  {:<{}}  {:<{}}  {:>11}{}\n", "op", reader, "line", place, "value", value, "reason",
             reason, "bytes saved", ranges.empty() ? "" : "     max |x|     min |x| > 0");
  int64_t total = 0;
  for (const codegen::CastInfo &cast : casts) {
    total += cast.savedBytes;
    std::string observed;
    if (!ranges.empty() && cast.observed >= 0) {
      const Range &range = ranges[size_t(cast.observed)];
      observed = fmt::format("  {:>10.4g}  {:>14}", range.most,
                             std::isinf(range.least) ? "none" : fmt::format("{:.4g}", range.least));
    }
    fmt::print("{:<{}}  {:<{}}  {:<{}}  {:<{}}  {:>11}{}\n", cast.reader, reader, cast.place, place, cast.value, value,
               cast.reason, reason, cast.savedBytes, observed);
  }
  fmt::print("{} casts, {} bytes saved\n", casts.size(), total);
}

} // namespace

Status explain(const ExplainArguments &arguments) {
  StatusOr<std::string> text = readText(arguments.module);
  if (!text.ok())
    return text.status();
  auto casts = codegen::explainCasts(*text, arguments.module, arguments.options);
  if (!casts.ok())
    return casts.status();
  std::vector<std::string> entries;
  for (const codegen::CastInfo &cast : *casts)
    if (entries.empty() || entries.back() != cast.entry)
      entries.push_back(cast.entry);
  if (!arguments.entry.empty())
    entries = {arguments.entry};
  if (arguments.observe && entries.size() != 1)
    return {StatusCode::InvalidInput,
            fmt::format("--observe: expects one entry with casts, got {}; add --entry", entries.size())};
  std::vector<Range> ranges;
  if (arguments.observe) {
    StatusOr<std::vector<Range>> observed = observe(arguments, *text, entries.front());
    if (!observed.ok())
      return observed.status();
    ranges = observed.take();
  }
  for (const std::string &entry : entries) {
    std::vector<codegen::CastInfo> own;
    std::copy_if(casts->begin(), casts->end(), std::back_inserter(own),
                 [&](const codegen::CastInfo &cast) { return cast.entry == entry; });
    fmt::print("{}\n", entry);
    print(own, ranges);
  }
  if (entries.empty())
    fmt::print("0 casts\n");
  return {};
}

} // namespace dlc::tool
