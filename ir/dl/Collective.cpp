#include "dlc/ir/Collective.h"

#include "Axes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dlc::dl;

// [ "data" = 4, "model" = 2 ]
static ParseResult parseMeshAxes(OpAsmParser &parser, ArrayAttr &names, DenseI64ArrayAttr &sizes,
                                 DenseI64ArrayAttr &leaves) {
  SmallVector<Attribute> list;
  SmallVector<int64_t> extents, parts;
  bool any = false;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(extents.emplace_back()))
      return failure();
    list.push_back(parser.getBuilder().getStringAttr(name));
    parts.push_back(0);
    if (failed(parser.parseOptionalKeyword("of")))
      return success();
    any = true;
    return parser.parseInteger(parts.back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return failure();
  names = parser.getBuilder().getArrayAttr(list);
  sizes = parser.getBuilder().getDenseI64ArrayAttr(extents);
  leaves = parser.getBuilder().getDenseI64ArrayAttr(any ? ArrayRef<int64_t>(parts) : ArrayRef<int64_t>());
  return success();
}

static void printMeshAxes(OpAsmPrinter &p, Operation *, ArrayAttr names, DenseI64ArrayAttr sizes,
                          DenseI64ArrayAttr leaves) {
  p << "[";
  llvm::interleaveComma(llvm::enumerate(names), p, [&](auto axis) {
    int64_t size = sizes[axis.index()];
    p << axis.value() << " = " << size;
    if (!leaves.empty() && leaves[axis.index()])
      p << " of " << leaves[axis.index()];
  });
  p << "]";
}

// (data, model)
static ParseResult parseAxes(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> names;
  auto parseName = [&]() -> ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseName))
    return failure();
  axes = parser.getBuilder().getArrayAttr(names);
  return success();
}

static void printAxes(OpAsmPrinter &p, Operation *, ArrayAttr axes) {
  p << "(";
  llvm::interleaveComma(axes.getAsRange<StringAttr>(), p, [&](StringAttr axis) { p.printKeywordOrString(axis); });
  p << ")";
}

#define GET_OP_CLASSES
#include "dlc/ir/Collective.cpp.inc"

