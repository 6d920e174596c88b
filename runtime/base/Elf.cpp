#include "Elf.h"

#include <cstring>
#include <elf.h>
#include <optional>
#include <string>

namespace dlc {

namespace {

Status invalid(const std::string &what) { return {StatusCode::InvalidInput, "not a dlc artifact: " + what}; }

/// A file whose every access is checked against its size.
struct File {
  std::span<const std::byte> bytes;

  template <typename T>
  std::optional<T> read(uint64_t offset) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
      return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }

  std::optional<std::span<const std::byte>> range(uint64_t offset, uint64_t size) const {
    if (offset > bytes.size() || bytes.size() - offset < size)
      return std::nullopt;
    return bytes.subspan(offset, size);
  }
};

StatusOr<Elf64_Ehdr> readHeader(const File &file) {
  auto header = file.read<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return invalid("expected an ELF file, found " + std::to_string(file.bytes.size()) + " bytes of something else");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64 || header->e_type != ET_DYN)
    return invalid("expected a 64-bit x86-64 shared object, found ELF type " + std::to_string(header->e_type) +
                   " of machine " + std::to_string(header->e_machine));
  if (header->e_shentsize != sizeof(Elf64_Shdr))
    return invalid("section headers of " + std::to_string(header->e_shentsize) + " bytes");
  return *header;
}

std::optional<Elf64_Shdr> sectionHeader(const File &file, const Elf64_Ehdr &header, uint64_t index) {
  if (header.e_shoff > file.bytes.size())
    return std::nullopt;
  return file.read<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
}

std::optional<std::string_view> text(std::span<const std::byte> table, uint64_t offset) {
  if (offset >= table.size())
    return std::nullopt;
  const char *start = reinterpret_cast<const char *>(table.data()) + offset;
  const void *end = std::memchr(start, 0, table.size() - offset);
  if (!end)
    return std::nullopt;
  return std::string_view(start, size_t(static_cast<const char *>(end) - start));
}

template <typename Visit>
Status forEachSection(const File &file, const Elf64_Ehdr &header, Visit visit) {
  for (uint64_t index = 0; index < header.e_shnum; ++index) {
    auto section = sectionHeader(file, header, index);
    if (!section)
      return invalid("section header " + std::to_string(index) + " lies outside the file; is it complete?");
    if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL)
      continue;
    auto content = file.range(section->sh_offset, section->sh_size);
    if (!content)
      return invalid("section " + std::to_string(index) + " ends at byte " +
                     std::to_string(section->sh_offset + section->sh_size) + " of a file of " +
                     std::to_string(file.bytes.size()) + "; is it complete?");
    if (Status status = visit(*section, *content); !status.ok())
      return status;
  }
  return {};
}

Status checkDynamic(const File &file, std::span<const std::byte> content) {
  File table{content};
  for (uint64_t offset = 0; auto entry = table.read<Elf64_Dyn>(offset); offset += sizeof(Elf64_Dyn)) {
    switch (entry->d_tag) {
    case DT_NEEDED:
      return invalid("it needs another library");
    case DT_INIT:
    case DT_FINI:
    case DT_INIT_ARRAY:
    case DT_FINI_ARRAY:
    case DT_PREINIT_ARRAY:
      return invalid("it has code that runs when loaded");
    case DT_TEXTREL:
      return invalid("it relocates its code");
    default:
      break;
    }
  }
  return {};
}

Status checkSymbols(std::span<const std::byte> content) {
  File table{content};
  // Symbol 0 is undefined by definition.
  for (uint64_t offset = sizeof(Elf64_Sym); auto symbol = table.read<Elf64_Sym>(offset); offset += sizeof(Elf64_Sym))
    if (symbol->st_shndx == SHN_UNDEF)
      return invalid("it has an undefined symbol");
  return {};
}

} // namespace

StatusOr<std::span<const std::byte>> elfSection(std::span<const std::byte> bytes, std::string_view wanted) {
  File file{bytes};
  StatusOr<Elf64_Ehdr> header = readHeader(file);
  if (!header.ok())
    return header.status();
  auto names = sectionHeader(file, *header, header->e_shstrndx);
  auto table = names ? file.range(names->sh_offset, names->sh_size) : std::nullopt;
  if (!table)
    return invalid("the section names lie outside the file; is it complete?");
  std::optional<std::span<const std::byte>> found;
  Status status = forEachSection(file, *header, [&](const Elf64_Shdr &section, std::span<const std::byte> content) {
    if (text(*table, section.sh_name) == wanted)
      found = content;
    return Status();
  });
  if (!status.ok())
    return status;
  if (!found)
    return invalid("expected a section '" + std::string(wanted) + "', found none");
  return *found;
}

Status checkSelfContained(std::span<const std::byte> bytes) {
  File file{bytes};
  StatusOr<Elf64_Ehdr> header = readHeader(file);
  if (!header.ok())
    return header.status();
  return forEachSection(file, *header, [&](const Elf64_Shdr &section, std::span<const std::byte> content) {
    if (section.sh_type == SHT_DYNAMIC)
      return checkDynamic(file, content);
    if (section.sh_type == SHT_DYNSYM)
      return checkSymbols(content);
    return Status();
  });
}

} // namespace dlc
