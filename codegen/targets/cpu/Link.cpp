#include "targets/cpu/Link.h"

#include "targets/cpu/LinkerPath.h"
#include "targets/cpu/Object.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <functional>

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

/// Writes every part as an object file and adds it to `files`.
Status writeParts(const LinkInput &input, const CpuTarget &target, const Workspace &workspace,
                  std::vector<std::string> &files) {
  StatusOr<std::string> image =
      emitImageObject({input.entrySymbols, input.manifest.size(), input.initial.size()}, target);
  if (!image.ok())
    return image.status();
  std::vector<std::function<void(llvm::raw_ostream &)>> parts;
  parts.reserve(input.objects.size() + input.sections.size() + 3);
  for (const std::string &object : input.objects)
    parts.push_back([&](llvm::raw_ostream &out) { out << object; });
  parts.push_back([&](llvm::raw_ostream &out) { out << *image; });
  auto add = [&](const DataSection &section) {
    parts.push_back([section](llvm::raw_ostream &out) { writeDataObject(out, section); });
  };
  add({".dlc.manifest", kManifestSymbol, input.manifest});
  if (!input.initial.empty())
    add({".dlc.init", kInitialSymbol, input.initial});
  for (const DataSection &section : input.sections)
    add(section);

  for (size_t i = 0; i < parts.size(); ++i) {
    std::string name = std::to_string(i) + ".o";
    if (Status status = workspace.write(name, parts[i]); !status.ok())
      return status;
    files.push_back(workspace.path(name));
  }
  return Status();
}

} // namespace

Status dlc::codegen::linkArtifact(const LinkInput &input, const CpuTarget &target, const std::string &path) {
  StatusOr<std::string> linker = findLinker();
  if (!linker.ok())
    return linker.status();
  Workspace workspace;
  if (Status status = workspace.create(); !status.ok())
    return status;
  std::vector<std::string> arguments;
  if (Status status = writeParts(input, target, workspace, arguments); !status.ok())
    return status;
  Status script =
      workspace.write("exports", [](llvm::raw_ostream &out) { out << "{ global: dlc_image_v1; local: *; };\n"; });
  if (!script.ok())
    return script;

  // Beside the result, so that the rename stays within one file system.
  llvm::SmallString<128> temporary;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(path + ".%%%%%%%%", temporary))
    return failed(path, error);
  llvm::FileRemover removeTemporary(temporary);
  llvm::append_range(arguments, llvm::ArrayRef<std::string>{"-shared", "-z", "now", "-z", "noexecstack", "-z", "defs",
                                                            "-z", "text", "--threads=1", "--version-script",
                                                            workspace.path("exports"), "-o", temporary.str().str()});
  if (Status status = run(*linker, arguments, workspace.path("log")); !status.ok())
    return status;
  if (std::error_code error = llvm::sys::fs::rename(temporary, path))
    return failed(path, error);
  removeTemporary.releaseFile();
  return Status();
}
