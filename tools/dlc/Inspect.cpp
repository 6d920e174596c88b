#include "Commands.h"

#include "dlc/runtime/Executable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dlc::tool {

namespace {

std::string signature(const std::vector<ValueInfo> &values) {
  std::string text;
  for (const ValueInfo &value : values)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", value.name, value.type.str());
  return text;
}

std::string initial(const InitialValue &init) {
  switch (init.kind) {
  case InitialValue::Kind::Zeros:
    return "zeros";
  case InitialValue::Kind::Constant:
    return fmt::format("{}", init.a);
  case InitialValue::Kind::Uniform:
    return fmt::format("uniform [{}, {})", init.a, init.b);
  case InitialValue::Kind::Normal:
    return fmt::format("normal mean {} deviation {}", init.a, init.b);
  case InitialValue::Kind::Data:
    return "given";
  }
  return {};
}

std::string shape(const std::array<int64_t, 3> &extents) { return fmt::format("{}", fmt::join(extents, "x")); }

void printKernels(const Manifest &manifest) {
  if (manifest.kernels.empty())
    return;
  fmt::print("\nkernels\n");
  for (const KernelInfo &kernel : manifest.kernels)
    fmt::print("  {:<10} {:>9} blocks of {:>8} threads  {:>6} bytes shared  {} operands  {}\n", kernel.name,
               shape(kernel.grid), shape(kernel.block), kernel.shared, kernel.operands.size(),
               manifest.place(uint64_t(kernel.site)));
}

} // namespace

Status inspect(const InspectArguments &arguments) {
  StatusOr<Manifest> manifest = readManifest(arguments.artifact);
  if (!manifest.ok())
    return manifest.status();
  if (arguments.json) {
    fmt::print("{}\n", manifest->toJson());
    return {};
  }
  fmt::print("compiled by {} for {} (host code: {})\n\nentries\n", manifest->compiler,
             fmt::join(manifest->targets, ", "), manifest->cpu);
  for (const EntryInfo &entry : manifest->entries)
    fmt::print("  {}({}) -> ({})    planned peak {} bytes\n", entry.name, signature(entry.arguments),
               signature(entry.results), entry.peak);
  fmt::print("\nvariables\n");
  size_t width = 4;
  for (const VariableInfo &variable : manifest->variables)
    width = std::max(width, variable.name.size());
  for (const VariableInfo &variable : manifest->variables)
    fmt::print("  {:<{}}  {:<16}  {:<18} {}\n", variable.name, width, variable.role, variable.type.str(),
               initial(variable.init));
  printKernels(*manifest);
  fmt::print("\nmemory, bytes\n");
  int64_t total = 0;
  for (const MemoryClass &item : manifest->memory) {
    fmt::print("  {:<16} {:>12}\n", item.name, item.bytes);
    total += item.bytes;
  }
  fmt::print("  {:<16} {:>12}\n", "total", total);
  return {};
}

} // namespace dlc::tool
