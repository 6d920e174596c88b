#include "dlc/runtime/Safetensors.h"

#include "base/FileError.h"
#include "base/MappedFile.h"
#include "base/ReplaceFile.h"
#include "base/SafetensorsHeader.h"
#include "base/SafetensorsImage.h"

#include <algorithm>
#include <tuple>

namespace dlc {
namespace {

constexpr uint64_t lengthBytes = kSafetensorsLengthBytes;
constexpr uint64_t longestHeader = kLongestSafetensorsHeader;
constexpr size_t headerAlignment = 8;

uint64_t readLittleEndian(const std::byte *bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < lengthBytes; ++i)
    value |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  return value;
}

/// The header's text; its length is compared with the file before it is believed.
StatusOr<std::string_view> headerText(std::span<const std::byte> bytes) {
  if (bytes.size() < lengthBytes)
    return invalidFile("expected a header length of 8 bytes at byte 0, found a file of " +
                       std::to_string(bytes.size()) + " bytes");
  uint64_t length = readLittleEndian(bytes.data());
  if (length > longestHeader)
    return invalidFile("expected a header of at most " + std::to_string(longestHeader) + " bytes, found length " +
                       std::to_string(length) + " at byte 0; is this a safetensors file?");
  if (length > bytes.size() - lengthBytes)
    return invalidFile("expected a header of " + std::to_string(length) + " bytes from byte 8, found a file of " +
                       std::to_string(bytes.size()) + " bytes");
  if (length < 2)
    return invalidFile("expected a header of at least 2 bytes, found length " + std::to_string(length) + " at byte 0");
  return std::string_view(reinterpret_cast<const char *>(bytes.data()) + lengthBytes, length);
}

/// Shape and type must need exactly the bytes from begin to end.
Status checkSize(const SafetensorsEntry &entry, uint64_t dataSize) {
  const TensorView &view = entry.view;
  std::string tensor = "tensor " + quote(view.name) + ": ";
  if (entry.begin > entry.end)
    return invalidFile(tensor + "expected data_offsets in order, found [" + std::to_string(entry.begin) + ", " +
                       std::to_string(entry.end) + "]");
  std::optional<int64_t> needed = denseByteSize(view.dtype, view.shape);
  if (!needed)
    return invalidFile(tensor + "expected a size below 2^63 bytes, found " + typeString(view.dtype, view.shape));
  if (static_cast<uint64_t>(*needed) != entry.end - entry.begin)
    return invalidFile(tensor + typeString(view.dtype, view.shape) + " needs " + std::to_string(*needed) +
                       " bytes, found " + std::to_string(entry.end - entry.begin) + " between data offsets " +
                       std::to_string(entry.begin) + " and " + std::to_string(entry.end));
  if (entry.end > dataSize)
    return invalidFile(tensor + "expected data up to offset " + std::to_string(entry.end) + ", found " +
                       std::to_string(dataSize) + " bytes of data; the file may be cut short");
  return {};
}

/// A byte of another value in a BOOL tensor would be neither true nor false for compiled code.
Status checkBooleans(const TensorView &view, std::span<const std::byte> data, uint64_t fileOffset) {
  if (view.dtype != DType::I1)
    return {};
  const std::byte *end = data.data() + data.size();
  const std::byte *wrong = std::find_if(data.data(), end, [](std::byte value) { return value > std::byte{1}; });
  if (wrong == end)
    return {};
  return invalidFile("tensor " + quote(view.name) + ": expected 0 or 1 for BOOL, found " +
                     std::to_string(std::to_integer<int>(*wrong)) + " at byte " +
                     std::to_string(fileOffset + static_cast<uint64_t>(wrong - data.data())));
}

} // namespace

StatusOr<Safetensors> Safetensors::parse(std::span<const std::byte> bytes) {
  StatusOr<std::string_view> text = headerText(bytes);
  if (!text.ok())
    return text.status();
  StatusOr<SafetensorsHeader> header = parseSafetensorsHeader(*text, lengthBytes);
  if (!header.ok())
    return header.status();
  std::span<const std::byte> data = bytes.subspan(lengthBytes + text->size());
  std::vector<SafetensorsEntry> &entries = header->entries;
  std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry &left, const SafetensorsEntry &right) {
    return std::tie(left.begin, left.end, left.view.name) < std::tie(right.begin, right.end, right.view.name);
  });

  Safetensors result;
  uint64_t covered = 0;
  for (SafetensorsEntry &entry : entries) {
    if (Status status = checkSize(entry, data.size()); !status.ok())
      return status;
    if (entry.begin != covered)
      return invalidFile("tensor " + quote(entry.view.name) + ": expected data from offset " + std::to_string(covered) +
                         " without hole or overlap, found offset " + std::to_string(entry.begin));
    covered = entry.end;
    std::span<const std::byte> own = data.subspan(entry.begin, entry.end - entry.begin);
    if (Status status = checkBooleans(entry.view, own, bytes.size() - data.size() + entry.begin); !status.ok())
      return status;
    entry.view.data = own.data();
    result.indexOfName_.emplace(entry.view.name, result.tensors_.size());
    result.tensors_.push_back(std::move(entry.view));
  }
  if (covered != data.size())
    return invalidFile("expected the data to end at offset " + std::to_string(covered) + ", found " +
                       std::to_string(data.size()) + " bytes of data");
  result.metadata_ = std::move(header->metadata);
  return result;
}

