#pragma once

#include "dlc/runtime/Status.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace dlc {

/// The bytes of a section of a 64-bit x86-64 ELF file in memory. Every offset is checked; a missing section is an
/// error.
StatusOr<std::span<const std::byte>> elfSection(std::span<const std::byte> file, std::string_view section);

/// Refuses a shared object that is more than code and data of its own: needed libraries, undefined symbols,
/// constructors, text relocations.
Status checkSelfContained(std::span<const std::byte> file);

} // namespace dlc
