#pragma once

#include "rendezvous/Digest.h"

#include "dlc/runtime/Store.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// What client and server of a store say to each other. All numbers are little-endian.
///
///   server  greeting: "dlcstore", u32 version, 32 bytes nonce
///   client  Hello: 32 bytes nonce, u64 rank, u64 generation            (a frame)
///   server  Welcome or Failure (frames), or u32 0: refused
///   then requests of the client (key and values, each u32 length and bytes) and Reply or Failure to each
///
///   frame: u32 bytes that follow, u8 type, u64 counter, body, 32 bytes HMAC-SHA256 of all before
///
/// Each direction has its own key, made of the secret and both nonces, and its counter rises with every frame: a frame
/// that is repeated, reflected, or of another connection does not verify. The key proves who knows the secret.
namespace dlc::runtime {

constexpr std::string_view kGreeting = "dlcstore";
constexpr uint32_t kStoreVersion = 2;
constexpr size_t kGreetingSize = kGreeting.size() + 4 + kDigestSize;

constexpr size_t kLongestHello = 512;
constexpr size_t kLongestFrame = 2 * kLongestStoreValue + kLongestStoreKey + 128;

enum class FrameType : uint8_t {
  Hello = 1,
  Set,
  Get,
  Watch,
  Add,
  CompareSet,
  SetWhenLost,
  Welcome = 64,
  Reply,
  Failure
};

struct Frame {
  FrameType type;
  uint64_t counter;
  std::string_view body; ///< into the bytes it was read from
};

/// Writes the numbers and texts of a body.
class BodyWriter {
public:
  BodyWriter &number(uint64_t value, size_t bytes = 8);
  BodyWriter &text(std::string_view text);
  BodyWriter &raw(std::string_view bytes);
  const std::string &bytes() const { return bytes_; }

private:
  std::string bytes_;
};

/// Reads a body; past its end everything is zero or empty and done() is false.
class BodyReader {
public:
  explicit BodyReader(std::string_view bytes) : rest_(bytes) {}
  uint64_t number(size_t bytes = 8);
  std::string_view text();
  std::string_view raw(size_t bytes);
  std::string_view rest() { return raw(rest_.size()); }

  /// Everything read was there, and nothing is left.
  bool done() const { return complete_ && rest_.empty(); }

private:
  std::string_view rest_;
  bool complete_ = true;
};

/// The key of one direction of a connection.
Digest frameKey(std::string_view secret, bool fromServer, std::string_view serverNonce, std::string_view clientNonce);

/// Makes frames.
class FrameSealer {
public:
  explicit FrameSealer(Digest key) : key_(key) {}
  std::string seal(FrameType type, std::string_view body);
  uint64_t counter() const { return counter_; } ///< of the last frame

private:
  Digest key_;
  uint64_t counter_ = 0;
};

/// Size of the first frame in `bytes`, whole or not; nothing while that cannot be known. InvalidInput: no frame can
/// have this length, or more than `longest`.
StatusOr<std::optional<size_t>> frameSize(std::string_view bytes, size_t longest);

/// The parts of a whole frame, not yet verified.
Frame frameParts(std::string_view bytes);

/// Verifies frames.
class FrameOpener {
public:
  explicit FrameOpener(Digest key) : key_(key) {}

  /// Of a whole frame. InvalidInput: wrong HMAC, or a counter that does not rise.
  StatusOr<Frame> open(std::string_view bytes);

private:
  Digest key_;
  uint64_t last_ = 0;
};

} // namespace dlc::runtime
