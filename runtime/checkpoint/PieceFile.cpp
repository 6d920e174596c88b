#include "checkpoint/PieceFile.h"

#include "base/FileError.h"
#include "base/SafetensorsImage.h"
#include "checkpoint/Folder.h"
#include "rendezvous/Digest.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

namespace dlc::runtime {
namespace {

constexpr int64_t kBlock = 1 << 20;

/// Elements between neighbours of each dimension in a dense array.
std::vector<int64_t> stridesOf(const std::vector<int64_t> &extent) {
  std::vector<int64_t> strides(extent.size(), 1);
  for (size_t i = extent.size(); i-- > 1;)
    strides[i - 1] = strides[i] * extent[i];
  return strides;
}

/// Calls `run(from, to, count)` for each longest range of elements that is contiguous in both boxes.
Status forEachRun(const Box &common, const Box &source, const Box &target,
                  const std::function<Status(int64_t, int64_t, int64_t)> &run) {
  if (common.volume() == 0)
    return {};
  size_t rank = common.extent.size();
  // Dimensions from `inner` on form one run.
  size_t inner = rank;
  int64_t count = 1;
  while (inner > 0) {
    --inner;
    count *= common.extent[inner];
    if (common.extent[inner] != source.extent[inner] || common.extent[inner] != target.extent[inner])
      break;
  }
  std::vector<int64_t> sourceStrides = stridesOf(source.extent), targetStrides = stridesOf(target.extent);
  std::vector<int64_t> index = common.start;
  while (true) {
    int64_t from = 0, to = 0;
    for (size_t i = 0; i < rank; ++i) {
      from += (index[i] - source.start[i]) * sourceStrides[i];
      to += (index[i] - target.start[i]) * targetStrides[i];
    }
    if (Status status = run(from, to, count); !status.ok())
      return status;
    size_t i = inner;
    while (i > 0 && ++index[i - 1] == common.start[i - 1] + common.extent[i - 1]) {
      --i;
      index[i] = common.start[i];
    }
    if (i == 0)
      return {};
  }
}

} // namespace

PieceFile::PieceFile(std::string path, CheckpointIndex::File file, int descriptor)
    : path(std::move(path)), file(std::move(file)), descriptor(descriptor) {}

StatusOr<std::unique_ptr<PieceFile>> PieceFile::open(const std::string &directory, const CheckpointIndex::File &file) {
  std::string path = inFolder(directory, file.name);
  std::unique_ptr<PieceFile> opened(
      new PieceFile(path, file, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)));
  struct stat info{};
  if (!opened->descriptor.valid() || ::fstat(opened->descriptor.get(), &info) != 0)
    return systemError("cannot open").withContext(path);
  if (!S_ISREG(info.st_mode))
    return invalidFile("expected a regular file").withContext(path);
  if (info.st_size != file.bytes)
    return invalidFile("expected " + std::to_string(file.bytes) + " bytes, found " + std::to_string(info.st_size) +
                       "; the checkpoint is damaged")
        .withContext(path);
  return opened;
}

Status PieceFile::readRange(int64_t offset, std::span<std::byte> to) const {
  while (!to.empty()) {
    size_t most = std::min(to.size(), size_t{1} << 30); // Linux reads at most 2 GiB a call
    ssize_t got = ::pread(descriptor.get(), to.data(), most, offset);
    if (got < 0 && errno != EINTR)
      return systemError("cannot read").withContext(path);
    if (got == 0)
      return invalidFile("was cut while it was read").withContext(path);
    if (got > 0) {
      to = to.subspan(static_cast<size_t>(got));
      offset += got;
    }
  }
  return {};
}

Status PieceFile::verify() const {
  std::vector<std::byte> block(static_cast<size_t>(std::min(kBlock, file.bytes)));
  Sha256 hash;
  for (int64_t offset = 0; offset < file.bytes; offset += kBlock) {
    std::span<std::byte> part(block.data(), static_cast<size_t>(std::min(kBlock, file.bytes - offset)));
    if (Status status = readRange(offset, part); !status.ok())
      return status;
    hash.add(part);
  }
  if (hex(view(hash.finish())) == file.sha256)
    return {};
  return invalidFile("its SHA-256 is not that of index.json; the checkpoint is damaged").withContext(path);
}

