#include "base/FileError.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace dlc {

Status invalidFile(std::string message) { return {StatusCode::InvalidInput, std::move(message)}; }

Status systemError(const std::string &what) {
  return invalidFile(what + ": " + std::generic_category().message(errno));
}

std::string quote(std::string_view text) {
  constexpr size_t longest = 64;
  bool cut = text.size() > longest;
  if (cut) {
    size_t length = longest;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U)
      --length; // do not cut inside a UTF-8 character
    text = text.substr(0, length);
  }
  std::string result = "'";
  for (char character : text)
    result += static_cast<unsigned char>(character) < 0x20 || character == 0x7F ? '?' : character;
  return result + (cut ? "…'" : "'");
}

} // namespace dlc