void DlDialect::addCollectiveOps() {
  addOperations<
#define GET_OP_LIST
#include "dlc/ir/Collective.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// mesh

static constexpr int64_t kMostMembers = int64_t(1) << 20;

LogicalResult MeshOp::verify() {
  ArrayRef<int64_t> sizes = getAxisSizes();
  if (sizes.empty() || sizes.size() != getAxisNames().size())
    return emitOpError("expects one or more axes, each with a size");
  int64_t members = 1;
  llvm::SmallDenseSet<Attribute> seen;
  for (auto [name, size] : llvm::zip(getAxisNames(), sizes)) {
    if (cast<StringAttr>(name).empty() || !seen.insert(name).second)
      return emitOpError("expects axes of different names, got ") << name << " twice or empty";
    if (size < 1 || size > kMostMembers / members)
      return emitOpError("expects sizes of at least 1 and at most ")
             << kMostMembers << " members, got " << name << " = " << size;
    members *= size;
  }
  if (!getAxisLeaves().empty() && getAxisLeaves().size() != sizes.size())
    return emitOpError("expects leaves for each axis, got ") << getAxisLeaves().size() << " of " << sizes.size();
  for (auto [name, size, leaves] : llvm::zip(getAxisNames(), sizes, getAxisLeaves()))
    if (leaves && (leaves < 0 || !llvm::isPowerOf2_64(leaves) || leaves % size))
      return emitOpError("expects leaves to be a power of two that the members divide, got ")
             << name << " = " << size << " of " << leaves;
  for (auto other : (*this)->getParentOfType<ModuleOp>().getOps<MeshOp>())
    if (other != *this)
      return emitOpError("expects to be the only mesh of the module, got also @") << other.getSymName();
  return success();
}

MeshOp MeshOp::find(Operation *inside) {
  auto module = dyn_cast<ModuleOp>(inside);
  if (!module)
    module = inside->getParentOfType<ModuleOp>();
  if (!module || module.getOps<MeshOp>().empty())
    return {};
  return *module.getOps<MeshOp>().begin();
}

static int64_t sizeOf(MeshOp mesh, StringAttr axis) {
  for (auto [name, size] : llvm::zip(mesh.getAxisNames(), mesh.getAxisSizes()))
    if (name == axis)
      return size;
  return 0;
}

static SmallVector<StringAttr> namesOf(ArrayAttr axes) { return llvm::to_vector(axes.getAsRange<StringAttr>()); }

int64_t MeshOp::size() { return size(getAxisNames()); }

int64_t MeshOp::size(ArrayAttr axes) { return size(namesOf(axes)); }

int64_t MeshOp::size(ArrayRef<StringAttr> axes) {
  int64_t product = 1;
  for (StringAttr axis : axes)
    product *= sizeOf(*this, axis);
  return product;
}

int64_t MeshOp::leavesOfMember(ArrayRef<StringAttr> axes) {
  int64_t product = 1;
  for (auto [name, size, leaves] : llvm::zip(getAxisNames(), getAxisSizes(), getAxisLeaves()))
    if (leaves && llvm::is_contained(axes, name))
      product *= leaves / size;
  return product;
}

int64_t MeshOp::leavesOfMember(DimShardingAttr sharding) {
  return sharding.getLeaves() ? sharding.getLeaves() / size(sharding.getAxes()) : leavesOfMember(sharding.getAxes());
}

bool MeshOp::isOrdered(ArrayRef<StringAttr> axes) {
  return llvm::any_of(llvm::zip(getAxisNames(), getAxisLeaves()), [&](auto axis) {
    auto [name, leaves] = axis;
    return leaves && llvm::is_contained(axes, name);
  });
}

/// How far apart in number two members are that are neighbours along the axis.
static int64_t strideOf(MeshOp mesh, StringAttr axis) {
  SmallVector<StringAttr> names = namesOf(mesh.getAxisNames());
  auto *found = llvm::find(names, axis);
  return found == names.end() ? 1 : mesh.size(ArrayRef<StringAttr>(names).drop_front(found - names.begin() + 1));
}

int64_t MeshOp::coordinate(int64_t member, ArrayRef<StringAttr> axes) {
  int64_t number = 0;
  for (StringAttr axis : axes)
    number = number * sizeOf(*this, axis) + member / strideOf(*this, axis) % sizeOf(*this, axis);
  return number;
}

SmallVector<int64_t> MeshOp::group(int64_t member, ArrayRef<StringAttr> axes) {
  int64_t first = member;
  for (StringAttr axis : axes)
    first -= coordinate(member, axis) * strideOf(*this, axis);
  SmallVector<int64_t> members{first};
  for (StringAttr axis : axes) {
    SmallVector<int64_t> wider;
    for (int64_t at : members)
      for (int64_t i = 0; i < sizeOf(*this, axis); ++i)
        wider.push_back(at + i * strideOf(*this, axis));
    members = std::move(wider);
  }
  return members;
}

int64_t MeshOp::leafExtent(DimShardingAttr sharding, int64_t extent) {
  if (!isOrdered(sharding.getAxes()) || !sharding.getBorders().empty())
    return 0;
  int64_t leaves = size(sharding.getAxes()) * leavesOfMember(sharding);
  return sharding.getLeaf() ? sharding.getLeaf() : int64_t(llvm::divideCeil(uint64_t(extent), uint64_t(leaves)));
}

SmallVector<int64_t> MeshOp::borders(DimShardingAttr sharding, int64_t extent) {
  if (!sharding.getBorders().empty())
    return SmallVector<int64_t>(sharding.getBorders());
  int64_t parts = size(sharding.getAxes());
  int64_t block = isOrdered(sharding.getAxes()) ? leavesOfMember(sharding) * leafExtent(sharding, extent)
                                                : int64_t(llvm::divideCeil(uint64_t(extent), uint64_t(parts)));
  SmallVector<int64_t> borders;
  for (int64_t i = 0; i <= parts; ++i)
    borders.push_back(std::min(i * block, extent));
  return borders;
}

RankedTensorType MeshOp::localType(RankedTensorType type, ShardingAttr sharding) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [extent, dim] : llvm::zip_equal(shape, sharding.getDims())) {
    SmallVector<int64_t> ends = borders(dim, extent);
    extent = 0;
    for (size_t i = 1; i < ends.size(); ++i)
      extent = std::max(extent, ends[i] - ends[i - 1]);
  }
  return type.clone(shape);
}

// Axes of the mesh

/// The mesh an op needs, and that it has the axes; null after an error.
static MeshOp meshWith(Operation *op, ArrayRef<StringAttr> axes) {
  MeshOp mesh = MeshOp::find(op);
  if (!mesh) {
    op->emitOpError("expects a dl.mesh in the module, got none");
    return {};
  }
  for (StringAttr axis : axes)
    if (!mesh.size(axis)) {
      op->emitOpError("expects axes of ") << mesh.getAxisNames() << ", got " << axis;
      return {};
    }
  return mesh;
}

static LogicalResult verifyAxes(Operation *op, ArrayAttr axes) {
  if (axes.empty())
    return op->emitOpError("expects one or more axes");
  llvm::SmallDenseSet<Attribute> seen;
  for (Attribute axis : axes)
    if (!seen.insert(axis).second)
      return op->emitOpError("expects each axis once, got ") << axis << " twice";
  return success();
}

