#include "dlc/runtime/Manifest.h"

#include "dlc/runtime/Abi.h"
#include "dlc/runtime/TensorView.h"

#include <nlohmann/json.hpp>

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
constexpr int64_t kMaxBytes = int64_t(1) << 46; // far above any machine, far below overflow when a few are added

/// Reads one JSON object, remembering the first fault, so that callers read on without checking each field.
class ObjectReader {
public:
  ObjectReader(const json &value, std::string where, Status &fault)
      : value(value), where(std::move(where)), fault(fault) {
    if (!value.is_object())
      fail("is not an object");
  }

  void fail(const std::string &what) {
    if (fault.ok())
      fault = Status(StatusCode::InvalidInput, "manifest: " + where + " " + what);
  }

  std::string string(const char *key) {
    const json *field = find(key);
    if (!field || !field->is_string()) {
      fail(std::string("has no text '") + key + "'");
      return {};
    }
    return field->get<std::string>();
  }

  int64_t integer(const char *key, int64_t most = kMaxBytes) {
    const json *field = find(key);
    if (!field || !field->is_number_integer() || field->get<double>() < 0 || field->get<double>() > double(most)) {
      fail(std::string("has no integer '") + key + "' in [0, " + std::to_string(most) + "]");
      return 0;
    }
    return field->get<int64_t>();
  }

  double number(const char *key) {
    const json *field = find(key);
    return field && field->is_number() ? field->get<double>() : 0;
  }

  const json &array(const char *key) {
    static const json empty = json::array();
    const json *field = find(key);
    if (!field || !field->is_array()) {
      fail(std::string("has no list '") + key + "'");
      return empty;
    }
    return *field;
  }

  const json &object(const char *key) {
    static const json empty = json::object();
    const json *field = find(key);
    if (!field || !field->is_object()) {
      fail(std::string("has no object '") + key + "'");
      return empty;
    }
    return *field;
  }

  TensorType type() {
    TensorType type;
    std::string spelling = string("type");
    std::optional<DType> dtype = dtypeFromName(spelling);
    if (!dtype)
      fail("has an unknown element type '" + spelling + "'");
    type.dtype = dtype.value_or(DType::F32);
    for (const json &extent : array("shape")) {
      if (!extent.is_number_integer() || extent.get<double>() < 0 || extent.get<double>() > double(kMaxBytes)) {
        fail("has a shape with a bad extent");
        return {};
      }
      type.shape.push_back(extent.get<int64_t>());
    }
    std::optional<int64_t> bytes = denseByteSize(type.dtype, type.shape);
    if (!bytes || *bytes > kMaxBytes) {
      fail("has a shape of too many bytes");
      return {};
    }
    return type;
  }

private:
  const json *find(const char *key) const {
    if (!value.is_object())
      return nullptr;
    auto it = value.find(key);
    return it == value.end() ? nullptr : &*it;
  }

  const json &value;
  std::string where;
  Status &fault;
};

template <typename Read>
void forEach(ObjectReader &parent, const char *key, Status &fault, Read read) {
  size_t index = 0;
  for (const json &item : parent.array(key)) {
    ObjectReader reader(item, std::string(key) + "[" + std::to_string(index++) + "]", fault);
    read(reader);
  }
}

std::vector<ValueInfo> readValues(ObjectReader &entry, const char *key, Status &fault) {
  std::vector<ValueInfo> values;
  forEach(entry, key, fault, [&](ObjectReader &reader) { values.push_back({reader.string("name"), reader.type()}); });
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
  return {};
}

json typeJson(const TensorType &type) { return {{"type", name(type.dtype)}, {"shape", type.shape}}; }

json valuesJson(const std::vector<ValueInfo> &values) {
  json list = json::array();
  for (const ValueInfo &value : values) {
    json item = typeJson(value.type);
    item["name"] = value.name;
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
                                readValues(entry, "results", fault), entry.integer("peak")});
  });
  forEach(reader, "sites", fault, [&](ObjectReader &site) {
    manifest.sites.push_back({site.string("op"), site.string("file"), site.integer("line"), site.integer("column")});
  });
  forEach(reader, "memory", fault,
          [&](ObjectReader &item) { manifest.memory.push_back({item.string("name"), item.integer("bytes")}); });
  if (fault.ok())
    fault = checkRanges(manifest);
  if (!fault.ok())
    return fault;
  return manifest;
}

std::string Manifest::toJson() const {
  json root = {{"format", 1},
               {"minReader", 1},
               {"abi", DLC_ABI_VERSION},
               {"compiler", compiler},
               {"cpu", cpu},
               {"arenas", json::array()},
               {"variables", json::array()},
               {"entries", json::array()},
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
  for (const EntryInfo &entry : entries)
    root["entries"].push_back({{"name", entry.name},
                               {"arguments", valuesJson(entry.arguments)},
                               {"results", valuesJson(entry.results)},
                               {"peak", entry.peak}});
  for (const SiteInfo &site : sites)
    root["sites"].push_back({{"op", site.op}, {"file", site.file}, {"line", site.line}, {"column", site.column}});
  for (const MemoryClass &item : memory)
    root["memory"].push_back({{"name", item.name}, {"bytes", item.bytes}});
  return root.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace dlc
