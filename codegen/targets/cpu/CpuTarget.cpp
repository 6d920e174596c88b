#include "targets/cpu/CpuTarget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <unistd.h>

using namespace dlc;
using namespace dlc::codegen;

static int64_t cacheBytes(int name, int64_t otherwise) {
  int64_t bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

StatusOr<CpuTarget> CpuTarget::host() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  for (const char *needed : {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"})
    if (!features.lookup(needed))
      return Status(StatusCode::InvalidInput, std::string("expects a CPU with x86-64-v3 (AVX2, FMA), got ") +
                                                  llvm::sys::getHostCPUName().str() + " without " + needed);
  // A virtual machine may hide features of the CPU it names, so every one is spelt out, in a fixed order.
  std::vector<std::string> spelt;
  for (const auto &feature : features)
    spelt.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(spelt);

  CpuTarget target;
  target.cpu = llvm::sys::getHostCPUName().str();
  target.features = llvm::join(spelt, ",");
  bool wide = true;
  for (const char *feature : {"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512cd"})
    wide &= features.lookup(feature);
  target.vectorBytes = wide ? 64 : 32;
  target.l1 = cacheBytes(_SC_LEVEL1_DCACHE_SIZE, target.l1);
  target.l2 = cacheBytes(_SC_LEVEL2_CACHE_SIZE, target.l2);
  return target;
}

CpuTarget CpuTarget::x86_64_v3() {
  CpuTarget target;
  target.cpu = "x86-64-v3";
  return target;
}

CpuTarget CpuTarget::x86_64_v4() {
  CpuTarget target;
  target.cpu = "x86-64-v4";
  target.vectorBytes = 64;
  target.l2 = 1 << 20;
  return target;
}
