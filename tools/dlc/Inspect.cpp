#include "Commands.h"

#include "dlc/runtime/Executable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace dlc::tool {

namespace {

std::string signature(const std::vector<ValueInfo> &values) {
  std::string text;
  for (const ValueInfo &value : values)
    text += fmt::format(
        "{}{}: {}{}", text.empty() ? "" : ", ", value.name, value.type.str(),
        value.sharding ? fmt::format(" of {}", TensorType{value.type.dtype, value.sharding->shape}.str()) : "");
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

std::string whatText(const MatMulCall &call) {
  return fmt::format("matmul {}x[{}x{}x{}] {} -> {}, {}", call.batch, call.rows, call.terms, call.columns,
                     name(call.left.dtype), name(call.result.dtype), name(call.epilogue));
}

std::string whatText(const ConvCall &call) {
  return fmt::format("conv {} {} [{}] of [{}]", name(call.kind), name(call.dtype), fmt::join(call.weight.extents, "x"),
                     fmt::join(call.input.extents, "x"));
}

/// "cublaslt matmul 1x[32x784x128] f32 -> f32, relu_bias, workspace 1048576 bytes".
std::string callText(const LibraryCall &call) {
  return fmt::format("{} {}, workspace {} bytes", call.library(),
                     std::visit([](const auto &what) { return whatText(what); }, call.what), call.workspaceBytes);
}

void printKernels(const Manifest &manifest) {
  if (manifest.kernels.empty())
    return;
  fmt::print("\nkernels\n");
  for (const KernelInfo &kernel : manifest.kernels) {
    std::string what = kernel.call ? callText(*kernel.call)
                                   : fmt::format("{:>9} blocks of {:>8} threads  {:>6} bytes shared",
                                                 shape(kernel.grid), shape(kernel.block), kernel.shared);
    fmt::print("  {:<10} {}  {} operands  {}\n", kernel.name, what, kernel.operands.size(),
               manifest.place(uint64_t(kernel.site)));
  }
}

/// "data 4 x model 2".
std::string meshText(const MeshInfo &mesh) {
  std::string text;
  for (const MeshInfo::Axis &axis : mesh.axes)
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis.name, axis.size);
  return text;
}

/// "fc1.weight … fc3.bias", both ends of a long list.
std::string tensorsText(const std::vector<std::string> &tensors) {
  constexpr size_t kMost = 4;
  if (tensors.size() <= kMost)
    return fmt::format("{}", fmt::join(tensors, ", "));
  return fmt::format("{} … {} ({} tensors)", tensors.front(), tensors.back(), tensors.size());
}

/// "all_reduce sum(data)".
std::string collectiveText(const CollectiveInfo &info) {
  std::string reduce = reduces(info.kind) ? std::string(name(info.reduce)) : "";
  return fmt::format("{} {}({})", name(info.kind), reduce, fmt::join(info.axes, ", "));
}

/// Of each collective: bytes, channel, after how many launches of the entry it starts and is waited for. Buckets of
/// gradients, channel 0, are numbered in the order of their starts.
void printMesh(const Manifest &manifest) {
  if (manifest.mesh.axes.empty())
    return;
  fmt::print("\nmesh: {}, {} members\n", meshText(manifest.mesh), manifest.mesh.size());
  if (manifest.fingerprint)
    fmt::print("program {}  sequence {}\n", manifest.fingerprint->program.substr(0, 16),
               manifest.fingerprint->sequence.substr(0, 16));
  if (!manifest.collectives.empty())
    fmt::print("\ncollectives\n");
  int buckets = 0;
  for (size_t i = 0; i < manifest.collectives.size(); ++i) {
    const CollectiveInfo &info = manifest.collectives[i];
    const EntryInfo &entry = manifest.entries[size_t(info.entry)];
    bool isBucket = info.channel == 0;
    fmt::print(
        "  #{:<3} {:<22} {:>12} bytes {}  channel {}  ready after launch {} of {}, waited for after {}  {}{}  {}\n", i,
        collectiveText(info), info.count * byteSize(info.dtype), name(info.dtype), info.channel, info.start,
        entry.launches, info.wait, isBucket ? fmt::format("bucket {}: ", buckets++) : "", tensorsText(info.tensors),
        manifest.place(uint64_t(info.site)));
  }
}

/// What runs a second time, by place.
void printRecomputed(const Manifest &manifest) {
  std::map<std::string, int> places;
  for (size_t site = 0; site < manifest.sites.size(); ++site)
    if (manifest.sites[site].op.starts_with("computed again"))
      ++places[manifest.place(site)];
  if (!places.empty())
    fmt::print("\ncomputed again instead of kept\n");
  for (const auto &[place, count] : places)
    fmt::print("  {}{}\n", place, count > 1 ? fmt::format(", {} times", count) : "");
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
  printMesh(*manifest);
  printKernels(*manifest);
  printRecomputed(*manifest);
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
