#include "targets/cuda/Ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace dlc;
using namespace dlc::codegen;

static Status internal(const llvm::Twine &message) { return Status(StatusCode::Internal, message.str()); }

static std::optional<std::string> below(llvm::StringRef toolkit) {
  llvm::SmallString<128> path(toolkit);
  llvm::sys::path::append(path, "bin", "ptxas");
  if (llvm::sys::fs::can_execute(path))
    return path.str().str();
  return std::nullopt;
}

std::optional<std::string> dlc::codegen::findPtxas() {
  if (const char *chosen = std::getenv("DLC_PTXAS"))
    return llvm::sys::fs::can_execute(chosen) ? std::optional<std::string>(chosen) : std::nullopt;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *toolkit = std::getenv(variable))
      if (std::optional<std::string> found = below(toolkit))
        return found;
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  return below("/usr/local/cuda");
}

static std::string contentsOf(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

static StatusOr<std::string> temporary(llvm::StringRef suffix, llvm::StringRef contents) {
  llvm::SmallString<128> path;
  int descriptor = -1;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("dlc", suffix, descriptor, path))
    return internal("cannot create a temporary file: " + error.message());
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << contents;
  stream.close();
  if (stream.has_error()) {
    std::error_code error = stream.error();
    stream.clear_error();
    return internal("cannot write " + path.str() + ": " + error.message());
  }
  return path.str().str();
}

StatusOr<Assembled> dlc::codegen::assemble(llvm::StringRef ptx, llvm::StringRef arch) {
  std::optional<std::string> ptxas = findPtxas();
  if (!ptxas)
    return Status(StatusCode::InvalidInput,
                  "ptxas not found: set DLC_PTXAS, or CUDA_HOME to a CUDA toolkit; PTX runs without it");
  StatusOr<std::string> input = temporary("ptx", ptx), output = temporary("cubin", ""), log = temporary("log", "");
  for (const StatusOr<std::string> *file : {&input, &output, &log})
    if (!file->ok())
      return file->status();
  llvm::FileRemover removeInput(*input), removeOutput(*output), removeLog(*log);
  std::string target = "-arch=" + arch.str();
  llvm::StringRef arguments[] = {*ptxas, "-v", target, *input, "-o", *output};
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(*log), llvm::StringRef(*log)};
  std::string message;
  int code = llvm::sys::ExecuteAndWait(*ptxas, arguments, std::nullopt, redirects, 0, 0, &message);
  std::string said = contentsOf(*log);
  if (code) {
    removeInput.releaseFile();
    return internal("ptxas refused generated code; this is an internal error of dlc\n" + message + said +
                    "to reproduce: " + *ptxas + " " + target + " " + *input + " -o /dev/null");
  }
  std::string cubin = contentsOf(*output);
  if (cubin.empty())
    return Status(StatusCode::InvalidInput, *ptxas + ": wrote no cubin; set DLC_PTXAS to the ptxas of a CUDA toolkit");
  return Assembled{std::move(cubin), said};
}
