#pragma once

#include "dlc/runtime/Status.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace dlc::runtime {

constexpr size_t kDigestSize = 32;

/// 32 bytes: a SHA-256, an HMAC, a nonce, a key.
using Digest = std::array<char, kDigestSize>;

inline std::string_view view(const Digest &digest) { return {digest.data(), digest.size()}; }

/// HMAC-SHA256 of `text`.
Digest hmac(std::string_view key, std::string_view text);

/// SHA-256 of `text`.
Digest sha256(std::string_view text);

/// Compares in constant time.
bool sameDigest(std::string_view a, std::string_view b);

/// Fresh random bytes.
StatusOr<Digest> drawNonce();

/// Lower-case hexadecimal digits.
std::string hex(std::string_view bytes);

} // namespace dlc::runtime
