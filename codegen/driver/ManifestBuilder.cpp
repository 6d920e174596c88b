#include "driver/ManifestBuilder.h"

#include "dlc/ir/Rt.h"
#include "driver/DeviceStages.h"
#include "driver/MeshDescription.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc::codegen {

DType dtypeOf(Type element) {
  if (element.isF64())
    return DType::F64;
  if (element.isF32())
    return DType::F32;
  if (element.isF16())
    return DType::F16;
  if (element.isBF16())
    return DType::BF16;
  switch (element.getIntOrFloatBitWidth()) {
  case 64:
    return DType::I64;
  case 32:
    return DType::I32;
  case 8:
    return DType::I8;
  default:
    return DType::I1;
  }
}

namespace {

TensorType tensorType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return {dtypeOf(tensor.getElementType()), std::vector<int64_t>(tensor.getShape())};
}

/// Bytes of elements as the runtime keeps them: dense, row-major, i1 as one byte.
std::string elementBytes(ElementsAttr value) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData(); // its presence is checked on import
    return std::string(data.data(), data.size());
  }
  std::string bytes;
  auto append = [&](const APInt &bits) {
    size_t size = (bits.getBitWidth() + 7) / 8;
    uint64_t word = bits.getZExtValue();
    bytes.append(reinterpret_cast<const char *>(&word), size);
  };
  if (isa<FloatType>(value.getElementType()))
    for (APFloat element : value.getValues<APFloat>())
      append(element.bitcastToAPInt());
  else
    for (APInt element : value.getValues<APInt>())
      append(element);
  return bytes;
}

int64_t appendAligned(std::string &blob, const std::string &bytes) {
  blob.resize((blob.size() + 63) / 64 * 64);
  int64_t offset = int64_t(blob.size());
  blob += bytes;
  return offset;
}

InitialValue initialValue(Attribute init, std::string &blob) {
  InitialValue value;
  if (auto constant = dyn_cast<dl::ConstantAttr>(init)) {
    value.kind = InitialValue::Kind::Constant;
    value.a = constant.getValue().getValueAsDouble();
  } else if (auto uniform = dyn_cast<dl::UniformAttr>(init)) {
    value.kind = InitialValue::Kind::Uniform;
    value.a = uniform.getLower().getValueAsDouble();
    value.b = uniform.getUpper().getValueAsDouble();
    value.offset = uniform.getOffset();
  } else if (auto normal = dyn_cast<dl::NormalAttr>(init)) {
    value.kind = InitialValue::Kind::Normal;
    value.a = normal.getMean().getValueAsDouble();
    value.b = normal.getDeviation().getValueAsDouble();
    value.offset = normal.getOffset();
  } else if (auto elements = dyn_cast<ElementsAttr>(init)) {
    value.kind = InitialValue::Kind::Data;
    value.offset = uint64_t(appendAligned(blob, elementBytes(elements)));
  }
  return value;
}

std::vector<ValueInfo> values(ArrayAttr names, ArrayAttr types) {
  std::vector<ValueInfo> list;
  for (auto [name, type] : llvm::zip(names, types))
    list.push_back({cast<StringAttr>(name).str(), tensorType(cast<TypeAttr>(type).getValue())});
  return list;
}

/// What runs twice in an entry, for reports: lines of text at the places of the groups.
void describeRecomputed(StringRef entry, DictionaryAttr memory, std::vector<SiteInfo> &sites) {
  auto groups = memory.getAs<ArrayAttr>("recomputed");
  if (!groups)
    return;
  for (auto group : groups.getAsRange<DictionaryAttr>()) {
    std::string text = llvm::formatv("computed again in {0}: {1} bytes, about {2:f3} ms", entry,
                                     group.getAs<IntegerAttr>("bytes").getInt(),
                                     group.getAs<FloatAttr>("milliseconds").getValueAsDouble());
    SiteInfo site{text, "", 0, 0};
    if (auto file = Location(group.getAs<LocationAttr>("place"))->findInstanceOf<FileLineColLoc>()) {
      site.file = file.getFilename().str();
      site.line = file.getLine();
      site.column = file.getColumn();
    }
    sites.push_back(site);
  }
}

} // namespace

ImageData buildImageData(ModuleOp module, const Targets &targets) {
  ImageData image;
  Manifest &manifest = image.manifest;
  manifest.compiler = "dlc " DLC_VERSION;
  manifest.cpu = targets.host.cpu;
  manifest.targets = targets.names();
  manifest.kernels = describeKernels(module, manifest.sites);
  llvm::StringMap<int64_t> arenaIndex;
  for (auto arena : module.getOps<rt::ArenaOp>()) {
    arenaIndex[arena.getSymName()] = int64_t(manifest.arenas.size());
    ArenaInfo info{arena.getSymName().str(), stringifyArenaClass(arena.getArenaClass()).str(),
                   int64_t(arena.getBytes()), 0};
    if (arena.getArenaClass() == rt::ArenaClass::Constant)
      info.initial = appendAligned(image.initial, std::string(size_t(info.bytes), '\0'));
    manifest.arenas.push_back(info);
  }
  for (auto data : module.getOps<rt::DataOp>()) {
    std::string bytes = elementBytes(data.getValue());
    const ArenaInfo &arena = manifest.arenas[size_t(arenaIndex[data.getArena()])];
    image.initial.replace(size_t(arena.initial) + data.getOffset(), bytes.size(), bytes);
  }
  for (auto variable : module.getOps<dl::VariableOp>()) {
    dl::SlotAttr slot = *variable.getSlot();
    manifest.variables.push_back({variable.getSymName().str(), tensorType(variable.getType()),
                                  stringifyRole(variable.getRole()).str(), arenaIndex[slot.getArena()],
                                  slot.getOffset(), initialValue(variable.getInit(), image.initial)});
  }
  for (auto program : module.getOps<rt::ProgramOp>())
    manifest.entries.push_back(
        {program.getSymName().str(), values(program.getArgumentNames(), program.getArgumentTypes()),
         values(program.getResultNames(), program.getResultTypes()), int64_t(program.getPeak())});
  describeMesh(module, manifest);
  auto memory = module->getAttrOfType<DictionaryAttr>("dl.memory");
  if (auto entries = memory ? memory.getAs<DictionaryAttr>("entries") : DictionaryAttr())
    for (NamedAttribute entry : entries)
      describeRecomputed(entry.getName(), cast<DictionaryAttr>(entry.getValue()), manifest.sites);
  if (memory)
    for (NamedAttribute item : memory)
      if (auto bytes = dyn_cast<IntegerAttr>(item.getValue()))
        manifest.memory.push_back({item.getName().str(), bytes.getInt()});
  return image;
}

} // namespace dlc::codegen
