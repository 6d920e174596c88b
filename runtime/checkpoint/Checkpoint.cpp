#include "dlc/runtime/Checkpoint.h"

#include "base/FileError.h"
#include "checkpoint/Deal.h"
#include "checkpoint/Folder.h"
#include "checkpoint/PieceFile.h"
#include "checkpoint/Round.h"
#include "dlc/runtime/TensorView.h"
#include "rendezvous/Digest.h"

#include <algorithm>
#include <new>

namespace dlc::runtime {
namespace {

Status invalid(const std::string &message) { return {StatusCode::InvalidInput, message}; }

/// The index as one member sees it, with the digest of its text.
struct Opened {
  CheckpointIndex index;
  std::string digest;
};

StatusOr<Opened> openIndex(const std::string &path) {
  StatusOr<std::string> text = readSmallFile(inFolder(path, kIndexName), kLongestIndex);
  if (!text.ok())
    return text.status();
  StatusOr<CheckpointIndex> index = CheckpointIndex::parse(*text);
  if (!index.ok())
    return index.status().withContext(path);
  for (const CheckpointIndex::File &file : index->files)
    if (StatusOr<std::unique_ptr<PieceFile>> opened = PieceFile::open(path, file); !opened.ok())
      return opened.status();
  return Opened{index.take(), hex(view(sha256(*text)))};
}

/// All members must read the same checkpoint.
StatusOr<std::string> compareDigests(const std::vector<std::string> &digests) {
  for (size_t rank = 1; rank < digests.size(); ++rank)
    if (digests[rank] != digests[0])
      return invalid("rank " + std::to_string(rank) +
                     " reads another index.json than rank 0; do all ranks see the same file system?");
  return std::string();
}

Box boxOf(const CheckpointTensor &tensor) {
  return isReplicated(tensor) ? Box::whole(tensor.shape) : Box{tensor.start, tensor.extent};
}

/// One member's part of a read.
class Reader {
public:
  Reader(std::string path, const CheckpointIndex &index) : path(std::move(path)), index(index) {
    for (const CheckpointIndex::Tensor &tensor : index.tensors)
      tensors.emplace(tensor.name, &tensor);
  }

  Status compareNames(std::span<const CheckpointTensor> wanted, bool strict) const {
    std::string missing, unexpected, differing;
    std::map<std::string_view, int> asked;
    for (const CheckpointTensor &tensor : wanted) {
      if (++asked[tensor.name] > 1)
        return invalid("tensor " + quote(tensor.name) + " is wanted twice");
      const CheckpointIndex::Tensor *found = find(tensor.name);
      if (!found)
        missing += " " + tensor.name;
      else if (found->dtype != tensor.dtype || found->shape != tensor.shape)
        differing += " " + tensor.name + " is " + typeString(tensor.dtype, tensor.shape) + ", the checkpoint has " +
                     typeString(found->dtype, found->shape) + ";";
      else if (!isInside(boxOf(tensor), tensor.shape))
        return invalid("tensor " + quote(tensor.name) + ": expects a box inside " +
                       typeString(tensor.dtype, tensor.shape) + ", got another");
    }
    for (const CheckpointIndex::Tensor &tensor : index.tensors)
      if (!asked.contains(tensor.name))
        unexpected += " " + tensor.name;
    if (differing.empty() && (!strict || (missing.empty() && unexpected.empty())))
      return {};
    return invalid(path + ": does not fit the program; missing:" + (missing.empty() ? " none" : missing) +
                   "; unexpected:" + (unexpected.empty() ? " none" : unexpected) +
                   "; differing:" + (differing.empty() ? " none" : differing));
  }

  /// The checksums of this member's share of the files.
  Status verify(int rank, int worldSize) const {
    for (auto i = static_cast<size_t>(rank); i < index.files.size(); i += static_cast<size_t>(worldSize)) {
      StatusOr<std::unique_ptr<PieceFile>> file = PieceFile::open(path, index.files[i]);
      Status status = file.ok() ? (*file)->verify() : file.status();
      if (!status.ok())
        return status;
    }
    return {};
  }

