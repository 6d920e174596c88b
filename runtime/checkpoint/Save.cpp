#include "checkpoint/Save.h"

#include "base/FileError.h"
#include "base/ReplaceFile.h"
#include "base/SafetensorsImage.h"
#include "checkpoint/Folder.h"
#include "dlc/runtime/TensorView.h"
#include "rendezvous/Digest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>
#include <set>

using nlohmann::json;

namespace dlc::runtime {
namespace {

Status invalid(const std::string &message) { return {StatusCode::InvalidInput, message}; }

int64_t numberIn(const json &value, const char *key) {
  auto found = value.find(key);
  return found != value.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
}

std::string textIn(const json &value, const char *key) {
  auto found = value.find(key);
  return found != value.end() && found->is_string() ? found->get<std::string>() : "";
}

/// All that must be the same on all members, apart from boxes.
std::string digestOf(std::span<const CheckpointTensor> tensors) {
  json list = json::array();
  for (const CheckpointTensor &tensor : tensors)
    list.push_back({tensor.name, tensor.role, name(tensor.dtype), tensor.shape, isReplicated(tensor)});
  return hex(view(sha256(list.dump(-1, ' ', false, json::error_handler_t::replace))));
}

} // namespace

Save::Save(const CheckpointGroup &group, std::string directory, int64_t step, std::span<const CheckpointSource> sources,
           const CheckpointOptions &options, Memory memory)
    : group(group), directory(std::move(directory)), step(step), options(options),
      round(group, "the save of step " + std::to_string(step)) {
  fault = check(sources);
  if (fault.ok())
    fault = collect(sources, memory);
}

std::string Save::path() const { return inFolder(directory, stepName(step)); }

Status Save::check(std::span<const CheckpointSource> sources) const {
  if (step < 0 || !stepOfName(stepName(step)))
    return invalid("expects a step >= 0, got " + std::to_string(step));
  if (directory.empty())
    return invalid("expects a directory for checkpoints, got none");
  if (options.keep < 0)
    return invalid("expects a count of checkpoints to keep >= 0, got " + std::to_string(options.keep));
  std::set<std::string_view> names;
  for (const CheckpointSource &source : sources) {
    std::string who = "tensor " + quote(source.name) + ": ";
    if (!names.insert(source.name).second)
      return invalid(who + "expects unique names, got it twice");
    if (!denseByteSize(source.dtype, source.shape))
      return invalid(who + "expects a size below 2^63 bytes, got " + typeString(source.dtype, source.shape));
    Box box{source.start, source.extent};
    if (!isReplicated(source) && !isInside(box, source.shape))
      return invalid(who + "expects a box inside " + typeString(source.dtype, source.shape) + ", got another");
  }
  for (const auto &[name, text] : options.state)
    if (Status status = checkJson(text); !status.ok())
      return status.withContext("state " + quote(name));
  return {};
}

Status Save::collect(std::span<const CheckpointSource> sources, Memory memory) {
  tensors.assign(sources.begin(), sources.end());
  for (const Dealt &dealt : dealOut(tensors, group.worldSize)) {
    if (dealt.member != group.rank)
      continue;
    const CheckpointSource &source = sources[dealt.tensor];
    int64_t rows = dealt.box.start.empty() ? 0 : dealt.box.start[0];
    int64_t rowElements = rows == 0 ? 0 : Box::whole(source.shape).volume() / source.shape[0];
    mine.push_back({dealt.tensor, dealt.box,
                    static_cast<const std::byte *>(source.data) + rows * rowElements * byteSize(source.dtype)});
  }
  for (size_t i = 0; i < sources.size(); ++i)
    if (!isReplicated(sources[i]))
      mine.push_back({i, {sources[i].start, sources[i].extent}, sources[i].data});
  if (memory == Memory::Caller)
    return {};
  for (Written &piece : mine) {
    auto bytes = static_cast<size_t>(piece.box.volume() * byteSize(tensors[piece.tensor].dtype));
    std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes]);
    if (!copy)
      return {StatusCode::LimitExceeded,
              "no memory for a copy of " + quote(tensors[piece.tensor].name) + ", " + std::to_string(bytes) + " bytes"};
    if (bytes > 0)
      std::memcpy(copy.get(), piece.data, bytes);
    piece.data = copy.get();
    copies.push_back(std::move(copy));
  }
  return {};
}

std::string Save::describe() const {
  json boxes = json::array();
  for (const CheckpointTensor &tensor : tensors)
    if (!isReplicated(tensor))
      boxes.push_back({tensor.start, tensor.extent});
  return json({{"step", step}, {"tensors", digestOf(tensors)}, {"boxes", boxes}}).dump();
}

