#include "base/Gzip.h"

#include "base/FileError.h"
#include "base/MappedFile.h"

#include <algorithm>
#include <limits>
#include <span>
#include <zlib.h>

namespace dlc {
namespace {

/// Owns zlib's state.
class Inflater {
public:
  Inflater() : ready_(::inflateInit2(&stream, gzipFormat + MAX_WBITS) == Z_OK) {}
  Inflater(const Inflater &) = delete;
  Inflater &operator=(const Inflater &) = delete;
  ~Inflater() {
    if (ready_)
      ::inflateEnd(&stream);
  }
  bool ready() const { return ready_; }

  z_stream stream{};

private:
  static constexpr int gzipFormat = 16;
  bool ready_;
};

StatusOr<std::string> decompress(std::span<const std::byte> bytes, size_t limit) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (!text.starts_with("\x1f\x8b"))
    return invalidFile("expected a gzip-compressed file beginning with bytes 1f 8b, found " +
                       (text.empty() ? "an empty file" : quote(text.substr(0, 8))));
  if (bytes.size() > std::numeric_limits<uInt>::max())
    return Status(StatusCode::LimitExceeded,
                  "expected a compressed file below 4 GiB, found " + std::to_string(bytes.size()) + " bytes");
  Inflater inflater;
  if (!inflater.ready())
    return Status(StatusCode::Internal, "zlib does not start");
  z_stream &stream = inflater.stream;
  stream.next_in = const_cast<Bytef *>(reinterpret_cast<const Bytef *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string content;
  Bytef block[16384];
  for (int code = Z_OK; code != Z_STREAM_END;) {
    stream.next_out = block;
    stream.avail_out = sizeof block;
    code = ::inflate(&stream, Z_NO_FLUSH);
    size_t position = bytes.size() - stream.avail_in;
    if (code == Z_BUF_ERROR || (code == Z_OK && stream.avail_in == 0 && stream.avail_out != 0))
      return invalidFile("expected more compressed data after byte " + std::to_string(position) +
                         ", found the end of the file; it is cut short");
    if (code != Z_OK && code != Z_STREAM_END)
      return invalidFile("expected valid compressed data, found " + std::string(stream.msg ? stream.msg : "an error") +
                         " before byte " + std::to_string(position));
    content.append(reinterpret_cast<const char *>(block), sizeof block - stream.avail_out);
    if (content.size() > limit)
      return Status(StatusCode::LimitExceeded,
                    "expected at most " + std::to_string(limit) + " bytes of content, found more");
  }
  if (stream.avail_in != 0)
    return invalidFile("expected the file to end at byte " + std::to_string(bytes.size() - stream.avail_in) +
                       ", found " + std::to_string(stream.avail_in) + " more bytes");
  return content;
}

} // namespace

StatusOr<std::string> readGzip(const std::string &path, size_t limit) {
  StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file.ok())
    return file.status().withContext(path);
  StatusOr<std::string> content = decompress(file.value()->bytes(), limit);
  return content.ok() ? std::move(content) : content.status().withContext(path);
}

} // namespace dlc
