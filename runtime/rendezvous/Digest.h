#pragma once

#include "dlc/runtime/Status.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace dlc::runtime {

constexpr size_t kDigestSize = 32;

/// 32 bytes: a SHA-256, an HMAC, a nonce, a key.
using Digest = std::array<char, kDigestSize>;

inline std::string_view view(const Digest &digest) { return {digest.data(), digest.size()}; }

/// HMAC-SHA256 of `text`.
Digest hmac(std::string_view key, std::string_view text);

/// SHA-256 of `text`.
Digest sha256(std::string_view text);

/// SHA-256 of bytes that come in parts.
class Sha256 {
public:
  Sha256();
  void add(std::span<const std::byte> bytes);
  /// Of all so far; the end.
  Digest finish();

private:
  struct Free {
    void operator()(evp_md_ctx_st *context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context;
};

/// Compares in constant time.
bool sameDigest(std::string_view a, std::string_view b);

/// Fresh random bytes.
StatusOr<Digest> drawNonce();

/// Lower-case hexadecimal digits.
std::string hex(std::string_view bytes);

} // namespace dlc::runtime
