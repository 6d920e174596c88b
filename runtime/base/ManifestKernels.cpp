#include "base/ManifestKernels.h"

#include "base/ManifestCalls.h"

#include <algorithm>

using nlohmann::json;

namespace dlc {

namespace {

constexpr std::array<std::string_view, 4> kAccessNames = {"read", "write", "read_write", "workspace"};

// What every device can launch: blocks and threads by dimension, threads of a block, its shared memory, and as many
// pointers as fit into 32,764 bytes of parameters.
constexpr std::array<int64_t, 3> kMostBlocks = {INT32_MAX, 65535, 65535};
constexpr std::array<int64_t, 3> kMostThreads = {1024, 1024, 64};
constexpr int64_t kMostThreadsOfBlock = 1024, kMostShared = int64_t(227) << 10;
constexpr size_t kMostOperands = 4095;

void readLaunch(ObjectReader &reader, KernelInfo &kernel) {
  kernel.grid = reader.extents("grid", kMostBlocks);
  kernel.block = reader.extents("block", kMostThreads);
  if (int64_t threads = kernel.block[0] * kernel.block[1] * kernel.block[2]; threads > kMostThreadsOfBlock)
    reader.fail("has blocks of " + std::to_string(threads) + " threads, at most 1024 are possible");
  kernel.shared = reader.integer("shared", kMostShared);
}

} // namespace

KernelInfo readKernel(ObjectReader &reader, Status &fault) {
  KernelInfo kernel;
  kernel.name = reader.string("name");
  kernel.site = reader.integer("site");
  forEach(reader, "operands", fault, [&](ObjectReader &operand) {
    std::string access = operand.string("access");
    auto known = std::find(kAccessNames.begin(), kAccessNames.end(), access);
    if (known == kAccessNames.end())
      operand.fail("has an unknown access '" + access + "'");
    kernel.operands.push_back({operand.integer("bytes"), Access(known - kAccessNames.begin())});
  });
  if (kernel.operands.size() > kMostOperands)
    reader.fail("has " + std::to_string(kernel.operands.size()) + " operands, at most 4095 are possible");
  if (reader.has("call"))
    kernel.call = readCall(reader, kernel, fault);
  else
    readLaunch(reader, kernel);
  return kernel;
}

json kernelJson(const KernelInfo &kernel) {
  json operands = json::array();
  for (const KernelInfo::Operand &operand : kernel.operands)
    operands.push_back({{"bytes", operand.bytes}, {"access", kAccessNames[size_t(operand.access)]}});
  json item = {{"name", kernel.name}, {"site", kernel.site}, {"operands", operands}};
  if (kernel.call) {
    item["call"] = callJson(*kernel.call);
    return item;
  }
  item["grid"] = kernel.grid;
  item["block"] = kernel.block;
  item["shared"] = kernel.shared;
  return item;
}

} // namespace dlc