Status PieceFile::readHeader() {
  auto bad = [&] { return invalidFile("is no safetensors file").withContext(path); };
  constexpr auto lengthBytes = static_cast<int64_t>(kSafetensorsLengthBytes);
  std::array<std::byte, kSafetensorsLengthBytes> field{};
  if (file.bytes < lengthBytes)
    return bad();
  if (Status status = readRange(0, field); !status.ok())
    return status;
  uint64_t length = 0;
  for (size_t i = 0; i < field.size(); ++i)
    length |= std::to_integer<uint64_t>(field[i]) << (8 * i);
  if (length > kLongestSafetensorsHeader || length > static_cast<uint64_t>(file.bytes - lengthBytes))
    return bad();
  std::string text(length, '\0');
  if (Status status = readRange(lengthBytes, std::as_writable_bytes(std::span(text))); !status.ok())
    return status;
  StatusOr<SafetensorsHeader> header = parseSafetensorsHeader(text, kSafetensorsLengthBytes);
  if (!header.ok())
    return header.status().withContext(path);
  dataBegin = lengthBytes + static_cast<int64_t>(length);
  for (SafetensorsEntry &entry : header->entries) {
    std::string name = entry.view.name;
    entries.emplace(std::move(name), std::move(entry));
  }
  return {};
}

StatusOr<int64_t> PieceFile::locate(const CheckpointIndex::Tensor &tensor, const CheckpointIndex::Piece &piece) {
  if (entries.empty())
    if (Status status = readHeader(); !status.ok())
      return status;
  auto found = entries.find(piece.key);
  std::string type = typeString(tensor.dtype, piece.box.extent);
  if (found == entries.end())
    return invalidFile("has no tensor " + quote(piece.key) + ", which index.json expects as " + type).withContext(path);
  const SafetensorsEntry &entry = found->second;
  if (entry.view.dtype != tensor.dtype || entry.view.shape != piece.box.extent)
    return invalidFile("tensor " + quote(piece.key) + " is " + typeString(entry.view.dtype, entry.view.shape) +
                       ", index.json expects " + type)
        .withContext(path);
  auto bytes = static_cast<uint64_t>(piece.box.volume()) * static_cast<uint64_t>(byteSize(tensor.dtype));
  auto room = static_cast<uint64_t>(file.bytes - dataBegin);
  if (entry.begin > entry.end || entry.end > room || entry.end - entry.begin != bytes)
    return invalidFile("tensor " + quote(piece.key) + " of " + std::to_string(bytes) + " bytes lies from " +
                       std::to_string(entry.begin) + " to " + std::to_string(entry.end) + " of " + std::to_string(room))
        .withContext(path);
  return dataBegin + static_cast<int64_t>(entry.begin);
}

Status PieceFile::read(const CheckpointIndex::Tensor &tensor, const CheckpointIndex::Piece &piece, const Box &wanted,
                       std::byte *target) {
  StatusOr<int64_t> begin = locate(tensor, piece);
  if (!begin.ok())
    return begin.status();
  int64_t size = byteSize(tensor.dtype);
  return forEachRun(intersect(piece.box, wanted), piece.box, wanted, [&](int64_t from, int64_t to, int64_t count) {
    std::span<std::byte> part(target + to * size, static_cast<size_t>(count * size));
    if (Status status = readRange(*begin + from * size, part); !status.ok())
      return status;
    // A byte of another value in a truth value would be neither for compiled code.
    if (tensor.dtype == DType::I1 &&
        std::any_of(part.begin(), part.end(), [](std::byte b) { return b > std::byte{1}; }))
      return invalidFile("tensor " + quote(piece.key) + ": expected 0 or 1 for truth values").withContext(path);
    return Status();
  });
}

} // namespace dlc::runtime
