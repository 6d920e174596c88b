#include "dlc/codegen/Cache.h"
#include "dlc/runtime/Communicator.h"
#include "dlc/runtime/Session.h"
#include "mlir/IR/Diagnostics.h"
#include "trace/Build.h"
#include "trace/Context.h"
#include "trace/Members.h"
#include "trace/Run.h"

#include <cstdlib>

using namespace mlir;

namespace dlc::trace {

namespace {

/// How gradients are cut into buckets: of the size that DLC_BUCKET_MB says, else for the network that there is, the
/// usual one or the one the communicators emulate. All ranks must be told the same; else they run different programs.
Status readBuckets(codegen::CompileOptions &options) {
  if (const char *size = std::getenv("DLC_BUCKET_MB"); size && *size) {
    char *end = nullptr;
    double megabytes = std::strtod(size, &end);
    if (*end || !(megabytes * 1e6 >= 1 && megabytes <= 1e6))
      return {StatusCode::InvalidInput, "DLC_BUCKET_MB: expected megabytes up to 1000000, got " + std::string(size)};
    options.bucketBytes = int64_t(megabytes * 1e6);
  }
  const char *text = std::getenv("DLC_COMM_EMULATE");
  if (!text || !*text)
    return {};
  StatusOr<runtime::EmulatedNetwork> network = runtime::parseEmulatedNetwork(text);
  if (!network.ok())
    return network.status().withContext("DLC_COMM_EMULATE");
  options.linkSeconds = network->latencySeconds;
  if (network->bytesPerSecond > 0)
    options.linkBandwidth = network->bytesPerSecond;
  return {};
}

/// What the programs ask for, who has one module, else the environment.
Status setMakers(codegen::CompileOptions &options, std::span<const Program> programs) {
  if (programs.empty())
    return {};
  for (const Program &program : programs)
    if (program.makers != programs.front().makers)
      return {StatusCode::InvalidInput, "expects entries of one artifact to ask for the same makers of kernels, got '" +
                                            programs.front().name + "' and '" + program.name + "' that do not"};
  auto choose = [](std::string &option, const std::string &asked, const char *variable) {
    const char *text = std::getenv(variable);
    if (!asked.empty() || (text && *text))
      option = asked.empty() ? text : asked;
  };
  choose(options.matMul, programs.front().makers.matMul, "DLC_MATMUL");
  choose(options.conv, programs.front().makers.conv, "DLC_CONV");
  return {};
}

StatusOr<codegen::CompileOptions> optionsFor(std::span<const Program> programs,
                                             const std::vector<std::string> &targets) {
  codegen::CompileOptions options;
  options.targets = targets;
  // The device reads the same variable; kernels must be compiled for checks.
  const char *check = std::getenv("DLC_SIM_CHECK");
  options.simCheck = check && std::string_view(check) == "1";
  if (Status status = setMakers(options, programs); !status.ok())
    return status;
  if (Status status = readBuckets(options); !status.ok())
    return status;
  return options;
}

/// "model.cpp:12: expects …" and a line end.
void print(llvm::raw_ostream &stream, Diagnostic &diagnostic) {
  if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    stream << file.getFilename().getValue() << ":" << file.getLine() << ": ";
  stream << diagnostic << "\n";
}

/// What `make` makes of the programs' module; a failure has the compiler's messages.
template <typename Make>
auto withModule(std::span<const Program> programs, const std::vector<std::string> &targets, Make make)
    -> decltype(make(ModuleOp(), codegen::CompileOptions())) {
  std::lock_guard lock(context().lock);
  auto module = build(programs);
  if (!module.ok())
    return module.status();
  std::string message;
  ScopedDiagnosticHandler collect(&context().mlir, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream stream(message);
    print(stream, diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      print(stream << "  ", note);
  });
  StatusOr<codegen::CompileOptions> options = optionsFor(programs, targets);
  if (!options.ok())
    return options.status();
  auto made = make(**module, *options);
  if (!made.ok())
    return Status(made.status().code(), message + made.status().message());
  return made;
}

/// How the value lies on the members. The front end's values are split along one dimension.
StatusOr<LayoutRef> layoutOf(const ValueInfo &value) {
  LayoutRef layout = nullptr;
  for (size_t dim = 0; value.sharding && dim < value.sharding->dims.size(); ++dim) {
    const DimSharding &split = value.sharding->dims[dim];
    if (split.axes.empty())
      continue;
    if (layout)
      return Status(StatusCode::Internal, "a result is split along two dimensions");
    layout = internLayout(static_cast<int64_t>(dim), split.borders);
  }
  return layout;
}

StatusOr<std::vector<LayoutRef>> layoutsOf(const std::vector<ValueInfo> &values) {
  std::vector<LayoutRef> layouts;
  for (const ValueInfo &value : values) {
    auto layout = layoutOf(value);
    if (!layout.ok())
      return layout.status();
    layouts.push_back(*layout);
  }
  return layouts;
}

class CompiledRunnable : public Runnable {
public:
  CompiledRunnable(std::shared_ptr<Session::Program> program, std::vector<LayoutRef> layouts)
      : program(std::move(program)), layouts(std::move(layouts)) {}
  Status run(std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) override {
    return program->callOnDevice(0, arguments, results);
  }
  std::span<const LayoutRef> resultLayouts() const override { return layouts; }
  const Manifest *manifest() const override { return &program->executable().manifest(); }

private:
  std::shared_ptr<Session::Program> program;
  std::vector<LayoutRef> layouts;
};

class CompilerBackend : public Backend {
public:
  StatusOr<std::shared_ptr<Runnable>> compile(const Program &program, Session &session) override {
    const char *cache = std::getenv("DLC_CACHE");
    std::vector<std::optional<DType>> exact;
    using Loaded = StatusOr<std::shared_ptr<const Executable>>;
    auto executable = withModule({&program, 1}, session.device().compileTargets(),
                                 [&](ModuleOp module, codegen::CompileOptions options) -> Loaded {
                                   options.libraries = session.device().libraries();
                                   auto rounded = autocast(module);
                                   if (!rounded.ok())
                                     return rounded.status();
                                   exact = rounded.take();
                                   return codegen::loadCached(module, options, cache ? cache : "");
                                 });
    if (!executable.ok())
      return executable.status();
    const EntryInfo &entry = (*executable)->manifest().entries.front();
    auto results = layoutsOf(entry.results);
    if (!results.ok())
      return results.status();
    auto runnable = attach(program, session, executable.take(), results.take());
    if (runnable.ok())
      (*runnable)->exactResults = std::move(exact);
    return runnable;
  }

private:
  static StatusOr<std::shared_ptr<Runnable>> attach(const Program &program, Session &session,
                                                    const std::shared_ptr<const Executable> &executable,
                                                    std::vector<LayoutRef> results) {
    if (program.job)
      return attachMembers(*program.job, executable, program.layouts, std::move(results));
    auto attached = session.attach(executable, Session::State::Given);
    if (!attached.ok())
      return attached.status();
    return std::shared_ptr<Runnable>(std::make_shared<CompiledRunnable>(attached.take(), std::move(results)));
  }
};

} // namespace

Backend &compilerBackend() {
  static CompilerBackend instance;
  return instance;
}

Status writeArtifact(std::span<const Program> entries, const std::vector<std::string> &targets,
                     const std::string &path) {
  auto compiled = withModule(entries, targets, codegen::compileModule);
  return compiled.ok() ? (*compiled)->writeArtifact(path) : compiled.status();
}

} // namespace dlc::trace
