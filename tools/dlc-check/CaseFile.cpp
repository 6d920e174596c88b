#include "CaseFile.h"

#include "CompiledCheck.h"
#include "dlc/codegen/CompileModule.h"
#include "dlc/runtime/Safetensors.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dlc;
using namespace dlc::check;

void CaseFile::addExpected(const std::string &name, const dl::ReferenceTensor &value, double tolerance) {
  dl::ReferenceTensor expected = value;
  expected.roundFloats(); // what is too large for the type is an infinity
  tensors.insert_or_assign(name, Tensor{expected, true});
  tolerances[name] = expected.isFloat() ? tolerance : 0.0;
}

void CaseFile::add(Report &report, StringRef what, const Program &program, ArrayRef<dl::ReferenceTensor> arguments,
                   const dl::ReferenceState &state, const Outcome &expected, double tolerance) {
  OwningOpRef<ModuleOp> single = entryOf(program);
  if (!module) {
    OpBuilder builder(single->getContext());
    module = ModuleOp::create(builder, single->getLoc());
  }
  func::FuncOp function = *single->getOps<func::FuncOp>().begin();
  std::string name = function.getName().str() + (what.ends_with("gradient") ? ".gradient" : "");
  function.setName(name);
  std::vector<std::string> variables;
  for (Operation &op : *single->getBody()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (symbol && state.contains(symbol.getName().str()))
      variables.push_back(symbol.getName().str());
    if (!symbol || !SymbolTable::lookupSymbolIn(*module, symbol.getNameAttr()))
      module->push_back(op.clone());
    else if (&op == function)
      return report.fault("expects one function of the name " + name);
  }
  auto numbered = [&](const Twine &kind, size_t index) { return (name + kind + Twine(index)).str(); };
  for (auto [index, argument] : llvm::enumerate(arguments))
    tensors.insert_or_assign(numbered("/argument/", index), Tensor{argument, false});
  for (auto [index, result] : llvm::enumerate(expected.results))
    addExpected(numbered("/result/", index), result,
                compiledTolerance(function, function.getResultTypes()[index], tolerance));
  for (const std::string &variable : variables) {
    tensors.insert_or_assign((name + Twine("/state/") + variable).str(), Tensor{state.at(variable), false});
    const dl::ReferenceTensor &after = expected.state.at(variable);
    addExpected((name + Twine("/after/") + variable).str(), after, compiledTolerance(function, after.type, tolerance));
  }
}

static DType dtypeOf(Type element) {
  if (element.isF64())
    return DType::F64;
  if (element.isF32())
    return DType::F32;
  if (element.isF16())
    return DType::F16;
  if (element.isBF16())
    return DType::BF16;
  unsigned width = element.getIntOrFloatBitWidth();
  return width == 64 ? DType::I64 : width == 32 ? DType::I32 : width == 8 ? DType::I8 : DType::I1;
}

Status CaseFile::writeTensors(const std::string &path) {
  std::vector<std::vector<char>> copies;
  std::vector<TensorView> views;
  for (const auto &[name, tensor] : tensors) {
    const dl::ReferenceTensor &value = tensor.value;
    TensorView &view = views.emplace_back();
    view.name = name;
    view.shape = {value.shape().begin(), value.shape().end()};
    if (tensor.isExpected) {
      view.dtype = value.isFloat() ? DType::F64 : DType::I64;
      view.data = value.isFloat() ? static_cast<const void *>(value.floats.data()) : value.integers.data();
    } else {
      view.dtype = dtypeOf(value.type.getElementType());
      view.data = copies.emplace_back(memoryOf(value)).data();
    }
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(llvm::json::Object(tolerances));
  return writeSafetensors(path, views, {{"tolerances", text}});
}

Status CaseFile::write(const std::string &path, const Options &asked) {
  if (!module)
    return {};
  codegen::CompileOptions options;
  options.targets = asked.targets;
  options.cpu = asked.cpu;
  options.matMul = options.conv = asked.maker;
  auto compiled = codegen::compileModule(*module, options);
  if (!compiled.ok())
    return compiled.status();
  if (Status status = (*compiled)->writeArtifact(path + ".so"); !status.ok())
    return status;
  return writeTensors(path + ".safetensors");
}
