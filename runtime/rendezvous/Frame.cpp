#include "rendezvous/Frame.h"

#include <algorithm>

namespace dlc::runtime {
namespace {

constexpr size_t lengthSize = 4, headerSize = lengthSize + 1 + 8;

} // namespace

BodyWriter &BodyWriter::number(uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    bytes_ += static_cast<char>(value >> (8 * i));
  return *this;
}

BodyWriter &BodyWriter::text(std::string_view text) { return number(text.size(), 4).raw(text); }

BodyWriter &BodyWriter::raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

std::string_view BodyReader::raw(size_t bytes) {
  complete_ = complete_ && bytes <= rest_.size();
  std::string_view result = rest_.substr(0, std::min(bytes, rest_.size()));
  rest_.remove_prefix(result.size());
  return complete_ ? result : std::string_view();
}

uint64_t BodyReader::number(size_t bytes) {
  uint64_t value = 0;
  std::string_view raw = this->raw(bytes);
  for (size_t i = 0; i < raw.size(); ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(raw[i])) << (8 * i);
  return value;
}

std::string_view BodyReader::text() { return raw(number(4)); }

Digest frameKey(std::string_view secret, bool fromServer, std::string_view serverNonce, std::string_view clientNonce) {
  std::string text = fromServer ? "dlc store server" : "dlc store client";
  return hmac(secret, text.append(serverNonce).append(clientNonce));
}

std::string FrameSealer::seal(FrameType type, std::string_view body) {
  BodyWriter frame;
  frame.number(headerSize - lengthSize + body.size() + kDigestSize, lengthSize)
      .number(static_cast<uint8_t>(type), 1)
      .number(++counter_)
      .raw(body);
  Digest digest = hmac(view(key_), frame.bytes());
  return frame.raw(view(digest)).bytes();
}

StatusOr<std::optional<size_t>> frameSize(std::string_view bytes, size_t longest) {
  if (bytes.size() < lengthSize)
    return std::optional<size_t>();
  size_t size = lengthSize + BodyReader(bytes).number(lengthSize);
  if (size < headerSize + kDigestSize || size > longest)
    return Status(StatusCode::InvalidInput, "a frame of " + std::to_string(size) + " bytes, allowed are " +
                                                std::to_string(headerSize + kDigestSize) + " to " +
                                                std::to_string(longest));
  return std::optional<size_t>(size);
}

Frame frameParts(std::string_view bytes) {
  BodyReader reader(bytes);
  reader.raw(lengthSize);
  auto type = static_cast<FrameType>(reader.number(1));
  uint64_t counter = reader.number();
  return {type, counter, reader.raw(bytes.size() - headerSize - kDigestSize)};
}

StatusOr<Frame> FrameOpener::open(std::string_view bytes) {
  std::string_view signed_ = bytes.substr(0, bytes.size() - kDigestSize);
  if (Digest digest = hmac(view(key_), signed_); !sameDigest(view(digest), bytes.substr(signed_.size())))
    return Status(StatusCode::InvalidInput, "a frame with a wrong signature");
  Frame frame = frameParts(bytes);
  if (frame.counter <= last_)
    return Status(StatusCode::InvalidInput, "a repeated frame");
  last_ = frame.counter;
  return frame;
}

} // namespace dlc::runtime
