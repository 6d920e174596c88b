#include "targets/cpu/Link.h"

#include "targets/cpu/LinkerPath.h"
#include "targets/cpu/Object.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace dlc;
using namespace dlc::codegen;

namespace {

Status failed(const llvm::Twine &what, std::error_code error) {
  return Status(StatusCode::InvalidInput, (what + ": " + error.message()).str());
}

/// A folder of its own for the linker's inputs, removed at the end.
class Workspace {
public:
  ~Workspace() {
    if (!folder.empty()) [[maybe_unused]]
      std::error_code ignored = llvm::sys::fs::remove_directories(folder);
  }
  Status create() {
    std::error_code error = llvm::sys::fs::createUniqueDirectory("dlc-link", folder);
    return error ? failed("creating a temporary folder", error) : Status();
  }
  std::string path(const llvm::Twine &name) const {
    llvm::SmallString<128> result = folder;
    llvm::sys::path::append(result, name);
    return result.str().str();
  }
  Status write(const llvm::Twine &name, llvm::function_ref<void(llvm::raw_ostream &)> content) const {
    std::error_code error;
    llvm::raw_fd_ostream out(path(name), error);
    if (error)
      return failed(path(name), error);
    content(out);
    out.close();
    if (!out.has_error())
      return Status();
    error = out.error();
    out.clear_error();
    return failed(path(name), error);
  }

private:
  llvm::SmallString<128> folder;
};

StatusOr<std::string> findLinker() {
  if (llvm::sys::fs::can_execute(kLinkerPath))
    return std::string(kLinkerPath);
  for (const char *name : {"ld.lld-22", "ld.lld"})
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
  return Status(StatusCode::InvalidInput, std::string("expects LLVM's linker at ") + kLinkerPath +
                                              " or as ld.lld-22 in PATH, got none; install lld-22");
}

Status run(const std::string &program, llvm::ArrayRef<std::string> arguments, const std::string &log) {
  std::vector<llvm::StringRef> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(log), llvm::StringRef(log)};
  std::string message;
  int code = llvm::sys::ExecuteAndWait(program, words, std::nullopt, redirects, 0, 0, &message);
  if (code == 0)
    return Status();
  if (auto text = llvm::MemoryBuffer::getFile(log))
    message += (*text)->getBuffer();
  return Status(StatusCode::Internal, program + " failed (" + std::to_string(code) + "): " + message);
}

using WritePart = llvm::function_ref<void(llvm::raw_ostream &)>;

/// Calls `take` with a writer of each object of the image.
Status forEachPart(const LinkInput &input, const CpuTarget &target, llvm::function_ref<Status(WritePart)> take) {
  StatusOr<std::string> image = emitImageObject({input.entrySymbols, input.manifest.size(), input.initial.size(),
                                                 input.deviceEntrySymbols, input.simKernelSymbols, input.deviceCode},
                                                target);
  if (!image.ok())
    return image.status();
  for (const std::string &object : input.objects)
    if (Status status = take([&](llvm::raw_ostream &out) { out << object; }); !status.ok())
      return status;
  if (Status status = take([&](llvm::raw_ostream &out) { out << *image; }); !status.ok())
    return status;
  std::vector<DataSection> sections = {{".dlc.manifest", kManifestSymbol, input.manifest}};
  if (!input.initial.empty())
    sections.push_back({".dlc.init", kInitialSymbol, input.initial});
  for (const DeviceCode &code : input.deviceCode)
    sections.push_back({code.section(), code.symbol(), code.bytes});
  llvm::append_range(sections, input.sections);
  for (const DataSection &section : sections)
    if (Status status = take([&](llvm::raw_ostream &out) { writeDataObject(out, section); }); !status.ok())
      return status;
  return {};
}

} // namespace

StatusOr<std::vector<std::string>> dlc::codegen::imageObjects(const LinkInput &input, const CpuTarget &target) {
  std::vector<std::string> objects;
  Status status = forEachPart(input, target, [&](WritePart write) {
    llvm::raw_string_ostream out(objects.emplace_back());
    write(out);
    return Status();
  });
  if (!status.ok())
    return status;
  return objects;
}

Status dlc::codegen::linkArtifact(const LinkInput &input, const CpuTarget &target, const std::string &path) {
  StatusOr<std::string> linker = findLinker();
  if (!linker.ok())
    return linker.status();
  Workspace workspace;
  if (Status status = workspace.create(); !status.ok())
    return status;
  std::vector<std::string> arguments;
  Status written = forEachPart(input, target, [&](WritePart write) {
    std::string name = std::to_string(arguments.size()) + ".o";
    arguments.push_back(workspace.path(name));
    return workspace.write(name, write);
  });
  if (!written.ok())
    return written;
  Status script = workspace.write(
      "exports", [](llvm::raw_ostream &out) { out << "{ global: " << kImageSymbol << "; local: *; };\n"; });
  if (!script.ok())
    return script;

  // Beside the result, so that the rename stays within one file system; what is no file (/dev/null) is written into.
  bool isDevice = false;
  if (llvm::sys::fs::is_other(path, isDevice))
    isDevice = false; // nothing is there yet
  llvm::SmallString<128> temporary;
  if (std::error_code error =
          llvm::sys::fs::createUniqueFile((isDevice ? workspace.path("image") : path) + ".%%%%%%%%", temporary))
    return failed(path, error);
  llvm::FileRemover removeTemporary(temporary);
  llvm::append_range(arguments, llvm::ArrayRef<std::string>{"-shared", "-z", "now", "-z", "noexecstack", "-z", "defs",
                                                            "-z", "text", "--threads=1", "--version-script",
                                                            workspace.path("exports"), "-o", temporary.str().str()});
  if (Status status = run(*linker, arguments, workspace.path("log")); !status.ok())
    return status;
  if (std::error_code error =
          isDevice ? llvm::sys::fs::copy_file(temporary, path) : llvm::sys::fs::rename(temporary, path))
    return failed(path, error);
  if (isDevice)
    return Status();
  removeTemporary.releaseFile();
  return Status();
}