  StatusOr<std::vector<Checkpoint::Data>> read(std::span<const CheckpointTensor> wanted) const {
    std::vector<Checkpoint::Data> all;
    std::vector<std::vector<Range>> ranges(index.files.size());
    for (const CheckpointTensor &tensor : wanted) {
      const CheckpointIndex::Tensor *found = find(tensor.name);
      Checkpoint::Data &data = all.emplace_back();
      if (!found)
        continue;
      Box box = boxOf(tensor);
      auto bytes = static_cast<size_t>(box.volume() * byteSize(tensor.dtype));
      data.reset(new (std::nothrow) std::byte[bytes]);
      if (!data)
        return Status(StatusCode::LimitExceeded,
                      "no memory for " + quote(tensor.name) + ", " + std::to_string(bytes) + " bytes");
      for (const CheckpointIndex::Piece &piece : found->pieces)
        if (intersect(piece.box, box).volume() != 0)
          ranges[piece.file].push_back({found, &piece, box, data.get()});
    }
    // One file at a time: a job may have more members than a process may have open files.
    for (size_t i = 0; i < ranges.size(); ++i)
      if (Status status = readFile(i, ranges[i]); !status.ok())
        return status;
    return all;
  }

private:
  struct Range {
    const CheckpointIndex::Tensor *tensor;
    const CheckpointIndex::Piece *piece;
    Box box;
    std::byte *target;
  };

  Status readFile(size_t number, const std::vector<Range> &ranges) const {
    if (ranges.empty())
      return {};
    StatusOr<std::unique_ptr<PieceFile>> file = PieceFile::open(path, index.files[number]);
    Status status = file.status();
    for (size_t i = 0; i < ranges.size() && status.ok(); ++i)
      status = (*file)->read(*ranges[i].tensor, *ranges[i].piece, ranges[i].box, ranges[i].target);
    return status;
  }

  const CheckpointIndex::Tensor *find(std::string_view name) const {
    auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : found->second;
  }

  std::string path;
  const CheckpointIndex &index;
  std::map<std::string_view, const CheckpointIndex::Tensor *> tensors;
};

StatusOr<std::string> textOf(const Status &status) {
  return status.ok() ? StatusOr<std::string>(std::string()) : StatusOr<std::string>(status);
}

} // namespace

Checkpoint::Checkpoint(std::string path, std::shared_ptr<const CheckpointIndex> index)
    : path_(std::move(path)), index(std::move(index)) {}

int64_t Checkpoint::step() const { return index->step; }
const std::map<std::string, std::string> &Checkpoint::state() const { return index->state; }

std::vector<CheckpointTensor> Checkpoint::tensors() const {
  std::vector<CheckpointTensor> all;
  for (const CheckpointIndex::Tensor &tensor : index->tensors)
    all.push_back({tensor.name, tensor.role, tensor.dtype, tensor.shape, {}, {}});
  return all;
}

StatusOr<Checkpoint> Checkpoint::open(const CheckpointGroup &group, const std::string &path) {
  Round round(group, "the start of loading " + path);
  StatusOr<Opened> opened = openIndex(path);
  Status status =
      round.meet(opened.ok() ? StatusOr<std::string>(opened->digest) : opened.status(), compareDigests).status();
  if (!status.ok())
    return status;
  return Checkpoint(path, std::make_shared<const CheckpointIndex>(std::move(opened->index)));
}

StatusOr<std::optional<Checkpoint>> Checkpoint::latest(const CheckpointGroup &group, const std::string &directory) {
  // Member 0 looks, so that all take the same one.
  Round round(group, "the search in " + directory);
  StatusOr<std::string> name =
      round.meet(textOf({}), [&](const std::vector<std::string> &) { return newestName(directory); });
  if (!name.ok())
    return name.status();
  if (name->empty())
    return std::optional<Checkpoint>();
  StatusOr<Checkpoint> checkpoint = open(group, inFolder(directory, *name));
  return checkpoint.ok() ? StatusOr<std::optional<Checkpoint>>(checkpoint.take())
                         : StatusOr<std::optional<Checkpoint>>(checkpoint.status());
}

StatusOr<std::vector<Checkpoint::Data>> Checkpoint::read(const CheckpointGroup &group,
                                                         std::span<const CheckpointTensor> wanted, bool strict) const {
  Round round(group, "the end of loading " + path_);
  Reader reader(path_, *index);
  Status status = reader.compareNames(wanted, strict);
  if (status.ok())
    status = reader.verify(group.rank, group.worldSize);
  std::vector<Data> data;
  if (status.ok()) {
    StatusOr<std::vector<Data>> read = reader.read(wanted);
    status = read.status();
    if (read.ok())
      data = read.take();
  }
  if (Status agreed = round.agree(status); !agreed.ok())
    return agreed;
  return data;
}

} // namespace dlc::runtime
