#include "driver/Targets.h"

#include "targets/cuda/CudaArch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace dlc;
using namespace dlc::codegen;

static StatusOr<CpuTarget> cpuTarget(const std::string &cpu) {
  if (cpu == "host")
    return CpuTarget::host();
  if (cpu == "x86-64-v3")
    return CpuTarget::x86_64_v3();
  if (cpu == "x86-64-v4")
    return CpuTarget::x86_64_v4();
  return Status(StatusCode::InvalidInput, "unknown cpu '" + cpu + "'; expected host, x86-64-v3 or x86-64-v4");
}

std::vector<std::string> Targets::names() const {
  std::vector<std::string> names;
  if (cpu)
    names.emplace_back("cpu");
  if (sim)
    names.emplace_back("sim");
  names.insert(names.end(), cuda.begin(), cuda.end());
  return names;
}

std::string dlc::codegen::cudaTargets() {
  std::string list;
  llvm::ArrayRef<CudaArch> archs = cudaArchs();
  for (const CudaArch &arch : archs)
    list += (list.empty() ? "cuda:" : &arch == &archs.back() ? " or cuda:" : ", cuda:") + arch.name.str();
  return list;
}

static StatusOr<KernelMaker> makerOf(const std::string &text, const char *option) {
  if (text == "auto")
    return KernelMaker::Auto;
  if (text == "library")
    return KernelMaker::Library;
  if (text == "generated")
    return KernelMaker::Generated;
  return Status(StatusCode::InvalidInput,
                std::string(option) + ": unknown choice '" + text + "'; expected library, generated or auto");
}

// Once the targets are known.
static Status setMakers(Targets &targets, const CompileOptions &options) {
  for (const std::string &library : options.libraries)
    if (library != "cublaslt" && library != "cudnn")
      return {StatusCode::InvalidInput, "unknown library '" + library + "'; expected cublaslt or cudnn"};
  struct {
    const std::string &asked;
    const char *option, *library;
    KernelMaker &maker;
  } all[] = {{options.matMul, "--matmul", "cublaslt", targets.gpu.matMul},
             {options.conv, "--conv", "cudnn", targets.gpu.conv}};
  for (auto &[asked, option, library, maker] : all) {
    StatusOr<KernelMaker> found = makerOf(asked, option);
    if (!found.ok())
      return found.status();
    maker = *found;
    bool has = !targets.sim && llvm::is_contained(options.libraries, library);
    if (targets.cuda.empty() || (maker == KernelMaker::Auto && !has))
      maker = KernelMaker::Generated;
  }
  targets.gpu.archs = targets.cuda;
  return {};
}

StatusOr<Targets> Targets::parse(const CompileOptions &options) {
  StatusOr<CpuTarget> host = cpuTarget(options.cpu);
  if (!host.ok())
    return host.status();
  Targets targets{host.take(), false, false, {}, {}};
  for (const std::string &name : options.allow) {
    if (name != "unordered-atomics" && name != "tf32")
      return Status(StatusCode::InvalidInput, "cannot allow '" + name + "'; expected unordered-atomics or tf32");
    (name == "tf32" ? targets.gpu.tf32 : targets.gpu.unorderedAtomics) = true;
  }
  for (llvm::StringRef name : options.targets) {
    llvm::StringRef architecture = name;
    if (name == "cpu")
      targets.cpu = true;
    else if (name == "sim")
      targets.sim = true;
    else if (architecture.consume_front("cuda:") && findCudaArch(architecture)) {
      if (!llvm::is_contained(targets.cuda, architecture))
        targets.cuda.push_back(architecture.str());
    } else
      return Status(StatusCode::InvalidInput,
                    "unknown target '" + name.str() + "'; expected cpu, sim, " + cudaTargets());
  }
  if (!targets.cpu && !targets.hasGpu())
    return Status(StatusCode::InvalidInput, "expected a target: cpu, sim, " + cudaTargets());
  if (Status status = setMakers(targets, options); !status.ok())
    return status;
  return targets;
}
