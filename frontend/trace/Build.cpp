#include "trace/Build.h"

#include "dlc/ir/Precision.h"
#include "dlc/ir/Program.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "trace/Context.h"

#include <map>

using namespace mlir;

namespace dlc::trace {
namespace {

class Builder {
public:
  Builder(MLIRContext *mlir, OwningOpRef<ModuleOp> &module) : mlir(mlir), module(module), builder(mlir) {}

  Status add(const Program &program);

private:
  Location location(const Site &site);
  void addMesh(const Program &program);
  Status addSharding(func::FuncOp entry, unsigned input, const Program &program);
  Status addVariables(const Program &program);
  Status addOperation(const ProgramStep &step, SmallVectorImpl<Value> &values);
  Status addRegion(const Region &region, Location location, mlir::Region &to);

  MLIRContext *mlir;
  OwningOpRef<ModuleOp> &module;
  OpBuilder builder;
  std::map<std::string, const VariableUse *> known;
};

Location line(MLIRContext *mlir, const std::source_location &at) {
  return FileLineColLoc::get(mlir, at.file_name(), at.line(), at.column());
}

Location Builder::location(const Site &site) {
  Location result = line(mlir, site.line);
  if (!site.scope)
    return result;
  Location callers = line(mlir, site.scope->where);
  for (const Scope *scope = site.scope->outer; scope; scope = scope->outer)
    callers = CallSiteLoc::get(callers, line(mlir, scope->where));
  return CallSiteLoc::get(result, callers);
}

void Builder::addMesh(const Program &program) {
  builder.setInsertionPointToEnd(module->getBody());
  OperationState state(builder.getUnknownLoc(), "dl.mesh");
  state.addAttribute("sym_name", builder.getStringAttr("mesh"));
  state.addAttribute("axis_names", builder.getStrArrayAttr({kDataAxis}));
  state.addAttribute("axis_sizes", builder.getDenseI64ArrayAttr({program.members.count}));
  if (program.members.leaves)
    state.addAttribute("axis_leaves", builder.getDenseI64ArrayAttr({program.members.leaves}));
  builder.create(state);
}

/// "#dl.sharding<[data(0, 3, 4), _]>"; without borders where they are those of equal blocks.
std::string shardingText(TypeRef type, LayoutRef layout, Members members) {
  std::string text = "#dl.sharding<[";
  for (size_t dim = 0; dim < type->shape.size(); ++dim) {
    text += dim ? ", " : "";
    if (static_cast<int64_t>(dim) != layout->dim) {
      text += "_";
      continue;
    }
    text += kDataAxis;
    if (layout != blocksOf(layout->dim, type->shape[dim], members)) {
      std::string borders = str(layout->borders);
      text += "(" + borders.substr(1, borders.size() - 2) + ")";
    }
  }
  return text + "]>";
}

Status Builder::addSharding(func::FuncOp entry, unsigned input, const Program &program) {
  LayoutRef layout = program.layouts.empty() ? nullptr : program.layouts[input];
  if (!layout)
    return Status();
  std::string text = shardingText(program.inputs[input], layout, program.members);
  Attribute sharding = parseAttribute(text, mlir);
  if (!sharding)
    return Status(StatusCode::Internal, text + " does not parse");
  entry.setArgAttr(input, "dl.sharding", sharding);
  return Status();
}

Status Builder::addVariables(const Program &program) {
  for (const VariableUse &use : program.variables) {
    auto [found, isNew] = known.try_emplace(use.name, &use);
    if (!isNew) {
      if (found->second->arena != use.arena || found->second->offset != use.offset)
        return Status(StatusCode::InvalidInput, "two variables are named " + use.name);
      continue;
    }
    builder.setInsertionPointToEnd(module->getBody());
    Attribute init = parseAttribute(use.init, mlir);
    if (!init)
      return Status(StatusCode::Internal, "initial value " + use.init + " does not parse");
    dl::SlotAttr slot;
    if (!use.arena.empty())
      slot = dl::SlotAttr::get(mlir, use.arena, use.offset, use.type->bytes);
    dl::VariableOp::create(builder, builder.getUnknownLoc(), use.name, convert(mlir, use.type),
                           *dl::symbolizeRole(use.role), init, slot);
  }
  return Status();
}

Status Builder::addOperation(const ProgramStep &step, SmallVectorImpl<Value> &values) {
  OperationState state(location(step.site), step.op->name);
  for (uint32_t operand : step.operands)
    state.operands.push_back(values[operand]);
  for (TypeRef type : step.results)
    state.types.push_back(convert(mlir, type));
  auto attributes = convert(mlir, step.attributes);
  if (!attributes.ok())
    return attributes.status();
  state.addAttributes(attributes->getValue());
  for (RegionRef region : step.regions)
    if (Status status = addRegion(*region, state.location, *state.addRegion()); !status.ok())
      return status;
  llvm::append_range(values, builder.create(state)->getResults());
  return Status();
}

Status Builder::addRegion(const Region &region, Location location, mlir::Region &to) {
  OpBuilder::InsertionGuard guard(builder);
  Block &block = to.emplaceBlock();
  SmallVector<Value> values, outputs;
  for (TypeRef type : region.inputs)
    values.push_back(block.addArgument(convert(mlir, type), location));
  builder.setInsertionPointToEnd(&block);
  for (const ProgramStep &step : region.steps)
    if (Status status = addOperation(step, values); !status.ok())
      return status;
  for (uint32_t output : region.outputs)
    outputs.push_back(values[output]);
  dl::YieldOp::create(builder, location, outputs);
  return Status();
}

Status Builder::add(const Program &program) {
  if (!program.layouts.empty())
    addMesh(program);
  if (Status status = addVariables(program); !status.ok())
    return status;
  SmallVector<Type> inputs;
  for (TypeRef type : program.inputs)
    inputs.push_back(convert(mlir, type));
  builder.setInsertionPointToEnd(module->getBody());
  Location unknown = builder.getUnknownLoc();
  auto entry = func::FuncOp::create(builder, unknown, program.name, builder.getFunctionType(inputs, {}));
  entry->setAttr("dl.entry", builder.getUnitAttr());
  if (program.limits.all)
    entry->setAttr("dl.memory_limit", builder.getI64IntegerAttr(program.limits.all));
  if (program.limits.activation)
    entry->setAttr("dl.activation_budget", builder.getI64IntegerAttr(program.limits.activation));
  builder.setInsertionPointToStart(entry.addEntryBlock());

  SmallVector<Value> values(entry.getArguments());
  for (const VariableUse &use : program.variables)
    values.push_back(dl::ReadOp::create(builder, unknown, convert(mlir, use.type), use.name));
  for (const ProgramStep &step : program.steps)
    if (Status status = addOperation(step, values); !status.ok())
      return status;
  for (const VariableUse &use : program.variables)
    if (use.written)
      dl::WriteOp::create(builder, unknown, use.name, values[*use.written]);

  SmallVector<Value> outputs;
  for (uint32_t output : program.outputs)
    outputs.push_back(values[output]);
  func::ReturnOp::create(builder, unknown, outputs);
  entry.setType(builder.getFunctionType(inputs, ValueRange(outputs).getTypes()));
  for (unsigned i = 0; i < program.inputs.size(); ++i)
    if (Status status = addSharding(entry, i, program); !status.ok())
      return status;
  for (auto [i, dtype] : llvm::enumerate(program.exact))
    if (dtype)
      entry.setArgAttr(i, dl::kExactAttr, TypeAttr::get(elementType(mlir, *dtype)));
  for (auto [i, text] : llvm::enumerate(program.inputNames))
    entry.setArgAttr(i, "dl.name", builder.getStringAttr(text));
  for (auto [i, text] : llvm::enumerate(program.outputNames))
    entry.setResultAttr(i, "dl.name", builder.getStringAttr(text));
  return Status();
}

} // namespace

StatusOr<OwningOpRef<ModuleOp>> build(std::span<const Program> programs) {
  Context &c = context();
  std::string message;
  ScopedDiagnosticHandler collect(&c.mlir, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream(message) << diagnostic.getLocation() << ": " << diagnostic << "\n";
  });
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&c.mlir));
  Builder builder(&c.mlir, module);
  for (const Program &program : programs)
    if (Status status = builder.add(program); !status.ok())
      return status;
  if (failed(verify(*module)))
    return Status(StatusCode::Internal, message);
  return StatusOr<OwningOpRef<ModuleOp>>(std::move(module));
}

} // namespace dlc::trace
