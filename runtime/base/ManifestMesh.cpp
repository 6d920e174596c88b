#include "base/ManifestMesh.h"

#include <algorithm>
#include <set>

using nlohmann::json;

namespace dlc {

namespace {

constexpr std::array<std::string_view, 4> kKindNames = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
constexpr std::array<std::string_view, 3> kReduceNames = {"sum", "max", "min"};

// Far above any job; the product of two fits an int64.
constexpr int64_t kMostMembers = int64_t(1) << 20, kMostChannels = 16;

template <typename Enum, size_t N>
Enum readName(ObjectReader &reader, const char *key, const std::array<std::string_view, N> &names) {
  std::string text = reader.string(key);
  auto known = std::find(names.begin(), names.end(), text);
  if (known == names.end()) {
    reader.fail(std::string("has an unknown ") + key + " '" + text + "'");
    return Enum();
  }
  return Enum(known - names.begin());
}

CollectiveInfo readCollective(ObjectReader &reader) {
  CollectiveInfo info;
  info.kind = readName<CollectiveKind>(reader, "kind", kKindNames);
  if (reduces(info.kind))
    info.reduce = readName<ReduceKind>(reader, "reduce", kReduceNames);
  info.axes = reader.strings("axes");
  std::string dtype = reader.string("dtype");
  if (std::optional<DType> known = dtypeFromName(dtype))
    info.dtype = *known;
  else
    reader.fail("has an unknown element type '" + dtype + "'");
  info.count = reader.integer("count");
  info.channel = reader.integer("channel", kMostChannels - 1);
  info.tensors = reader.strings("tensors");
  info.site = reader.integer("site");
  info.entry = reader.integer("entry");
  info.start = reader.integer("start");
  info.wait = reader.integer("wait");
  return info;
}

std::string readHash(ObjectReader &reader, const char *key) {
  std::string hash = reader.string(key);
  bool valid = hash.size() == 64 && hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!valid)
    reader.fail(std::string("has no SHA-256 '") + key + "' of 64 hexadecimal digits");
  return hash;
}

std::vector<int64_t> readIntegers(ObjectReader &reader, const char *key) {
  std::vector<int64_t> list;
  for (const json &item : reader.array(key)) {
    if (!item.is_number_integer() || item.get<double>() < 0 || item.get<double>() > double(kMaxBytes)) {
      reader.fail(std::string("has a list '") + key + "' with a bad number");
      return {};
    }
    list.push_back(item.get<int64_t>());
  }
  return list;
}

/// Why the names are not different axes of the mesh; empty if they are.
std::string faultOfAxes(const MeshInfo &mesh, const std::vector<std::string> &names, std::set<std::string> &used) {
  for (const std::string &name : names) {
    auto named = [&](const MeshInfo::Axis &axis) { return axis.name == name; };
    if (std::none_of(mesh.axes.begin(), mesh.axes.end(), named))
      return "names an axis '" + name + "', which the mesh does not have";
    if (!used.insert(name).second)
      return "names the axis '" + name + "' twice";
  }
  return {};
}

/// Why the borders do not split `whole` into `parts` parts of at most `local`; empty if they do.
std::string faultOfBorders(const std::vector<int64_t> &borders, int64_t whole, int64_t parts, int64_t local) {
  if (int64_t(borders.size()) != parts + 1 || borders.front() != 0 || borders.back() != whole)
    return "has no " + std::to_string(parts + 1) + " borders from 0 to " + std::to_string(whole);
  int64_t largest = 0;
  for (size_t i = 1; i < borders.size(); ++i) {
    if (borders[i] < borders[i - 1])
      return "has borders that do not ascend";
    largest = std::max(largest, borders[i] - borders[i - 1]);
  }
  if (largest != local)
    return "has parts of up to " + std::to_string(largest) + " where a member holds " + std::to_string(local);
  return {};
}

std::string faultOfSharding(const MeshInfo &mesh, const ValueInfo &value) {
  const ShardingInfo &sharding = *value.sharding;
  if (sharding.shape.size() != value.type.shape.size() || sharding.dims.size() != sharding.shape.size())
    return "has a sharding of another rank";
  if (!denseByteSize(value.type.dtype, sharding.shape))
    return "has a sharding of too many bytes";
  std::set<std::string> used;
  for (size_t i = 0; i < sharding.dims.size(); ++i) {
    const DimSharding &dim = sharding.dims[i];
    std::string fault = faultOfAxes(mesh, dim.axes, used);
    if (fault.empty() && !dim.axes.empty())
      fault = faultOfBorders(dim.borders, sharding.shape[i], mesh.size(dim.axes), value.type.shape[i]);
    if (fault.empty() && dim.axes.empty() && sharding.shape[i] != value.type.shape[i])
      fault = "has dimension " + std::to_string(i) + " whole, but of another extent";
    if (!fault.empty())
      return fault;
  }
  return {};
}

std::string faultOfCollective(const Manifest &manifest, const CollectiveInfo &info) {
  if (info.site >= int64_t(manifest.sites.size()))
    return "has site " + std::to_string(info.site) + " of " + std::to_string(manifest.sites.size());
  if (info.entry >= int64_t(manifest.entries.size()))
    return "has entry " + std::to_string(info.entry) + " of " + std::to_string(manifest.entries.size());
  if (info.axes.empty())
    return "has no axes";
  std::set<std::string> used;
  if (std::string fault = faultOfAxes(manifest.mesh, info.axes, used); !fault.empty())
    return fault;
  int64_t parts = info.kind == CollectiveKind::AllReduce ? 1 : manifest.mesh.size(info.axes);
  if (info.count > kMaxBytes / 8 / parts)
    return "has too many elements";
  if (info.start > info.wait)
    return "starts after its wait";
  return {};
}

Status checkAxes(const MeshInfo &mesh) {
  auto bad = [](const std::string &what) { return Status(StatusCode::InvalidInput, "manifest: the mesh " + what); };
  std::set<std::string_view> names;
  int64_t members = 1;
  for (const MeshInfo::Axis &axis : mesh.axes) {
    if (axis.name.empty() || !names.insert(axis.name).second)
      return bad("has no different names for its axes");
    members *= axis.size;
    if (axis.size < 1 || members > kMostMembers)
      return bad("has axes of no members or more than " + std::to_string(kMostMembers));
    if (axis.leaves % axis.size)
      return bad("has leaves that its members do not divide");
  }
  return {};
}

json listOrNull(const DimSharding &dim) {
  return dim.axes.empty() ? json(nullptr) : json{{"axes", dim.axes}, {"borders", dim.borders}};
}

} // namespace

