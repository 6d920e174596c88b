#include "memory/Placement.h"
#include "outline/CollectivePool.h"

#include "dlc/ir/Constant.h"
#include "dlc/ir/Control.h"
#include "dlc/ir/Rt.h"
#include "dlc/ir/Storage.h"
#include "dlc/passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include <unordered_map>

// Before:  func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
//            %y = dl.group … attributes {slots = [#dl.slot<"result", 0, 16>]} { … }
//            return %y : tensor<4xf32>
//          }
// After:   rt.kernel @k0 workspace(0) { ^bb0(%x: tensor<4xf32>): %y = dl.group … dl.yield %y : tensor<4xf32> }
//          rt.program @step ("x": tensor<4xf32>) -> ("y": tensor<4xf32>) peak(128) {
//            %0 = rt.argument 0
//            %1 = rt.result 0
//            rt.launch @k0 reads(%0) writes(%1)
//            rt.return
//          }

namespace dlc::passes {
#define GEN_PASS_DEF_OUTLINEPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

namespace {

/// Kernels by structure.
class KernelPool {
public:
  explicit KernelPool(ModuleOp module) : module(module), symbols(module) {}

  rt::KernelOp kernelFor(dl::GroupOp group) {
    rt::KernelOp made = create(group);
    auto &bucket = byHash[hashOf(made)];
    for (rt::KernelOp known : bucket)
      if (known.getWorkspace() == made.getWorkspace() &&
          OperationEquivalence::isRegionEquivalentTo(&known.getBody(), &made.getBody(),
                                                     OperationEquivalence::IgnoreLocations)) {
        made.erase();
        return known;
      }
    if (!firstProgram)
      firstProgram = *module.getOps<rt::ProgramOp>().begin();
    symbols.insert(made, Block::iterator(firstProgram));
    bucket.push_back(made);
    ++count;
    return made;
  }

private:
  rt::KernelOp create(dl::GroupOp group) {
    OpBuilder builder(module.getContext());
    int64_t workspace = group.getWorkspace() ? group.getWorkspaceAttr().getBytes() : 0;
    auto kernel = rt::KernelOp::create(builder, group.getLoc(), "k" + std::to_string(count), workspace);
    Block &block = kernel.getBody().emplaceBlock();
    for (Value input : group.getInputs())
      block.addArgument(input.getType(), group.getLoc());
    builder.setInsertionPointToEnd(&block);
    auto body = cast<dl::GroupOp>(builder.clone(*group));
    body->setOperands(block.getArguments());
    body.removeSlotsAttr();
    body.removeWorkspaceAttr();
    dl::YieldOp::create(builder, group.getLoc(), body.getResults());
    return kernel;
  }

  static llvm::hash_code hashOf(rt::KernelOp kernel) {
    llvm::hash_code hash(0);
    kernel.getBody().walk([&](Operation *op) {
      auto types = op->getResultTypes();
      hash = llvm::hash_combine(hash, op->getName(), op->getAttrDictionary(),
                                llvm::hash_combine_range(types.begin(), types.end()));
    });
    return hash;
  }

  ModuleOp module;
  SymbolTable symbols;
  std::unordered_map<size_t, SmallVector<rt::KernelOp>> byHash;
  Operation *firstProgram = nullptr;
  unsigned count = 0;
};

/// Buffers by slot while a block is written. Inside a region `argument` and `result` are those of the region, and slots
/// of activations count from the start of its memory.
struct Scope {
  Scope(Block *block, int64_t start) : block(block), start(start) {}

  Block *block;
  int64_t start;
  SmallVector<Value> arguments, results;
  DenseMap<dl::SlotAttr, Value> buffers;
};

/// Writes the program of one entry.
class ProgramWriter {
public:
  ProgramWriter(KernelPool &kernels, CollectivePool &collectives, OpBuilder &builder)
      : kernels(kernels), collectives(collectives), builder(builder) {}

  void write(func::FuncOp function, int64_t peak) {
    auto [argumentNames, resultNames] = namesOf(function);
    program = rt::ProgramOp::create(builder, function.getLoc(), function.getName(), argumentNames,
                                    builder.getTypeArrayAttr(function.getArgumentTypes()), resultNames,
                                    builder.getTypeArrayAttr(function.getResultTypes()), peak);
    Scope top(&program.getBody().emplaceBlock(), 0);
    collectives.keepShardings(function, program);
    writeBlock(function.getBody().front(), top);
    builder.setInsertionPointAfter(program);
  }

private:
  std::pair<ArrayAttr, ArrayAttr> namesOf(func::FuncOp function) {
    SmallVector<Attribute> arguments, results;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      Attribute name = function.getArgAttr(i, "dl.name");
      arguments.push_back(name ? name : builder.getStringAttr("argument" + Twine(i)));
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      Attribute name = function.getResultAttr(i, "dl.name");
      results.push_back(name ? name : builder.getStringAttr("result" + Twine(i)));
    }
    return {builder.getArrayAttr(arguments), builder.getArrayAttr(results)};
  }

