#include "targets/cpu/Link.h"
#include "JitKernel.h"
#include "dlc/runtime/Abi.h"
#include "targets/cpu/Image.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"

#include <cstring>
#include <dlfcn.h>
#include <vector>

using namespace dlc;
using namespace dlc::codegen;

namespace {

/// Two entries: one returns the first constant, the other calls a function of another object.
std::vector<std::string> objects() {
  auto compile = [](const char *text) {
    mlir::DialectRegistry registry;
    registerCpuDialects(registry);
    mlir::MLIRContext context(registry);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    auto object = compileToObject(*module, CpuTarget::x86_64_v3());
    EXPECT_TRUE(object.ok()) << object.status().message();
    return object.ok() ? *object : std::string();
  };
  return {compile(R"(
    llvm.mlir.global external hidden constant @constants() : !llvm.array<2 x i32>
    llvm.func hidden @twice(i32) -> i32
    llvm.func hidden @entry_constant(%frame: !llvm.ptr) -> i32 {
      %c = llvm.mlir.addressof @constants : !llvm.ptr
      %v = llvm.load %c : !llvm.ptr -> i32
      llvm.return %v : i32
    }
    llvm.func hidden @entry_call(%frame: !llvm.ptr) -> i32 {
      %c = llvm.mlir.constant(21 : i32) : i32
      %v = llvm.call @twice(%c) : (i32) -> i32
      llvm.return %v : i32
    })"),
          compile(R"(llvm.func hidden @twice(%a: i32) -> i32 {
      %r = arith.addi %a, %a : i32
      llvm.return %r : i32
    })")};
}

const int32_t kConstants[] = {1234, 5};
const std::string kManifest = R"({"format":1})", kInitial = "initial values";

DataSection constants() {
  return {".dlc.const", "constants", llvm::StringRef(reinterpret_cast<const char *>(kConstants), sizeof kConstants)};
}

void expectImage(const DlcImage &image) {
  EXPECT_EQ(image.abi, DLC_ABI_VERSION);
  EXPECT_EQ(std::string(image.manifest, image.manifestBytes), kManifest);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(image.manifest) % 64, 0u);
  EXPECT_EQ(std::string(static_cast<const char *>(image.initial), image.initialBytes), kInitial);
  ASSERT_EQ(image.entryCount, 2u);
  DlcFrame frame = {};
  EXPECT_EQ(image.entries[0](&frame), 1234);
  EXPECT_EQ(image.entries[1](&frame), 42);
}

class Link : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("dlc-link-test", folder)); }
  void TearDown() override { EXPECT_FALSE(llvm::sys::fs::remove_directories(folder)); }
  std::string path(const char *name) const { return (folder + "/" + name).str(); }
  size_t filesInFolder() const {
    std::error_code error;
    size_t count = 0;
    for (llvm::sys::fs::directory_iterator i(folder, error), end; i != end && !error; i.increment(error))
      ++count;
    return count;
  }
  llvm::SmallString<128> folder;
};

TEST_F(Link, ArtifactRuns) {
  DataSection module{".dlc.module", "", "bytecode", /*mapped=*/false};
  LinkInput input{objects(), {"entry_constant", "entry_call"}, kManifest, kInitial, {constants(), module}};
  Status status = linkArtifact(input, CpuTarget::x86_64_v3(), path("a.so"));
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(filesInFolder(), 1u);
  void *library = dlopen(path("a.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(library) << dlerror();
  auto image = reinterpret_cast<DlcImageFunction>(dlsym(library, "dlc_image_v1"));
  ASSERT_TRUE(image);
  expectImage(*image());
  dlclose(library);
}

TEST_F(Link, ArtifactNeedsNothingAndExportsOneSymbol) {
  LinkInput input{objects(), {"entry_constant", "entry_call"}, kManifest, {}, {constants()}};
  Status status = linkArtifact(input, CpuTarget::x86_64_v3(), path("a.so"));
  ASSERT_TRUE(status.ok()) << status.message();
  auto file = llvm::object::ObjectFile::createObjectFile(path("a.so"));
  ASSERT_TRUE(bool(file));
  auto &elf = llvm::cast<llvm::object::ELF64LEObjectFile>(*file->getBinary());
  std::vector<std::string> symbols;
  for (const auto &symbol : elf.getDynamicSymbolIterators())
    symbols.push_back(symbol.getName()->str());
  EXPECT_EQ(symbols, std::vector<std::string>{"dlc_image_v1"});
  for (const auto &entry : *elf.getELFFile().dynamicEntries()) {
    EXPECT_NE(entry.d_tag, llvm::ELF::DT_NEEDED);
    EXPECT_NE(entry.d_tag, llvm::ELF::DT_TEXTREL);
    EXPECT_NE(entry.d_tag, llvm::ELF::DT_INIT_ARRAY);
  }
  for (const auto &header : *elf.getELFFile().program_headers())
    if (header.p_type == llvm::ELF::PT_GNU_STACK)
      EXPECT_FALSE(header.p_flags & llvm::ELF::PF_X);
  std::map<std::string, std::string> sections;
  for (const auto &section : elf.sections())
    sections[section.getName()->str()] = section.getContents() ? section.getContents()->str() : "";
  EXPECT_EQ(sections[".dlc.manifest"], kManifest);
  EXPECT_EQ(sections[".dlc.const"].size(), sizeof kConstants);
  EXPECT_FALSE(sections.count(".dlc.init"));
}

TEST_F(Link, UndefinedSymbolFailsAndLeavesTheOldFile) {
  LinkInput input{{objects()[0]}, {"entry_call"}, kManifest, {}, {constants()}};
  ASSERT_FALSE(llvm::sys::fs::remove(path("a.so")));
  std::error_code error;
  llvm::raw_fd_ostream(path("a.so"), error) << "old";
  Status status = linkArtifact(input, CpuTarget::x86_64_v3(), path("a.so"));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("twice"), std::string::npos) << status.message();
  EXPECT_EQ((*llvm::MemoryBuffer::getFile(path("a.so")))->getBuffer(), "old");
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(Link, MissingFolderIsNamed) {
  LinkInput input{objects(), {"entry_call"}, kManifest, {}, {constants()}};
  Status status = linkArtifact(input, CpuTarget::x86_64_v3(), path("no/such/a.so"));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("no/such/a.so"), std::string::npos) << status.message();
}

TEST(Image, TheSameObjectsRunInThisProcess) {
  LinkInput input{objects(), {"entry_constant", "entry_call"}, kManifest, kInitial, {constants()}};
  auto parts = imageObjects(input, *CpuTarget::host());
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  auto code = JitCode::load(*parts);
  ASSERT_TRUE(code.ok()) << code.status().message();
  auto function = symbol<DlcImageFunction>(*code, kImageSymbol);
  ASSERT_TRUE(function);
  expectImage(*function());
}

} // namespace
