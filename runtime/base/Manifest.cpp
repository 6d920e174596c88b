#include "dlc/runtime/Manifest.h"

#include "base/ManifestKernels.h"
#include "base/ManifestMesh.h"
#include "base/ObjectReader.h"
#include "dlc/runtime/Abi.h"
#include "dlc/runtime/TensorView.h"

#include <algorithm>
#include <array>
#include <set>

using nlohmann::json;

namespace dlc {

int64_t TensorType::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string TensorType::str() const { return typeString(dtype, shape); }

namespace {

constexpr std::array<std::string_view, 5> kKindNames = {"zeros", "constant", "uniform", "normal", "data"};

std::vector<ValueInfo> readValues(ObjectReader &entry, const char *key, Status &fault) {
  std::vector<ValueInfo> values;
  forEach(entry, key, fault, [&](ObjectReader &reader) {
    values.push_back({reader.string("name"), reader.type(), readSharding(reader, fault)});
  });
  return values;
}

InitialValue readInit(ObjectReader &variable, Status &fault) {
  ObjectReader reader(variable.object("init"), "init", fault);
  std::string kind = reader.string("kind");
  InitialValue init;
  auto known = std::find(kKindNames.begin(), kKindNames.end(), kind);
  if (known == kKindNames.end())
    reader.fail("has an unknown kind '" + kind + "'");
  else
    init.kind = InitialValue::Kind(known - kKindNames.begin());
  init.a = reader.number("a");
  init.b = reader.number("b");
  init.offset = uint64_t(reader.integer("offset", INT64_MAX / 2));
  return init;
}

Status checkRanges(const Manifest &manifest) {
  auto bad = [](const std::string &what) { return Status(StatusCode::InvalidInput, "manifest: " + what); };
  std::set<std::string_view> arenas, variables, entries;
  for (const ArenaInfo &arena : manifest.arenas)
    if (!arenas.insert(arena.name).second)
      return bad("two arenas are named '" + arena.name + "'");
  for (const VariableInfo &variable : manifest.variables) {
    if (!variables.insert(variable.name).second)
      return bad("two variables are named '" + variable.name + "'");
    if (variable.arena >= int64_t(manifest.arenas.size()))
      return bad("variable '" + variable.name + "' lies in arena " + std::to_string(variable.arena) + " of " +
                 std::to_string(manifest.arenas.size()));
    const ArenaInfo &arena = manifest.arenas[size_t(variable.arena)];
    if (variable.offset % 64 != 0 || variable.offset + variable.type.bytes() > arena.bytes)
      return bad("variable '" + variable.name + "' ends at byte " +
                 std::to_string(variable.offset + variable.type.bytes()) + " of arena '" + arena.name +
                 "', which has " + std::to_string(arena.bytes));
  }
  for (const EntryInfo &entry : manifest.entries)
    if (!entries.insert(entry.name).second)
      return bad("two entries are named '" + entry.name + "'");
  for (const KernelInfo &kernel : manifest.kernels)
    if (kernel.site >= int64_t(manifest.sites.size()))
      return bad("kernel '" + kernel.name + "' has site " + std::to_string(kernel.site) + " of " +
                 std::to_string(manifest.sites.size()));
  return checkMesh(manifest);
}

json typeJson(const TensorType &type) { return {{"type", name(type.dtype)}, {"shape", type.shape}}; }

json valuesJson(const std::vector<ValueInfo> &values) {
  json list = json::array();
  for (const ValueInfo &value : values) {
    json item = typeJson(value.type);
    item["name"] = value.name;
    if (value.sharding)
      item["sharding"] = shardingJson(*value.sharding);
    list.push_back(item);
  }
  return list;
}

} // namespace

StatusOr<Manifest> Manifest::parse(std::string_view text) {
  json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded())
    return Status(StatusCode::InvalidInput, "manifest: is not JSON");
  Status fault;
  ObjectReader reader(root, "the whole", fault);
  int64_t reads = reader.integer("minReader");
  if (fault.ok() && reads > 1)
    return Status(StatusCode::InvalidInput, "manifest: needs a reader of version " + std::to_string(reads) +
                                                ", this one has version 1; use a newer dlc");
  Manifest manifest;
  manifest.compiler = reader.string("compiler");
  manifest.cpu = reader.string("cpu");
  forEach(reader, "arenas", fault, [&](ObjectReader &arena) {
    manifest.arenas.push_back(
        {arena.string("name"), arena.string("class"), arena.integer("bytes"), arena.integer("initial")});
  });
  forEach(reader, "variables", fault, [&](ObjectReader &variable) {
    manifest.variables.push_back({variable.string("name"), variable.type(), variable.string("role"),
                                  variable.integer("arena"), variable.integer("offset"), readInit(variable, fault)});
  });
  forEach(reader, "entries", fault, [&](ObjectReader &entry) {
    manifest.entries.push_back({entry.string("name"), readValues(entry, "arguments", fault),
                                readValues(entry, "results", fault), entry.integer("peak"),
                                entry.has("launches") ? entry.integer("launches") : 0});
  });
  if (reader.has("targets"))
    manifest.targets = reader.strings("targets");
  if (reader.has("simCheck"))
    manifest.simCheck = reader.boolean("simCheck");
  if (reader.has("kernels"))
    forEach(reader, "kernels", fault,
            [&](ObjectReader &kernel) { manifest.kernels.push_back(readKernel(kernel, fault)); });
  forEach(reader, "sites", fault, [&](ObjectReader &site) {
    manifest.sites.push_back({site.string("op"), site.string("file"), site.integer("line"), site.integer("column")});
  });
  forEach(reader, "memory", fault,
          [&](ObjectReader &item) { manifest.memory.push_back({item.string("name"), item.integer("bytes")}); });
  readMesh(reader, manifest, fault);
  if (fault.ok())
    fault = checkRanges(manifest);
  if (!fault.ok())
    return fault;
  return manifest;
}

