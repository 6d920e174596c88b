#include "targets/cpu/Image.h"

#include "dlc/runtime/Abi.h"
#include "targets/cpu/Object.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

#include <cstddef>

using namespace dlc;
using namespace dlc::codegen;

// The layout of the table below is that of DlcImage.
static_assert(offsetof(DlcImage, manifest) == 8 && offsetof(DlcImage, manifestBytes) == 16 &&
              offsetof(DlcImage, entries) == 24 && offsetof(DlcImage, initial) == 32 &&
              offsetof(DlcImage, deviceEntries) == 48 && sizeof(DlcImage) == 96);

namespace {

template <typename T>
void write(llvm::raw_ostream &out, const T &value) {
  out.write(reinterpret_cast<const char *>(&value), sizeof value);
}

/// A string table that gives out offsets.
struct Names {
  std::string bytes = std::string(1, '\0');
  uint32_t add(llvm::StringRef name) {
    uint32_t offset = bytes.size();
    bytes += name.str() + '\0';
    return offset;
  }
};

llvm::ELF::Elf64_Shdr header(uint32_t name, uint32_t type, uint64_t offset, uint64_t size, uint64_t alignment) {
  llvm::ELF::Elf64_Shdr result = {};
  result.sh_name = name;
  result.sh_type = type;
  result.sh_offset = offset;
  result.sh_size = size;
  result.sh_addralign = alignment;
  return result;
}

} // namespace

// Written by hand: through LLVM's assembler a section of weights would pass byte by byte.
// File: header, bytes at 64, padding, symbols, strings, section headers.
void dlc::codegen::writeDataObject(llvm::raw_ostream &out, const DataSection &section) {
  using namespace llvm::ELF;
  Names names;
  constexpr uint64_t start = sizeof(Elf64_Ehdr);
  static_assert(start == 64);

  Elf64_Sym symbols[2] = {};
  symbols[1].st_name = names.add(section.symbol);
  symbols[1].st_info = STB_GLOBAL << 4 | STT_OBJECT;
  symbols[1].st_other = STV_HIDDEN;
  symbols[1].st_shndx = 1;
  symbols[1].st_size = section.bytes.size();
  uint64_t symbolBytes = section.symbol.empty() ? sizeof(Elf64_Sym) : sizeof symbols;

  uint64_t symbolsAt = llvm::alignTo(start + section.bytes.size(), 8), namesAt = symbolsAt + symbolBytes;
  Elf64_Shdr headers[4] = {};
  headers[1] = header(names.add(section.name), SHT_PROGBITS, start, section.bytes.size(), 64);
  headers[1].sh_flags = section.mapped ? SHF_ALLOC : 0;
  headers[2] = header(names.add(".symtab"), SHT_SYMTAB, symbolsAt, symbolBytes, 8);
  headers[2].sh_link = 3; // its strings
  headers[2].sh_info = 1; // its first global symbol
  headers[2].sh_entsize = sizeof(Elf64_Sym);
  uint32_t strings = names.add(".strtab");
  headers[3] = header(strings, SHT_STRTAB, namesAt, names.bytes.size(), 1);
  uint64_t headersAt = llvm::alignTo(namesAt + names.bytes.size(), 8);

  Elf64_Ehdr file = {};
  std::copy_n(ElfMagic, 4, file.e_ident);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_ident[EI_DATA] = ELFDATA2LSB;
  file.e_ident[EI_VERSION] = EV_CURRENT;
  file.e_type = ET_REL;
  file.e_machine = EM_X86_64;
  file.e_version = EV_CURRENT;
  file.e_ehsize = sizeof(Elf64_Ehdr);
  file.e_shoff = headersAt;
  file.e_shentsize = sizeof(Elf64_Shdr);
  file.e_shnum = 4;
  file.e_shstrndx = 3;

  write(out, file);
  out << section.bytes;
  out.write_zeros(symbolsAt - start - section.bytes.size());
  out.write(reinterpret_cast<const char *>(symbols), symbolBytes);
  out << names.bytes;
  out.write_zeros(headersAt - namesAt - names.bytes.size());
  write(out, headers);
}