  void writeBlock(Block &body, Scope &inside) {
    Scope *outside = std::exchange(scope, &inside);
    for (auto group : body.getOps<dl::GroupOp>())
      if (group.isExchange())
        writeExchange(group);
      else if (!isView(group))
        writeGroup(group);
    atEnd();
    rt::ReturnOp::create(builder, body.getParentOp()->getLoc());
    scope = outside;
  }

  void atEnd() { builder.setInsertionPointToEnd(scope->block); }

  Value bufferOf(dl::SlotAttr slot, Location location) {
    bool isArgument = slot.getArena() == argumentArena, isResult = slot.getArena() == resultArena;
    ArrayRef<Value> given = isArgument ? scope->arguments : scope->results;
    if ((isArgument || isResult) && !given.empty())
      return given[slot.getOffset()];
    Value &buffer = scope->buffers[slot];
    if (buffer)
      return buffer;
    atEnd();
    Type type = rt::BufferType::get(builder.getContext());
    if (isArgument)
      buffer = rt::ArgumentOp::create(builder, location, type, slot.getOffset());
    else if (isResult)
      buffer = rt::ResultOp::create(builder, location, type, slot.getOffset());
    else
      buffer = rt::SliceOp::create(builder, location, type, slot.getArena(),
                                   slot.getOffset() + (slot.getArena() == activationArena ? scope->start : 0),
                                   slot.getBytes());
    return buffer;
  }

  void writeGroup(dl::GroupOp group) {
    SmallVector<Value> reads, writes;
    for (Value input : group.getInputs())
      reads.push_back(bufferOf(slotOf(input), group.getLoc()));
    for (Value result : group.getResults())
      writes.push_back(bufferOf(slotOf(result), group.getLoc()));
    if (dl::ControlOpInterface control = controlOf(group))
      return writeControl(group, control, reads, writes);
    Value workspace = group.getWorkspace() ? bufferOf(group.getWorkspaceAttr(), group.getLoc()) : Value();
    atEnd();
    if (!isCopy(group))
      rt::LaunchOp::create(builder, group.getLoc(), kernels.kernelFor(group).getSymName(), reads, writes, workspace);
    else if (int64_t bytes = dl::getStorageBytes(group.getResult(0).getType()); bytes && reads[0] != writes[0])
      rt::CopyOp::create(builder, group.getLoc(), reads[0], writes[0], bytes);
  }

  void writeExchange(dl::GroupOp group) {
    if (group.getKind() == dl::GroupKind::Wait) {
      for (dl::GroupOp collective : collectivesOf(group))
        writeWait(collective);
      return;
    }
    Value from = bufferOf(CollectivePool::wholeOf(group.getInputs()), group.getLoc());
    Value to = bufferOf(CollectivePool::wholeOf(group.getResults()), group.getLoc());
    atEnd();
    FlatSymbolRefAttr name = collectives.add(group, program);
    started[group] = name;
    rt::CollectiveStartOp::create(builder, group.getLoc(), name, from, to);
    if (waitsOf(group).empty())
      writeWait(group);
  }

  void writeWait(dl::GroupOp collective) {
    atEnd();
    if (FlatSymbolRefAttr name = std::exchange(started[collective], {}))
      rt::CollectiveWaitOp::create(builder, collective.getLoc(), name);
  }

  // Each op with regions has its own form in the host program.
  void writeControl(dl::GroupOp group, dl::ControlOpInterface control, ArrayRef<Value> reads, ArrayRef<Value> writes) {
    SmallVector<Value> operands;
    for (Value operand : control->getOperands())
      operands.push_back(reads[cast<BlockArgument>(operand).getArgNumber()]);
    int64_t start = scope->start + (group.getWorkspace() ? group.getWorkspaceAttr().getOffset() : 0);
    if (auto scan = dyn_cast<dl::ScanOp>(*control))
      writeScan(scan, operands, writes, start);
    else
      writeCond(cast<dl::CondOp>(*control), operands, writes, start);
  }

  Value regionSlice(Location location, int64_t offset, int64_t bytes) {
    return rt::SliceOp::create(builder, location, rt::BufferType::get(builder.getContext()), activationArena, offset,
                               bytes);
  }

  void writeScan(dl::ScanOp scan, ArrayRef<Value> operands, ArrayRef<Value> results, int64_t start) {
    unsigned carries = scan.getNumCarried(), sliced = scan.getSliced().size();
    SmallVector<Value> slices(operands.slice(carries, sliced)), first, last, other;
    llvm::append_range(slices, results.drop_front(carries));
    atEnd();
    for (auto [index, offset] : llvm::enumerate(scan.getBufferOffsets())) {
      int64_t bytes = dl::getStorageBytes(scan.getOperand(index).getType());
      if (offset >= 0) {
        first.push_back(operands[index]);
        last.push_back(results[index]);
        other.push_back(regionSlice(scan.getLoc(), start + offset, bytes));
      } else if (bytes && operands[index] != results[index]) {
        rt::CopyOp::create(builder, scan.getLoc(), operands[index], results[index], bytes);
      }
    }
    auto loop =
        rt::LoopOp::create(builder, scan.getLoc(), slices, first, last, other, scan.getTrips(), scan.getBackwards());
    Scope inside(&loop.getBody().emplaceBlock(), start);
    Type type = rt::BufferType::get(builder.getContext());
    for (size_t i = 0; i < slices.size() + 2 * first.size(); ++i)
      inside.block->addArgument(type, scan.getLoc());
    unsigned next = slices.size();
    for (unsigned i = 0; i < carries; ++i) {
      bool inPlace = scan.getBufferOffsets()[i] < 0;
      inside.arguments.push_back(inPlace ? results[i] : Value(inside.block->getArgument(next++)));
      inside.results.push_back(inPlace ? results[i] : Value(inside.block->getArgument(next++)));
    }
    llvm::append_range(inside.arguments, inside.block->getArguments().take_front(sliced));
    llvm::append_range(inside.arguments, operands.drop_front(carries + sliced));
    llvm::append_range(inside.results, inside.block->getArguments().slice(sliced, slices.size() - sliced));
    writeBlock(scan.getBlock(), inside);
  }