StatusOr<Safetensors> Safetensors::open(const std::string &path) {
  StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file.ok())
    return file.status().withContext(path);
  StatusOr<Safetensors> result = parse(file.value()->bytes());
  if (!result.ok())
    return result.status().withContext(path);
  result->file_ = file.take();
  return result;
}

const TensorView *Safetensors::find(std::string_view name) const {
  auto found = indexOfName_.find(name);
  return found == indexOfName_.end() ? nullptr : &tensors_[found->second];
}

namespace {

/// `"name":{"dtype":"F32","shape":[2],"data_offsets":[begin,end]}`
StatusOr<std::string> tensorRecord(const TensorView &view, uint64_t begin, uint64_t end) {
  StatusOr<std::string> name = jsonString(view.name);
  if (!name.ok())
    return name;
  std::string record = *name + ":{\"dtype\":\"" + std::string(safetensorsName(view.dtype)) + "\",\"shape\":[";
  for (size_t i = 0; i < view.shape.size(); ++i)
    record += (i == 0 ? "" : ",") + std::to_string(view.shape[i]);
  return record + "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

StatusOr<std::string> metadataRecord(const SafetensorsMetadata &metadata) {
  std::string record = "\"__metadata__\":{";
  for (const auto &[key, value] : metadata) {
    StatusOr<std::string> jsonKey = jsonString(key), jsonValue = jsonString(value);
    if (!jsonKey.ok() || !jsonValue.ok())
      return (jsonKey.ok() ? jsonValue : jsonKey).status();
    record += (record.back() == '{' ? "" : ",") + *jsonKey + ":" + *jsonValue;
  }
  return record + "}";
}

std::vector<const TensorView *> inFileOrder(std::span<const TensorView> tensors) {
  std::vector<const TensorView *> order;
  for (const TensorView &view : tensors)
    order.push_back(&view);
  std::sort(order.begin(), order.end(), [](const TensorView *left, const TensorView *right) {
    return std::pair(-byteSize(left->dtype), std::string_view(left->name)) <
           std::pair(-byteSize(right->dtype), std::string_view(right->name));
  });
  return order;
}

Status checkNames(std::span<const TensorView> tensors) {
  std::vector<std::string_view> names;
  for (const TensorView &view : tensors)
    names.push_back(view.name);
  std::sort(names.begin(), names.end());
  if (auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    return invalidFile("expected unique names, found " + quote(*twice) + " twice");
  if (std::binary_search(names.begin(), names.end(), "__metadata__"))
    return invalidFile("expected a tensor name, found '__metadata__', which the format reserves");
  return {};
}

} // namespace

StatusOr<SafetensorsImage> layOutSafetensors(std::span<const TensorView> tensors, const SafetensorsMetadata &metadata) {
  if (Status status = checkNames(tensors); !status.ok())
    return status;
  SafetensorsImage image;
  std::string &header = image.header = "{";
  if (!metadata.empty()) {
    StatusOr<std::string> record = metadataRecord(metadata);
    if (!record.ok())
      return record.status();
    header += *record;
  }
  uint64_t offset = 0;
  for (const TensorView *view : inFileOrder(tensors)) {
    std::optional<int64_t> size = denseByteSize(view->dtype, view->shape);
    if (!size || __builtin_add_overflow(offset, *size, &offset))
      return invalidFile("tensor " + quote(view->name) + ": expected a size below 2^63 bytes, found " +
                         typeString(view->dtype, view->shape));
    StatusOr<std::string> record = tensorRecord(*view, offset - static_cast<uint64_t>(*size), offset);
    if (!record.ok())
      return record.status();
    header += (header.size() == 1 ? "" : ",") + *record;
    image.data.emplace_back(static_cast<const std::byte *>(view->data), static_cast<size_t>(*size));
  }
  header += "}";
  header.append((headerAlignment - header.size() % headerAlignment) % headerAlignment, ' ');
  if (header.size() > longestHeader)
    return Status(StatusCode::LimitExceeded, "expected a header of at most " + std::to_string(longestHeader) +
                                                 " bytes, found " + std::to_string(header.size()));
  for (unsigned i = 0; i < lengthBytes; ++i)
    image.length[i] = static_cast<std::byte>(header.size() >> (8 * i));
  return image;
}

std::vector<std::span<const std::byte>> SafetensorsImage::chunks() const {
  std::vector<std::span<const std::byte>> all = {length, std::as_bytes(std::span(header))};
  all.insert(all.end(), data.begin(), data.end());
  return all;
}

Status writeSafetensors(const std::string &path, std::span<const TensorView> tensors,
                        const SafetensorsMetadata &metadata) {
  StatusOr<SafetensorsImage> image = layOutSafetensors(tensors, metadata);
  return image.ok() ? replaceFile(path, image->chunks()) : image.status().withContext(path);
}

} // namespace dlc
