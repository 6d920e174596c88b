#include "gpu/GpuKernelBuilder.h"

#include "kernels/GroupAnalysis.h"
#include "library/LibraryOp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace dlc;
using namespace dlc::codegen;

namespace {
enum AddressSpace : unsigned { globalSpace = 1, sharedSpace = 3 };
constexpr gpu::Dimension dimensions[] = {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z};
} // namespace

GpuKernelBuilder::GpuKernelBuilder(gpu::GPUModuleOp module, StringRef name, dl::GroupOp group, int64_t workspaceBytes,
                                   const GpuOptions &options)
    : PointerKernelBuilder(module.getContext(), group.getLoc()), module(module), name(name), group(group),
      operands(group.getNumOperands() + group.getNumResults()), workspaceBytes(workspaceBytes), options(options) {}

int64_t GpuKernelBuilder::lanesOf(Type element) { return gpuVectorBytes / std::max<int64_t>(bytesOf(element), 4); }

static int64_t bytesOfTensor(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * codegen::bytesOf(tensor.getElementType());
}

// Operands share no bytes, but for a result that takes over those of an input.
static SmallVector<NamedAttrList> argumentAttributes(dl::GroupOp group, int64_t workspaceBytes) {
  OpBuilder b(group.getContext());
  SmallVector<int64_t> sizes;
  for (Type type : llvm::concat<const Type>(group.getOperandTypes(), group.getResultTypes()))
    sizes.push_back(bytesOfTensor(type));
  if (workspaceBytes)
    sizes.push_back(workspaceBytes);
  SmallVector<bool> shared(sizes.size(), false);
  if (std::optional<ArrayRef<int64_t>> inPlace = group.getInPlace())
    for (auto [result, input] : llvm::enumerate(*inPlace))
      if (input >= 0)
        shared[input] = shared[group.getNumOperands() + result] = true;
  SmallVector<NamedAttrList> attributes(sizes.size());
  for (auto [i, bytes] : llvm::enumerate(sizes)) {
    attributes[i].set(LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(gpuVectorBytes));
    if (bytes)
      attributes[i].set(LLVM::LLVMDialect::getDereferenceableAttrName(), b.getI64IntegerAttr(bytes));
    if (shared[i])
      continue;
    attributes[i].set(LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (i < group.getNumOperands())
      attributes[i].set(LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }
  return attributes;
}

void GpuKernelBuilder::openFunction(Extents grid, Extents block, int64_t registers) {
  std::string symbol = nextSymbol();
  launches.push_back({symbol, grid, block, 0});
  builder.setInsertionPointToEnd(&module.getBodyRegion().front());
  SmallVector<NamedAttrList> arguments = argumentAttributes(group, workspaceBytes);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), globalSpace);
  auto type = builder.getFunctionType(SmallVector<Type>(arguments.size(), pointer), {});
  function = gpu::GPUFuncOp::create(builder, location, symbol, type);
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  auto extents = [&](Extents values) {
    return builder.getDenseI32ArrayAttr({int32_t(values[0]), int32_t(values[1]), int32_t(values[2])});
  };
  function.setKnownBlockSizeAttr(extents(block));
  function.setKnownGridSizeAttr(extents(grid));
  if (registers)
    function->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(), builder.getI32IntegerAttr(int32_t(registers)));
  for (auto [i, attributes] : llvm::enumerate(arguments))
    function.setArgAttrs(i, attributes);
  threads = blocks = {};
  builder.setInsertionPointToEnd(&function.getBody().front());
  // Terminator first: the entry block has an end while the body is emitted before it.
  builder.setInsertionPoint(gpu::ReturnOp::create(builder, location));
}

void GpuKernelBuilder::call(const LibraryCall &call) {
  launches.push_back({nextSymbol(), {1, 1, 1}, {1, 1, 1}, 0});
  builder.setInsertionPointToEnd(&module.getBodyRegion().front());
  createLibraryOp(builder, location, launches.back().symbol, call);
}

void GpuKernelBuilder::launch(Extents grid, Extents block, llvm::function_ref<void()> body, int64_t registers) {
  if (llvm::any_of(grid, [](int64_t extent) { return extent <= 0; }))
    return;
  openFunction(grid, block, registers);
  body();
}

