#include "dlc/runtime/Npy.h"

#include "base/FileError.h"
#include "base/MappedFile.h"
#include "base/NpyHeader.h"
#include "base/ReplaceFile.h"

#include <algorithm>
#include <string_view>

namespace dlc {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr size_t longestHeader = 65536; // NumPy itself reads no longer ones unless told to trust the file
constexpr size_t dataAlignment = 64;

struct HeaderText {
  std::string_view dictionary;
  size_t begin;
};

/// The dictionary's text; its length is compared with the file before it is believed.
StatusOr<HeaderText> headerText(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (!text.starts_with(magic))
    return invalidFile("expected a .npy file beginning with 93 'NUMPY', found " +
                       (text.starts_with("PK")         ? "a zip archive (.npz?); take one array out of it"
                        : text.starts_with("\x1f\x8b") ? "a gzip-compressed file; decompress it"
                                                       : quote(text.substr(0, magic.size()))));
  if (text.size() < 10)
    return invalidFile("expected a version and a header length in bytes 6 to 9, found a file of " +
                       std::to_string(text.size()) + " bytes");
  auto byte = [&](size_t index) { return std::to_integer<size_t>(bytes[index]); };
  size_t major = byte(6), minor = byte(7);
  if ((major != 1 && major != 2) || minor != 0)
    return invalidFile("expected .npy format 1.0 or 2.0, found " + std::to_string(major) + "." + std::to_string(minor) +
                       " at byte 6");
  size_t begin = major == 1 ? 10 : 12;
  if (text.size() < begin)
    return invalidFile("expected a header length of 4 bytes at byte 8, found a file of " + std::to_string(text.size()) +
                       " bytes");
  size_t length = byte(8) | byte(9) << 8U | (major == 1 ? 0 : byte(10) << 16U | byte(11) << 24U);
  if (length > longestHeader)
    return invalidFile("expected a header of at most " + std::to_string(longestHeader) + " bytes, found length " +
                       std::to_string(length) + " at byte 8");
  if (length > text.size() - begin)
    return invalidFile("expected a header of " + std::to_string(length) + " bytes from byte " + std::to_string(begin) +
                       ", found a file of " + std::to_string(text.size()) + " bytes");
  return HeaderText{text.substr(begin, length), begin};
}

} // namespace

StatusOr<Npy> Npy::parse(std::span<const std::byte> bytes) {
  StatusOr<HeaderText> header = headerText(bytes);
  if (!header.ok())
    return header.status();
  StatusOr<TensorView> view = parseNpyHeader(header->dictionary, header->begin);
  if (!view.ok())
    return view.status();
  std::span<const std::byte> data = bytes.subspan(header->begin + header->dictionary.size());
  std::optional<int64_t> needed = denseByteSize(view->dtype, view->shape);
  std::string type = typeString(view->dtype, view->shape);
  if (!needed)
    return invalidFile("expected a size below 2^63 bytes, found " + type);
  if (static_cast<uint64_t>(*needed) != data.size())
    return invalidFile(type + " needs " + std::to_string(*needed) + " bytes of data, found " +
                       std::to_string(data.size()) + " from byte " + std::to_string(bytes.size() - data.size()));
  auto wrong = std::find_if(data.begin(), data.end(), [](std::byte value) { return value > std::byte{1}; });
  if (view->dtype == DType::I1 && wrong != data.end())
    return invalidFile("expected 0 or 1 for '|b1', found " + std::to_string(std::to_integer<int>(*wrong)) +
                       " at byte " +
                       std::to_string(bytes.size() - data.size() + static_cast<size_t>(wrong - data.begin())));
  Npy result;
  result.array_ = view.take();
  result.array_.data = data.data();
  return result;
}

StatusOr<Npy> Npy::open(const std::string &path) {
  StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file.ok())
    return file.status().withContext(path);
  StatusOr<Npy> result = parse(file.value()->bytes());
  if (!result.ok())
    return result.status().withContext(path);
  result->file_ = file.take();
  return result;
}

Status writeNpy(const std::string &path, const TensorView &array) {
  std::optional<int64_t> size = denseByteSize(array.dtype, array.shape);
  if (!size)
    return invalidFile("expected a size below 2^63 bytes, found " + typeString(array.dtype, array.shape))
        .withContext(path);
  if (npyName(array.dtype).empty())
    return invalidFile("expected a type that .npy has, found " + typeString(array.dtype, array.shape) +
                       "; write safetensors, or convert to f32 first")
        .withContext(path);
  std::string shape;
  for (int64_t dim : array.shape)
    shape += std::to_string(dim) + (array.shape.size() == 1 ? "," : &dim == &array.shape.back() ? "" : ", ");
  std::string dictionary =
      "{'descr': '" + std::string(npyName(array.dtype)) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  std::string header(magic);
  header.append({'\1', '\0'});
  // The line break that ends the header is the last byte before the data.
  size_t end = header.size() + 2 + dictionary.size() + 1;
  dictionary.append((dataAlignment - end % dataAlignment) % dataAlignment, ' ').push_back('\n');
  if (dictionary.size() > 0xFFFF)
    return Status(StatusCode::LimitExceeded,
                  "expected at most 65535 bytes of header, found " + std::to_string(dictionary.size()))
        .withContext(path);
  header.push_back(static_cast<char>(dictionary.size() & 0xFFU));
  header.push_back(static_cast<char>(dictionary.size() >> 8U));
  header += dictionary;
  std::span<const std::byte> chunks[] = {std::as_bytes(std::span(header)),
                                         {static_cast<const std::byte *>(array.data), static_cast<size_t>(*size)}};
  return replaceFile(path, chunks);
}

} // namespace dlc