LogicalResult dlc::dl::verifySharding(Operation *op, RankedTensorType type, ShardingAttr sharding) {
  if (int64_t(sharding.getDims().size()) != type.getRank())
    return op->emitOpError("expects ") << type.getRank() << " dims in the sharding, got " << sharding;
  for (auto [extent, dim] : llvm::zip_equal(type.getShape(), sharding.getDims())) {
    MeshOp mesh = meshWith(op, dim.getAxes());
    if (!mesh)
      return failure();
    ArrayRef<int64_t> borders = dim.getBorders();
    if (borders.empty())
      continue;
    if (int64_t(borders.size()) != mesh.size(dim.getAxes()) + 1 || borders.back() != extent)
      return op->emitOpError("expects ") << mesh.size(dim.getAxes()) + 1 << " borders, the last one " << extent
                                         << ", got " << sharding;
  }
  if (sharding.getPartial())
    return success(meshWith(op, sharding.getPartial().getAxes()));
  return success();
}

// reshard

LogicalResult ReshardOp::verify() {
  if (!getType().hasStaticShape())
    return emitOpError("expects a static shape, got ") << getType();
  return success();
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &) {
  return verifySharding(*this, getType(), getSharding());
}

LogicalResult ReshardOp::buildAdjoint(AdjointBuilder &b) {
  b.addTo(0, b.cotangent());
  return success();
}

// all_reduce

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getValues().getTypes());
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (getValues().empty())
    return emitOpError("expects one or more values");
  Type element = getElementTypeOrSelf(getValues().front().getType());
  for (Type type : getValues().getTypes())
    if (getElementTypeOrSelf(type) != element)
      return emitOpError("expects one element type, got ") << element << " and " << getElementTypeOrSelf(type);
  return verifyAxes(*this, getAxes());
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &) {
  return success(meshWith(*this, namesOf(getAxes())));
}

CollectiveKind AllReduceOp::getCollectiveKind() { return CollectiveKind::AllReduce; }
std::optional<ReduceKind> AllReduceOp::getReduceKind() { return getKind(); }

// all_gather, reduce_scatter, all_to_all

static LogicalResult verifyDim(Operation *op, RankedTensorType type, int64_t dim) {
  if (dim < 0 || dim >= type.getRank())
    return op->emitOpError("expects a dim in [0, ") << type.getRank() << "), got " << dim;
  return success();
}

/// `part` and `whole` are equal but for the dim, which is a multiple.
static LogicalResult verifyParts(Operation *op, RankedTensorType part, RankedTensorType whole, int64_t dim,
                                 ArrayAttr axes) {
  if (failed(verifyDim(op, part, dim)))
    return failure();
  SmallVector<int64_t> shape(part.getShape());
  if (part.getRank() == whole.getRank())
    shape[dim] = whole.getDimSize(dim);
  if (whole != part.clone(shape) || !whole.hasStaticShape())
    return op->emitOpError("expects types that differ in dim ") << dim << " only, got " << part << " and " << whole;
  return verifyAxes(op, axes);
}

static LogicalResult verifyExtent(Operation *op, RankedTensorType part, RankedTensorType whole, int64_t dim,
                                  ArrayAttr axes) {
  MeshOp mesh = meshWith(op, namesOf(axes));
  if (!mesh)
    return failure();
  if (int64_t extent = part.getDimSize(dim) * mesh.size(axes); whole.getDimSize(dim) != extent)
    return op->emitOpError("expects extent ")
           << extent << " in dim " << dim << " on " << mesh.size(axes) << " members, got " << whole;
  return success();
}

LogicalResult AllGatherOp::verify() { return verifyParts(*this, typeOf(getX()), getType(), getDim(), getAxes()); }

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyExtent(*this, typeOf(getX()), getType(), getDim(), getAxes());
}

CollectiveKind AllGatherOp::getCollectiveKind() { return CollectiveKind::AllGather; }

LogicalResult ReduceScatterOp::verify() { return verifyParts(*this, getType(), typeOf(getX()), getDim(), getAxes()); }

LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyExtent(*this, getType(), typeOf(getX()), getDim(), getAxes());
}

CollectiveKind ReduceScatterOp::getCollectiveKind() { return CollectiveKind::ReduceScatter; }
std::optional<ReduceKind> ReduceScatterOp::getReduceKind() { return getKind(); }

LogicalResult AllToAllOp::verify() {
  if (failed(verifyDim(*this, getType(), getDim())))
    return failure();
  if (!getType().hasStaticShape())
    return emitOpError("expects a static shape, got ") << getType();
  return verifyAxes(*this, getAxes());
}

LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &) {
  MeshOp mesh = meshWith(*this, namesOf(getAxes()));
  if (!mesh)
    return failure();
  if (getType().getDimSize(getDim()) % mesh.size(getAxes()))
    return emitOpError("expects an extent in dim ")
           << getDim() << " that " << mesh.size(getAxes()) << " members divide, got " << getType();
  return success();
}

CollectiveKind AllToAllOp::getCollectiveKind() { return CollectiveKind::AllToAll; }

// wait

LogicalResult WaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getValues().getTypes());
  return success();
}

LogicalResult WaitOp::verify() {
  if (getValues().empty())
    return emitOpError("expects one or more values");
  return success();
}
