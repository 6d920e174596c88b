#include "checkpoint/Index.h"

#include "base/FileError.h"
#include "base/ObjectReader.h"

#include <algorithm>
#include <set>
#include <unordered_map>

using nlohmann::json;

namespace dlc::runtime {
namespace {

constexpr const char *kFile = "index.json";
// Values are written and freed recursively.
constexpr int kDeepest = 64;

/// Null where the text is no JSON, with what is wrong.
json parseJson(std::string_view text, const char *&problem) {
  bool tooDeep = false;
  auto follow = [&](int depth, json::parse_event_t, json &) {
    tooDeep |= depth > kDeepest;
    return !tooDeep;
  };
  json root = json::parse(text, follow, /*allow_exceptions=*/false);
  if (tooDeep)
    problem = "is nested too deeply";
  else if (root.is_discarded())
    problem = "is not JSON";
  return root;
}

/// A file name that names nothing outside its directory.
bool isPlain(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20; });
}

bool isDigest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::vector<int64_t> readNumbers(ObjectReader &reader, const char *key) {
  std::vector<int64_t> numbers;
  for (const json &item : reader.array(key)) {
    if (!item.is_number_integer() || item.get<double>() < 0 || item.get<double>() > double(kMaxBytes)) {
      reader.fail(std::string("has something else than sizes in '") + key + "'");
      return {};
    }
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

void readFiles(ObjectReader &root, Status &fault, CheckpointIndex &index,
               std::unordered_map<std::string, size_t> &numbers) {
  forEach(root, "files", fault, [&](ObjectReader &reader) {
    CheckpointIndex::File file{reader.string("name"), reader.integer("bytes"), reader.string("sha256")};
    if (!isPlain(file.name))
      reader.fail("has the name " + quote(file.name) + ", which is not one of a file in the same directory");
    if (!isDigest(file.sha256))
      reader.fail("has a 'sha256' that is not 64 hexadecimal digits");
    if (!numbers.emplace(file.name, index.files.size()).second)
      reader.fail("has the name " + quote(file.name) + " of another file");
    index.files.push_back(std::move(file));
  });
}

CheckpointIndex::Tensor readTensor(ObjectReader &reader, Status &fault,
                                   const std::unordered_map<std::string, size_t> &files) {
  CheckpointIndex::Tensor tensor;
  tensor.name = reader.string("name");
  tensor.role = reader.string("role");
  TensorType type = reader.type();
  tensor.dtype = type.dtype;
  tensor.shape = std::move(type.shape);
  std::vector<Box> boxes;
  forEach(reader, "pieces", fault, [&](ObjectReader &piece) {
    auto file = files.find(piece.string("file"));
    if (file == files.end())
      piece.fail("of tensor " + quote(tensor.name) + " lies in a file that is not in 'files'");
    else
      tensor.pieces.push_back(
          {file->second, piece.string("key"), {readNumbers(piece, "start"), readNumbers(piece, "extent")}});
  });
  boxes.reserve(tensor.pieces.size());
  for (const CheckpointIndex::Piece &piece : tensor.pieces)
    boxes.push_back(piece.box);
  if (fault.ok())
    fault = checkCoverage(tensor.shape, std::move(boxes))
                .withContext(std::string(kFile) + ": tensor " + quote(tensor.name));
  return tensor;
}

} // namespace

Status checkJson(std::string_view text) {
  const char *problem = nullptr;
  (void)parseJson(text, problem);
  return problem ? invalidFile(problem) : Status();
}

StatusOr<CheckpointIndex> CheckpointIndex::parse(std::string_view text) {
  auto bad = [](const std::string &what) { return invalidFile(std::string(kFile) + ": " + what); };
  const char *problem = nullptr;
  json root = parseJson(text, problem);
  if (problem)
    return bad(problem);
  Status fault;
  ObjectReader reader(root, "the whole", fault, kFile);
  int64_t reads = reader.integer("minReader");
  if (fault.ok() && reads > 1)
    return bad("needs a reader of version " + std::to_string(reads) + ", this one has version 1; use a newer dlc");
  CheckpointIndex index;
  index.step = reader.integer("step");
  index.generation = static_cast<uint64_t>(reader.integer("generation"));
  forEach(reader, "mesh", fault,
          [&](ObjectReader &axis) { index.mesh.emplace_back(axis.string("axis"), axis.integer("size")); });
  std::unordered_map<std::string, size_t> files;
  readFiles(reader, fault, index, files);
  std::set<std::string> names;
  forEach(reader, "tensors", fault, [&](ObjectReader &item) {
    if (!fault.ok())
      return;
    index.tensors.push_back(readTensor(item, fault, files));
    if (!names.insert(index.tensors.back().name).second)
      item.fail("has the name " + quote(index.tensors.back().name) + " of another tensor");
  });
  for (const auto &[name, value] : reader.object("state").items())
    index.state[name] = value.dump();
  if (!fault.ok())
    return fault;
  return index;
}

std::string CheckpointIndex::toJson() const {
  json root = {{"format", 1},
               {"minReader", 1},
               {"step", step},
               {"generation", generation},
               {"mesh", json::array()},
               {"files", json::array()},
               {"tensors", json::array()},
               {"state", json::object()}};
  for (const auto &[axis, size] : mesh)
    root["mesh"].push_back({{"axis", axis}, {"size", size}});
  for (const File &file : files)
    root["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  for (const Tensor &tensor : tensors) {
    json pieces = json::array();
    for (const Piece &piece : tensor.pieces)
      pieces.push_back({{"file", files[piece.file].name},
                        {"key", piece.key},
                        {"start", piece.box.start},
                        {"extent", piece.box.extent}});
    root["tensors"].push_back({{"name", tensor.name},
                               {"role", tensor.role},
                               {"type", dlc::name(tensor.dtype)},
                               {"shape", tensor.shape},
                               {"pieces", std::move(pieces)}});
  }
  for (const auto &[name, value] : state)
    root["state"][name] = json::parse(value, nullptr, /*allow_exceptions=*/false);
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

} // namespace dlc::runtime
