#include "rendezvous/Digest.h"

#include "base/FileError.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

namespace dlc::runtime {

Digest hmac(std::string_view key, std::string_view text) {
  Digest digest{};
  unsigned int size = 0;
  // A null pointer would mean the previous key.
  const char *bytes = key.empty() ? "" : key.data();
  ::HMAC(::EVP_sha256(), bytes, static_cast<int>(key.size()), reinterpret_cast<const unsigned char *>(text.data()),
         text.size(), reinterpret_cast<unsigned char *>(digest.data()), &size);
  return digest;
}

Digest sha256(std::string_view text) {
  Digest digest{};
  unsigned int size = 0;
  ::EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char *>(digest.data()), &size, ::EVP_sha256(),
               nullptr);
  return digest;
}

Sha256::Sha256() : context(::EVP_MD_CTX_new()) { ::EVP_DigestInit_ex(context.get(), ::EVP_sha256(), nullptr); }

void Sha256::add(std::span<const std::byte> bytes) { ::EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()); }

Digest Sha256::finish() {
  Digest digest{};
  ::EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char *>(digest.data()), nullptr);
  return digest;
}

void Sha256::Free::operator()(evp_md_ctx_st *context) const { ::EVP_MD_CTX_free(context); }

bool sameDigest(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

StatusOr<Digest> drawNonce() {
  Digest nonce{};
  if (::getrandom(nonce.data(), nonce.size(), 0) != static_cast<ssize_t>(nonce.size()))
    return systemError("cannot draw random bytes");
  return nonce;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

} // namespace dlc::runtime
