#pragma once

#include "dlc/runtime/Status.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace dlc {

/// A regular file, mapped read-only as long as the object lives.
class MappedFile {
public:
  static StatusOr<std::shared_ptr<const MappedFile>> open(const std::string &path);

  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

} // namespace dlc
