#pragma once

#include "dlc/runtime/TensorView.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::test {

/// A new empty folder, removed with what it holds.
class TemporaryFolder {
public:
  TemporaryFolder() : path_(::testing::TempDir() + "dlc-XXXXXX") { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string file(const std::string &name) const { return path_ + "/" + name; }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

inline void writeFile(const std::string &path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

/// The bytes of a dense array.
inline std::string contentOf(const TensorView &view) {
  auto size = static_cast<size_t>(denseByteSize(view.dtype, view.shape).value_or(0));
  return size == 0 ? "" : std::string(static_cast<const char *>(view.data), size);
}

/// Calls `read` with every prefix of `file` and with every byte of it changed in several ways. Each input is its own
/// allocation of exact size, so that AddressSanitizer sees a read past its end.
template <typename Read>
void readDamaged(std::string_view file, Read read) {
  for (size_t length = 0; length < file.size(); ++length) {
    std::vector<char> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
    cut.shrink_to_fit();
    read(std::string_view(cut.data(), cut.size()), /*isPrefix=*/true);
  }
  std::vector<char> changed(file.begin(), file.end());
  for (char &byte : changed) {
    char original = byte;
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(original ^ (1 << bit));
      read(std::string_view(changed.data(), changed.size()), /*isPrefix=*/false);
    }
    for (char replacement : {'\0', '\xff', '"', '{', '}', '[', ']', ',', '9', '-', ' '}) {
      byte = replacement;
      read(std::string_view(changed.data(), changed.size()), /*isPrefix=*/false);
    }
    byte = original;
  }
}

} // namespace dlc::test