std::string_view name(CollectiveKind kind) { return kKindNames[size_t(kind)]; }
std::string_view name(ReduceKind kind) { return kReduceNames[size_t(kind)]; }

int64_t MeshInfo::size() const {
  int64_t members = 1;
  for (const Axis &axis : axes)
    members *= axis.size;
  return members;
}

int64_t MeshInfo::size(const std::vector<std::string> &names) const {
  int64_t members = 1;
  for (const Axis &axis : axes)
    if (std::find(names.begin(), names.end(), axis.name) != names.end())
      members *= axis.size;
  return members;
}

bool MeshInfo::isOrdered(const std::vector<std::string> &names) const {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis &axis) {
    return axis.leaves != 0 && std::find(names.begin(), names.end(), axis.name) != names.end();
  });
}

void readMesh(ObjectReader &manifest, Manifest &into, Status &fault) {
  if (manifest.has("mesh"))
    forEach(manifest, "mesh", fault, [&](ObjectReader &axis) {
      into.mesh.axes.push_back({axis.string("name"), axis.integer("size", kMostMembers),
                                axis.has("leaves") ? axis.integer("leaves", kMostMembers) : 0});
    });
  if (manifest.has("collectives"))
    forEach(manifest, "collectives", fault,
            [&](ObjectReader &reader) { into.collectives.push_back(readCollective(reader)); });
  if (manifest.has("fingerprint")) {
    ObjectReader reader(manifest.object("fingerprint"), "fingerprint", fault);
    into.fingerprint = {readHash(reader, "program"), readHash(reader, "sequence")};
  }
}

std::optional<ShardingInfo> readSharding(ObjectReader &value, Status &fault) {
  if (!value.has("sharding"))
    return std::nullopt;
  ObjectReader reader(value.object("sharding"), "sharding", fault);
  ShardingInfo sharding;
  sharding.shape = readIntegers(reader, "global");
  for (const json &dim : reader.array("dims")) {
    sharding.dims.emplace_back();
    if (dim.is_null())
      continue;
    ObjectReader split(dim, "sharding", fault);
    sharding.dims.back() = {split.strings("axes"), readIntegers(split, "borders")};
    if (sharding.dims.back().axes.empty())
      split.fail("has a dimension split along no axes");
  }
  return sharding;
}

json shardingJson(const ShardingInfo &sharding) {
  json dims = json::array();
  for (const DimSharding &dim : sharding.dims)
    dims.push_back(listOrNull(dim));
  return {{"global", sharding.shape}, {"dims", dims}};
}

void addMeshJson(const Manifest &manifest, json &root) {
  for (const MeshInfo::Axis &axis : manifest.mesh.axes) {
    json item = {{"name", axis.name}, {"size", axis.size}};
    if (axis.leaves)
      item["leaves"] = axis.leaves;
    root["mesh"].push_back(item);
  }
  for (const CollectiveInfo &info : manifest.collectives) {
    json item = {{"kind", name(info.kind)}, {"axes", info.axes},       {"dtype", name(info.dtype)},
                 {"count", info.count},     {"channel", info.channel}, {"tensors", info.tensors},
                 {"site", info.site},       {"entry", info.entry},     {"start", info.start},
                 {"wait", info.wait}};
    if (reduces(info.kind))
      item["reduce"] = name(info.reduce);
    root["collectives"].push_back(item);
  }
  if (manifest.fingerprint)
    root["fingerprint"] = {{"program", manifest.fingerprint->program}, {"sequence", manifest.fingerprint->sequence}};
}

Status checkMesh(const Manifest &manifest) {
  if (Status status = checkAxes(manifest.mesh); !status.ok())
    return status;
  auto bad = [](const std::string &what) { return Status(StatusCode::InvalidInput, "manifest: " + what); };
  for (const EntryInfo &entry : manifest.entries)
    for (const std::vector<ValueInfo> *values : {&entry.arguments, &entry.results})
      for (const ValueInfo &value : *values)
        if (value.sharding)
          if (std::string fault = faultOfSharding(manifest.mesh, value); !fault.empty())
            return bad("'" + value.name + "' of entry '" + entry.name + "' " + fault);
  for (size_t i = 0; i < manifest.collectives.size(); ++i)
    if (std::string fault = faultOfCollective(manifest, manifest.collectives[i]); !fault.empty())
      return bad("collectives[" + std::to_string(i) + "] " + fault);
  return {};
}

} // namespace dlc
