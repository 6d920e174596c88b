#include "dlc/codegen/Cache.h"

#include "dlc/runtime/Executable.h"
#include "driver/Targets.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mlir;

namespace dlc::codegen {

namespace {

/// The file that this compiler is part of: a build that differs has another size or another time.
void printCompiler(llvm::raw_ostream &out) {
  Dl_info info = {};
  struct stat file = {};
  if (dladdr(reinterpret_cast<void *>(&loadCached), &info) && stat(info.dli_fname, &file) == 0)
    out << info.dli_fname << " " << file.st_size << " " << file.st_mtim.tv_sec << "." << file.st_mtim.tv_nsec << " "
        << file.st_ino << "\n";
}

void printOptions(llvm::raw_ostream &out, const CompileOptions &options, const CpuTarget &host) {
  out << host.cpu << " " << host.features << " " << host.vectorBytes << " " << host.l1 << " " << host.l2 << "\n";
  for (const std::string &target : options.targets)
    out << "target " << target << "\n";
  for (const std::string &allowed : options.allow)
    out << "allow " << allowed << "\n";
  out << "makers " << options.matMul << " " << options.conv << "\n";
  for (const std::string &library : options.libraries)
    out << "library " << library << "\n";
  for (const auto &axes : {options.mesh, options.leaves})
    for (const auto &[name, size] : axes)
      out << name << " " << size << "\n";
  out << options.simCheck << " " << options.train << " " << options.lossScale << " " << options.dynamicScale << " "
      << options.clipNorm << " " << options.amp << " " << options.observeCasts << " " << options.memoryLimit << " "
      << options.activationBudget << " " << options.shareKernels << " " << options.dataParallel << " "
      << options.bucketBytes << " " << std::bit_cast<uint64_t>(options.linkSeconds) << " "
      << std::bit_cast<uint64_t>(options.linkBandwidth) << "\n";
}

/// Everything that code follows from, as a name; places in the user's text count, since messages have them.
StatusOr<std::string> keyOf(ModuleOp module, const CompileOptions &options) {
  StatusOr<Targets> targets = Targets::parse(options);
  if (!targets.ok())
    return targets.status();
  std::string text;
  llvm::raw_string_ostream out(text);
  printCompiler(out);
  printOptions(out, options, targets->host);
  module->print(out, OpPrintingFlags().enableDebugInfo(true));
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
}

/// A folder that only this user can have written to.
Status checkFolder(const std::string &folder) {
  struct stat found = {};
  if ((mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) || lstat(folder.c_str(), &found) != 0)
    return {StatusCode::InvalidInput, folder + ": " + std::strerror(errno)};
  if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & 022) != 0)
    return {StatusCode::InvalidInput,
            folder + ": expected a folder of this user that nobody else can write to, since what is in it runs"};
  return {};
}

/// Held while a program is being compiled. A process that ends lets go; one that takes too long is not waited for.
class Turn {
public:
  explicit Turn(const std::string &path) : file(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0 && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ~Turn() {
    if (file >= 0)
      close(file);
  }
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;

private:
  int file;
};

StatusOr<std::shared_ptr<const Executable>> compiled(ModuleOp module, const CompileOptions &options,
                                                     const std::string &path) {
  StatusOr<std::unique_ptr<CompiledModule>> result = compileModule(module, options);
  if (!result.ok())
    return result.status();
  // Where it cannot be kept, for want of a linker or of room, it runs all the same.
  if (!path.empty())
    (void)(*result)->writeArtifact(path);
  return (*result)->load();
}

} // namespace

StatusOr<std::shared_ptr<const Executable>> loadCached(ModuleOp module, const CompileOptions &options,
                                                       const std::string &folder) {
  if (folder.empty() || options.print)
    return compiled(module, options, "");
  if (Status status = checkFolder(folder); !status.ok())
    return status;
  StatusOr<std::string> key = keyOf(module, options);
  if (!key.ok())
    return key.status();
  std::string path = folder + "/" + *key + ".so";
  // Anything but a sound artifact is written anew.
  if (StatusOr<std::shared_ptr<const Executable>> kept = Executable::load(path); kept.ok())
    return kept;
  Turn turn(folder + "/" + *key + ".lock");
  if (StatusOr<std::shared_ptr<const Executable>> kept = Executable::load(path); kept.ok())
    return kept;
  return compiled(module, options, path);
}

} // namespace dlc::codegen