std::string Manifest::place(uint64_t site) const {
  if (site >= sites.size())
    return {};
  return sites[site].file + ":" + std::to_string(sites[site].line) + ": " + sites[site].op;
}

std::string Manifest::toJson() const {
  json root = {{"format", 1},
               {"minReader", 1},
               {"abi", DLC_ABI_VERSION},
               {"compiler", compiler},
               {"cpu", cpu},
               {"targets", targets},
               {"simCheck", simCheck},
               {"arenas", json::array()},
               {"variables", json::array()},
               {"entries", json::array()},
               {"kernels", json::array()},
               {"sites", json::array()},
               {"memory", json::array()}};
  for (const ArenaInfo &arena : arenas)
    root["arenas"].push_back(
        {{"name", arena.name}, {"class", arena.klass}, {"bytes", arena.bytes}, {"initial", arena.initial}});
  for (const VariableInfo &variable : variables) {
    json item = typeJson(variable.type);
    item["name"] = variable.name;
    item["role"] = variable.role;
    item["arena"] = variable.arena;
    item["offset"] = variable.offset;
    item["init"] = {{"kind", kKindNames[size_t(variable.init.kind)]},
                    {"a", variable.init.a},
                    {"b", variable.init.b},
                    {"offset", variable.init.offset}};
    root["variables"].push_back(item);
  }
  for (const EntryInfo &entry : entries) {
    root["entries"].push_back({{"name", entry.name},
                               {"arguments", valuesJson(entry.arguments)},
                               {"results", valuesJson(entry.results)},
                               {"peak", entry.peak}});
    if (entry.launches)
      root["entries"].back()["launches"] = entry.launches;
  }
  for (const KernelInfo &kernel : kernels)
    root["kernels"].push_back(kernelJson(kernel));
  for (const SiteInfo &site : sites)
    root["sites"].push_back({{"op", site.op}, {"file", site.file}, {"line", site.line}, {"column", site.column}});
  for (const MemoryClass &item : memory)
    root["memory"].push_back({{"name", item.name}, {"bytes", item.bytes}});
  addMeshJson(*this, root);
  return root.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace dlc