  void writeCond(dl::CondOp cond, ArrayRef<Value> operands, ArrayRef<Value> results, int64_t start) {
    atEnd();
    auto branch = rt::IfOp::create(builder, cond.getLoc(), operands[0]);
    for (auto [from, to] : llvm::zip(cond->getRegions(), branch->getRegions())) {
      Scope inside(&to.emplaceBlock(), start);
      inside.arguments.assign(operands.begin() + 1, operands.end());
      inside.results.assign(results.begin(), results.end());
      writeBlock(from.front(), inside);
    }
  }

  KernelPool &kernels;
  CollectivePool &collectives;
  OpBuilder &builder;
  rt::ProgramOp program;
  Scope *scope = nullptr;
  DenseMap<Operation *, FlatSymbolRefAttr> started; ///< and not waited for
};

struct OutlinePass : passes::impl::OutlinePassBase<OutlinePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    llvm::erase_if(functions, [](func::FuncOp function) { return function.isExternal(); });
    for (func::FuncOp function : functions)
      for (auto group : function.getOps<dl::GroupOp>())
        if (!group.getSlots()) {
          group.emitOpError("expects slots; run dl-plan-memory");
          return signalPassFailure();
        }
    WalkResult counted = getOperation().walk([](dl::ScanOp scan) {
      if (scan.getTrips() > 0)
        return WalkResult::advance();
      scan.emitOpError("expects one step or more in a host program, got none; run dl-simplify");
      return WalkResult::interrupt();
    });
    if (counted.wasInterrupted())
      return signalPassFailure();
    if (functions.empty())
      return;
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    writeArenas(builder);
    KernelPool kernels(module);
    CollectivePool collectives(module);
    for (func::FuncOp function : functions) {
      builder.setInsertionPointToEnd(module.getBody());
      ProgramWriter(kernels, collectives, builder).write(function, peakOf(function.getName()));
      function.erase();
    }
  }

  DictionaryAttr memory() { return getOperation()->getAttrOfType<DictionaryAttr>("dl.memory"); }

  static int64_t numberIn(DictionaryAttr dictionary, StringRef name) {
    auto number = dictionary ? dictionary.getAs<IntegerAttr>(name) : IntegerAttr();
    return number ? number.getInt() : 0;
  }

  int64_t peakOf(StringRef entry) {
    auto entries = memory() ? memory().getAs<DictionaryAttr>("entries") : DictionaryAttr();
    return numberIn(entries ? entries.getAs<DictionaryAttr>(entry) : DictionaryAttr(), "peak");
  }

  /// State arenas in the order of their first variables, then activations and constants.
  void writeArenas(OpBuilder &builder) {
    llvm::MapVector<StringRef, std::pair<dl::Role, int64_t>> arenas;
    for (auto variable : getOperation().getOps<dl::VariableOp>()) {
      dl::SlotAttr slot = variable.getSlotAttr();
      if (!slot)
        continue;
      auto &[role, bytes] = arenas.try_emplace(slot.getArena(), variable.getRole(), 0).first->second;
      bytes = std::max<int64_t>(bytes, llvm::alignTo(slot.getOffset() + slot.getBytes(), dl::slotAlignment));
    }
    Location location = getOperation().getLoc();
    for (auto &[name, arena] : arenas)
      rt::ArenaOp::create(builder, location, name, *rt::symbolizeArenaClass(dl::stringifyRole(arena.first)),
                          arena.second);
    rt::ArenaOp::create(builder, location, activationArena, rt::ArenaClass::Activation,
                        numberIn(memory(), activationArena));
    int64_t constantBytes = numberIn(memory(), constantArena);
    if (!constantBytes)
      return;
    rt::ArenaOp::create(builder, location, constantArena, rt::ArenaClass::Constant, constantBytes);
    DenseSet<Attribute> written;
    getOperation().walk([&](dl::ConstantOp constant) {
      if (auto slot = constant->getAttrOfType<dl::SlotAttr>("dl.slot"); slot && written.insert(slot).second)
        rt::DataOp::create(builder, constant.getLoc(), constantArena, slot.getOffset(), constant.getValue());
    });
  }
};

} // namespace