/// The pieces of a member that holds boxes of its own.
Status Save::readBoxes(const std::string &text, int rank) {
  json given = json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::string who = "rank " + std::to_string(rank);
  auto numbers = [](const json &list) {
    std::vector<int64_t> values;
    for (const json &item : list)
      values.push_back(item.is_number_integer() ? item.get<int64_t>() : -1);
    return values;
  };
  if (!given.is_object() || numberIn(given, "step") != step)
    return invalid(who + " saves another step than rank 0, which saves step " + std::to_string(step));
  if (textIn(given, "tensors") != digestOf(tensors))
    return invalid(who + " saves other tensors than rank 0: names, types, shapes or their order differ");
  const json &list = given["boxes"];
  auto boxes = list.begin();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (isReplicated(tensors[i]))
      continue;
    if (boxes == list.end() || !boxes->is_array() || boxes->size() != 2)
      return invalid(who + " says nothing of its part of " + quote(tensors[i].name));
    Box box{numbers((*boxes)[0]), numbers((*boxes)[1])};
    index.tensors[i].pieces.push_back({static_cast<size_t>(rank), tensors[i].name, std::move(box)});
    ++boxes;
  }
  return {};
}

StatusOr<std::string> Save::begin(const std::vector<std::string> &texts) {
  index.step = step;
  index.generation = group.generation;
  index.mesh = options.mesh;
  if (index.mesh.empty())
    index.mesh = {{"data", group.worldSize}};
  index.state = options.state;
  for (const CheckpointTensor &tensor : tensors)
    index.tensors.push_back({tensor.name, tensor.role, tensor.dtype, tensor.shape, {}});
  for (const Dealt &dealt : dealOut(tensors, group.worldSize))
    index.tensors[dealt.tensor].pieces.push_back(
        {static_cast<size_t>(dealt.member), tensors[dealt.tensor].name, dealt.box});
  for (size_t rank = 0; rank < texts.size(); ++rank)
    if (Status status = readBoxes(texts[rank], static_cast<int>(rank)); !status.ok())
      return status;
  for (const CheckpointIndex::Tensor &tensor : index.tensors) {
    std::vector<Box> boxes;
    boxes.reserve(tensor.pieces.size());
    for (const CheckpointIndex::Piece &piece : tensor.pieces)
      boxes.push_back(piece.box);
    if (Status status = checkCoverage(tensor.shape, std::move(boxes)); !status.ok())
      return status.withContext("tensor " + quote(tensor.name));
  }
  Status status = makeDirectories(directory);
  if (status.ok())
    status = removeLeftovers(directory);
  replaces = isComplete(path());
  if (status.ok())
    status = makeDirectories(path());
  if (!status.ok())
    return status;
  return std::to_string(nextAttempt(path(), group.worldSize));
}

StatusOr<std::string> Save::writePieces(int attempt) const {
  std::vector<TensorView> views;
  views.reserve(mine.size());
  for (const Written &piece : mine)
    views.push_back({tensors[piece.tensor].name, tensors[piece.tensor].dtype, piece.box.extent, piece.data});
  StatusOr<SafetensorsImage> image = layOutSafetensors(views, {{"step", std::to_string(step)}});
  if (!image.ok())
    return image.status();
  Sha256 hash;
  int64_t bytes = 0;
  std::vector<std::span<const std::byte>> chunks = image->chunks();
  for (std::span<const std::byte> chunk : chunks) {
    hash.add(chunk);
    bytes += std::ssize(chunk);
  }
  if (Status status = replaceFile(inFolder(path(), memberFileName(group.rank, attempt)), chunks); !status.ok())
    return status;
  return json({{"bytes", bytes}, {"sha256", hex(view(hash.finish()))}}).dump();
}

StatusOr<std::string> Save::complete(const std::vector<std::string> &texts, int attempt) {
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    json given = json::parse(texts[rank], nullptr, /*allow_exceptions=*/false);
    if (!given.is_object())
      return invalid("rank " + std::to_string(rank) + " says nothing of its file");
    index.files.push_back(
        {memberFileName(static_cast<int>(rank), attempt), numberIn(given, "bytes"), textIn(given, "sha256")});
  }
  std::string text = index.toJson();
  if (std::ssize(text) > kLongestIndex)
    return Status(StatusCode::LimitExceeded, "expects an index of at most " + std::to_string(kLongestIndex) +
                                                 " bytes, got " + std::to_string(text.size()));
  std::string latest = stepName(step) + "\n";
  std::span<const std::byte> bytes = std::as_bytes(std::span(text)), name = std::as_bytes(std::span(latest));
  Status status = replaceFile(inFolder(path(), kIndexName), {{bytes}});
  if (status.ok())
    status = replaceFile(inFolder(directory, kLatestName), {{name}});
  // What a checkpoint of the same step has left when this one replaced it.
  if (status.ok() && replaces)
    status = removeLeftovers(directory);
  if (status.ok())
    status = removeOld(directory, stepName(step), options.keep);
  return status.ok() ? StatusOr<std::string>(std::string()) : StatusOr<std::string>(status);
}

Status Save::run() {
  StatusOr<std::string> text = fault.ok() ? StatusOr<std::string>(describe()) : StatusOr<std::string>(fault);
  StatusOr<std::string> begun = round.meet(text, [&](const auto &texts) { return begin(texts); });
  if (!begun.ok())
    return begun.status().withContext("checkpoint of step " + std::to_string(step));
  int attempt = 1;
  std::from_chars(begun->data(), begun->data() + begun->size(), attempt);
  StatusOr<std::string> written = writePieces(attempt);
  return round.meet(written, [&](const auto &texts) { return complete(texts, attempt); })
      .status()
      .withContext("checkpoint of step " + std::to_string(step));
}

} // namespace dlc::runtime