void GpuKernelBuilder::parallelRange(int64_t extent, int64_t multiple, double,
                                     llvm::function_ref<void(Value, Value)> body) {
  constexpr int64_t blockThreads = 256;
  int64_t count = (extent + multiple - 1) / multiple;
  int64_t block = std::min<int64_t>(blockThreads, llvm::alignTo(std::max<int64_t>(count, 1), warpSize));
  launch(blocksFor(count, block), {block, 1, 1}, [&] {
    Value number = arith::MulIOp::create(builder, location, blockId(), i64(block));
    number = arith::AddIOp::create(builder, location, number, threadId());
    Value lo = arith::MulIOp::create(builder, location, number, i64(multiple)), whole = i64(extent);
    Value live = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, lo, whole);
    auto branch = scf::IfOp::create(builder, location, live, /*withElseRegion=*/false);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    Value end = arith::AddIOp::create(builder, location, lo, i64(multiple));
    body(lo, multiple == 1 ? end : arith::MinSIOp::create(builder, location, end, whole));
  });
}

Value GpuKernelBuilder::atEntry(llvm::function_ref<Value()> emit) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  return emit();
}

Value GpuKernelBuilder::threadId(unsigned dim) {
  if (!threads[dim])
    threads[dim] = atEntry([&]() -> Value {
      if (launches.back().block[dim] == 1)
        return i64(0);
      Value id = gpu::ThreadIdOp::create(builder, location, dimensions[dim]);
      return arith::IndexCastUIOp::create(builder, location, builder.getI64Type(), id);
    });
  return threads[dim];
}

Value GpuKernelBuilder::blockId(unsigned dim) {
  if (!blocks[dim])
    blocks[dim] = atEntry([&]() -> Value {
      if (launches.back().grid[dim] == 1)
        return i64(0);
      Value id = gpu::BlockIdOp::create(builder, location, dimensions[dim]);
      return arith::IndexCastUIOp::create(builder, location, builder.getI64Type(), id);
    });
  return blocks[dim];
}

Memory GpuKernelBuilder::shared(int64_t elements, Type element) {
  std::string symbol = name + "_shared_" + std::to_string(sharedCount++);
  OpBuilder global = OpBuilder::atBlockBegin(&module.getBodyRegion().front());
  auto array = LLVM::LLVMArrayType::get(memoryType(element), elements);
  LLVM::GlobalOp::create(global, location, array, /*isConstant=*/false, LLVM::Linkage::Internal, symbol, Attribute(),
                         /*alignment=*/64, sharedSpace);
  launches.back().sharedBytes = llvm::alignTo(launches.back().sharedBytes, 64) + elements * bytesOf(element);
  Value pointer = atEntry([&]() -> Value {
    return LLVM::AddressOfOp::create(builder, location, LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace),
                                     symbol);
  });
  return {pointer, element};
}

void GpuKernelBuilder::barrier() { gpu::BarrierOp::create(builder, location); }

// Shuffles move 32 bits: narrow values are widened, wide ones go in halves.
Value GpuKernelBuilder::shuffle(Value value, gpu::ShuffleMode mode, int64_t operand) {
  Type type = value.getType(), i32 = builder.getI32Type(), word = builder.getI64Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(int32_t(number)));
  };
  auto move = [&](Value one) -> Value {
    return gpu::ShuffleOp::create(builder, location, one, constant(operand), constant(warpSize), mode)
        .getShuffleResult();
  };
  if (bits == 32)
    return move(value);
  Type integer = builder.getIntegerType(bits);
  Value raw = type == integer ? value : arith::BitcastOp::create(builder, location, integer, value);
  if (bits < 32) {
    raw = move(arith::ExtUIOp::create(builder, location, i32, raw));
    raw = arith::TruncIOp::create(builder, location, integer, raw);
  } else {
    Value low = move(arith::TruncIOp::create(builder, location, i32, raw));
    Value high = arith::ShRUIOp::create(builder, location, raw, i64(32));
    high = move(arith::TruncIOp::create(builder, location, i32, high));
    high = arith::ShLIOp::create(builder, location, arith::ExtUIOp::create(builder, location, word, high), i64(32));
    raw = arith::OrIOp::create(builder, location, high, arith::ExtUIOp::create(builder, location, word, low));
  }
  return type == integer ? raw : arith::BitcastOp::create(builder, location, type, raw);
}

