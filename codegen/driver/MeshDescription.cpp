#include "driver/MeshDescription.h"

#include "dlc/ir/Collective.h"
#include "dlc/ir/Rt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;

namespace dlc::codegen {

static std::vector<std::string> texts(ArrayAttr list) {
  std::vector<std::string> texts;
  for (auto text : list.getAsRange<StringAttr>())
    texts.push_back(text.str());
  return texts;
}

static ShardingInfo shardingInfo(dl::MeshOp mesh, RankedTensorType whole, dl::ShardingAttr sharding) {
  ShardingInfo info;
  info.shape.assign(whole.getShape().begin(), whole.getShape().end());
  for (auto [extent, dim] : llvm::zip(whole.getShape(), sharding.getDims())) {
    info.dims.emplace_back();
    if (dim.getAxes().empty())
      continue;
    for (StringAttr axis : dim.getAxes())
      info.dims.back().axes.push_back(axis.str());
    SmallVector<int64_t> borders = mesh.borders(dim, extent);
    info.dims.back().borders.assign(borders.begin(), borders.end());
  }
  return info;
}

static void describeShardings(dl::MeshOp mesh, Attribute shardings, std::vector<ValueInfo> &values) {
  auto list = dyn_cast_if_present<ArrayAttr>(shardings);
  if (!list)
    return;
  for (auto [value, item] : llvm::zip(values, list.getAsRange<DictionaryAttr>())) {
    auto whole = item.getAs<TypeAttr>("global");
    auto sharding = item.getAs<dl::ShardingAttr>("sharding");
    if (whole && sharding)
      value.sharding = shardingInfo(mesh, cast<RankedTensorType>(whole.getValue()), sharding);
  }
}

static SiteInfo siteOf(rt::CollectiveOp collective) {
  SiteInfo site{"dl." + dl::stringifyCollectiveKind(collective.getKind()).str(), "", 0, 0};
  if (auto file = collective->getLoc()->findInstanceOf<FileLineColLoc>()) {
    site.file = file.getFilename().str();
    site.line = file.getLine();
    site.column = file.getColumn();
  }
  return site;
}

static CollectiveInfo collectiveInfo(rt::CollectiveOp collective, std::vector<SiteInfo> &sites) {
  CollectiveInfo info;
  info.kind = CollectiveKind(collective.getKind());
  info.reduce = ReduceKind(collective.getReduce().value_or(dl::ReduceKind::Sum));
  info.axes = texts(collective.getAxes());
  info.dtype = dtypeOf(collective.getElement());
  info.count = int64_t(collective.getCount());
  info.channel = int64_t(collective.getChannel());
  info.tensors = texts(collective.getTensors());
  info.site = int64_t(sites.size());
  sites.push_back(siteOf(collective));
  return info;
}

/// Where each collective of a program starts and ends, and how many launches there are.
static void describeProgram(rt::ProgramOp program, int64_t entry, const llvm::StringMap<CollectiveInfo *> &collectives,
                            EntryInfo &info) {
  program.walk([&](Operation *op) {
    if (isa<rt::LaunchOp, rt::CopyOp>(op))
      ++info.launches;
    if (auto start = dyn_cast<rt::CollectiveStartOp>(op)) {
      CollectiveInfo &collective = *collectives.lookup(start.getCollective());
      collective.entry = entry;
      collective.start = collective.wait = info.launches;
    } else if (auto wait = dyn_cast<rt::CollectiveWaitOp>(op)) {
      collectives.lookup(wait.getCollective())->wait = info.launches;
    }
  });
}

static std::string sequenceHash(const Manifest &manifest) {
  std::string text;
  for (const CollectiveInfo &info : manifest.collectives) {
    text += manifest.entries[size_t(info.entry)].name + " " + std::string(name(info.kind)) + " ";
    text += reduces(info.kind) ? std::string(name(info.reduce)) + " " : "";
    text += llvm::join(info.axes, "*") + " " + std::string(name(info.dtype)) + " " + std::to_string(info.count) + " " +
            std::to_string(info.channel) + "\n";
  }
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
}

void describeMesh(ModuleOp module, Manifest &manifest) {
  dl::MeshOp mesh = dl::MeshOp::find(module);
  if (!mesh)
    return;
  for (auto [index, axis] : llvm::enumerate(mesh.getAxisNames()))
    manifest.mesh.axes.push_back({cast<StringAttr>(axis).str(), mesh.getAxisSizes()[index],
                                  mesh.getAxisLeaves().empty() ? 0 : mesh.getAxisLeaves()[index]});
  for (auto collective : module.getOps<rt::CollectiveOp>())
    manifest.collectives.push_back(collectiveInfo(collective, manifest.sites));
  llvm::StringMap<CollectiveInfo *> byName;
  for (auto [op, info] : llvm::zip(module.getOps<rt::CollectiveOp>(), manifest.collectives))
    byName[op.getSymName()] = &info;
  for (auto [index, program] : llvm::enumerate(module.getOps<rt::ProgramOp>())) {
    EntryInfo &entry = manifest.entries[index];
    describeShardings(mesh, program->getAttr("argument_shardings"), entry.arguments);
    describeShardings(mesh, program->getAttr("result_shardings"), entry.results);
    describeProgram(program, int64_t(index), byName, entry);
  }
  if (auto program = module->getAttrOfType<StringAttr>("dl.fingerprint"))
    manifest.fingerprint = {program.str(), sequenceHash(manifest)};
}

} // namespace dlc::codegen