namespace {

/// Writes the globals of `DlcImage` and what they point to.
class ImageWriter {
public:
  explicit ImageWriter(llvm::Module &module)
      : module(module), pointer(llvm::PointerType::get(module.getContext(), 0)),
        word(llvm::Type::getInt32Ty(module.getContext())), size(llvm::Type::getInt64Ty(module.getContext())),
        none(llvm::ConstantPointerNull::get(pointer)) {}

  llvm::Constant *image(const ImageTable &table) {
    size_t entries = std::max(table.entrySymbols.size(), table.deviceEntrySymbols.size());
    auto *entry = llvm::FunctionType::get(word, {pointer}, false);
    auto *kernel = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), {pointer}, false);
    llvm::Constant *simApi = none;
    if (!table.simKernelSymbols.empty())
      simApi = hidden(
          new llvm::GlobalVariable(module, pointer, false, llvm::GlobalValue::ExternalLinkage, none, kSimApiSymbol));
    return constant(
        llvm::ConstantStruct::getAnon(
            {llvm::ConstantInt::get(word, DLC_ABI_VERSION), llvm::ConstantInt::get(word, entries),
             external(kManifestSymbol), number(table.manifestBytes), functions(table.entrySymbols, entry),
             table.initialBytes ? external(kInitialSymbol) : none, number(table.initialBytes),
             functions(table.deviceEntrySymbols, entry), deviceCode(table.deviceCode), number(table.deviceCode.size()),
             functions(table.simKernelSymbols, kernel), simApi, number(table.simKernelSymbols.size())}),
        "image");
  }

private:
  template <typename T>
  T *hidden(T *global) {
    global->setVisibility(llvm::GlobalValue::HiddenVisibility);
    global->setDSOLocal(true);
    return global;
  }
  llvm::Constant *external(llvm::StringRef name) {
    return hidden(new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(module.getContext()), true,
                                           llvm::GlobalValue::ExternalLinkage, nullptr, name));
  }
  llvm::Constant *constant(llvm::Constant *value, llvm::StringRef name) {
    return new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value, name);
  }
  llvm::Constant *number(uint64_t value) { return llvm::ConstantInt::get(size, value); }
  llvm::Constant *text(llvm::StringRef value) {
    return constant(llvm::ConstantDataArray::getString(module.getContext(), value), "text");
  }

  llvm::Constant *functions(const std::vector<std::string> &symbols, llvm::FunctionType *type) {
    if (symbols.empty())
      return none;
    std::vector<llvm::Constant *> table;
    table.reserve(symbols.size());
    for (const std::string &symbol : symbols)
      table.push_back(symbol.empty()
                          ? none
                          : hidden(llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module)));
    return constant(llvm::ConstantArray::get(llvm::ArrayType::get(pointer, table.size()), table), "functions");
  }

  llvm::Constant *deviceCode(llvm::ArrayRef<DeviceCode> codes) {
    if (codes.empty())
      return none;
    std::vector<llvm::Constant *> table;
    table.reserve(codes.size());
    for (const DeviceCode &code : codes)
      table.push_back(llvm::ConstantStruct::getAnon(
          {text(code.target), text(code.format), external(code.symbol()), number(code.bytes.size())}));
    return constant(llvm::ConstantArray::get(llvm::ArrayType::get(table[0]->getType(), table.size()), table),
                    "device_code");
  }

  llvm::Module &module;
  llvm::PointerType *pointer;
  llvm::IntegerType *word, *size;
  llvm::Constant *none;
};

} // namespace

StatusOr<std::string> dlc::codegen::emitImageObject(const ImageTable &table, const CpuTarget &target) {
  llvm::LLVMContext context;
  llvm::Module module("image", context);
  auto *pointer = llvm::PointerType::get(context, 0);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(pointer, false), llvm::GlobalValue::ExternalLinkage,
                                          kImageSymbol, module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  builder.CreateRet(ImageWriter(module).image(table));
  return emitObject(module, target);
}