Value GpuKernelBuilder::shuffleXor(Value value, int64_t mask) { return shuffle(value, gpu::ShuffleMode::XOR, mask); }

Value GpuKernelBuilder::shuffleFrom(Value value, int64_t lane) { return shuffle(value, gpu::ShuffleMode::IDX, lane); }

void GpuKernelBuilder::atomicAdd(const Memory &memory, Value offset, Value value) {
  LLVM::AtomicRMWOp::create(builder, location, LLVM::AtomicBinOp::fadd, address(memory, offset), value,
                            LLVM::AtomicOrdering::monotonic, "device");
}

Memory GpuKernelBuilder::operand(unsigned i, Type element) {
  return asStored(group, i, {function.getArgument(i), element});
}

Memory GpuKernelBuilder::workspace(int64_t offset, Type element) {
  Value base = function.getArgument(operands);
  if (offset)
    base = atEntry([&]() -> Value {
      return LLVM::GEPOp::create(builder, location, base.getType(), builder.getI8Type(), base,
                                 ArrayRef<LLVM::GEPArg>{i64(offset)}, LLVM::GEPNoWrapFlags::inbounds);
    });
  return {base, element};
}

Memory GpuKernelBuilder::scratch(int64_t elements, Type element) {
  Value pointer = atEntry([&]() -> Value {
    return LLVM::AllocaOp::create(builder, location, LLVM::LLVMPointerType::get(builder.getContext()),
                                  memoryType(element), i64(elements), gpuVectorBytes);
  });
  return {pointer, element};
}

Memory GpuKernelBuilder::constantData(DenseElementsAttr values) { return constantIn(module, values, globalSpace); }

// A GPU has no masks: lanes that are off read element 0 and drop it.
Value GpuKernelBuilder::load(Memory memory, Value offset, int64_t stride, const Lane &lane) {
  if (!lane.width || !lane.mask || !stride)
    return PointerKernelBuilder::load(memory, offset, stride, lane);
  memory.divisor = 1;
  SmallVector<Value> elements;
  for (int64_t i = 0; i < lane.width; ++i) {
    Value at = i ? arith::AddIOp::create(builder, location, offset, i64(i * stride)) : offset;
    Value on = vector::ExtractOp::create(builder, location, lane.mask, i);
    at = arith::SelectOp::create(builder, location, on, at, i64(0));
    Value element = PointerKernelBuilder::load(memory, at, 0, Lane{});
    Value zero = arith::ConstantOp::create(builder, location, builder.getZeroAttr(element.getType()));
    elements.push_back(arith::SelectOp::create(builder, location, on, element, zero));
  }
  auto type = VectorType::get({lane.width}, elements[0].getType());
  return vector::FromElementsOp::create(builder, location, type, elements);
}

void GpuKernelBuilder::store(Memory memory, Value offset, const Lane &lane, Value value) {
  if (!lane.width || !lane.mask)
    return PointerKernelBuilder::store(memory, offset, lane, value);
  memory.divisor = 1;
  for (int64_t i = 0; i < lane.width; ++i) {
    Value on = vector::ExtractOp::create(builder, location, lane.mask, i);
    auto branch = scf::IfOp::create(builder, location, on, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    Value at = i ? arith::AddIOp::create(builder, location, offset, i64(i)) : offset;
    Value element = vector::ExtractOp::create(builder, location, value, i);
    PointerKernelBuilder::store(memory, at, Lane{}, element);
  }
}

// Every memory starts at a multiple of gpuVectorBytes.
unsigned GpuKernelBuilder::alignmentOf(const Memory &memory, int64_t width) {
  int64_t bytes = bytesOf(memory.stored()), known = memory.divisor & -memory.divisor;
  return std::min(bytes * known,
                  std::min<int64_t>(gpuVectorBytes, int64_t(llvm::PowerOf2Ceil(bytes * std::max<int64_t>(width, 1)))));
}
