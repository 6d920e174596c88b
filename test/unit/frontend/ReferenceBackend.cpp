#include "ReferenceBackend.h"

#include "dlc/ir/Reference.h"
#include "dlc/passes/Passes.h"
#include "dlc/runtime/Float16.h"
#include "dlc/runtime/Session.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "trace/Build.h"
#include "trace/Context.h"
#include "trace/Run.h"

#include <cstring>

using namespace mlir;

namespace dlc::test {
namespace {

template <typename T>
void loadAs(const void *data, dl::ReferenceTensor &tensor) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    T value;
    std::memcpy(&value, static_cast<const char *>(data) + i * int64_t(sizeof(T)), sizeof(T));
    if constexpr (std::is_class_v<T>)
      tensor.floats[i] = static_cast<double>(value);
    else if (tensor.isFloat())
      tensor.floats[i] = static_cast<double>(value);
    else
      tensor.integers[i] = static_cast<int64_t>(value); // NOLINT(bugprone-signed-char-misuse): i8 is signed
  }
}

template <typename T>
void storeAs(const dl::ReferenceTensor &tensor, void *data) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    T value;
    if constexpr (std::is_class_v<T>)
      value = T(tensor.floats[i]);
    else
      value = tensor.isFloat() ? static_cast<T>(tensor.floats[i]) : static_cast<T>(tensor.integers[i]);
    std::memcpy(static_cast<char *>(data) + i * int64_t(sizeof(T)), &value, sizeof(T));
  }
}

dl::ReferenceTensor load(trace::TypeRef type, const void *data) {
  dl::ReferenceTensor tensor(trace::convert(&trace::context().mlir, type));
  switch (type->dtype) {
  case DType::F64:
    loadAs<double>(data, tensor);
    break;
  case DType::F32:
    loadAs<float>(data, tensor);
    break;
  case DType::F16:
    loadAs<Float16>(data, tensor);
    break;
  case DType::BF16:
    loadAs<BFloat16>(data, tensor);
    break;
  case DType::I64:
    loadAs<int64_t>(data, tensor);
    break;
  case DType::I32:
    loadAs<int32_t>(data, tensor);
    break;
  default:
    loadAs<int8_t>(data, tensor);
  }
  return tensor;
}

void store(const dl::ReferenceTensor &tensor, void *data) {
  switch (trace::convert(tensor.type)->dtype) {
  case DType::F64:
    return storeAs<double>(tensor, data);
  case DType::F32:
    return storeAs<float>(tensor, data);
  case DType::F16:
    return storeAs<Float16>(tensor, data);
  case DType::BF16:
    return storeAs<BFloat16>(tensor, data);
  case DType::I64:
    return storeAs<int64_t>(tensor, data);
  case DType::I32:
    return storeAs<int32_t>(tensor, data);
  default:
    return storeAs<int8_t>(tensor, data);
  }
}

class ReferenceRunnable : public trace::Runnable {
public:
  Status run(std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) override {
    std::lock_guard lock(trace::context().lock);
    std::string message;
    ScopedDiagnosticHandler collect(&trace::context().mlir, [&](Diagnostic &fault) { message += fault.str(); });
    std::vector<dl::ReferenceTensor> values;
    values.reserve(arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i)
      values.push_back(load(program.inputs[i], arguments[i].data));
    dl::ReferenceState state;
    for (const trace::VariableUse &use : program.variables)
      state.emplace(use.name, load(use.type, session->arena(use.arena) + use.offset));
    auto entry = *module->getOps<func::FuncOp>().begin();
    auto computed = dl::evaluateFunction(entry, values, state, dl::ReferencePrecision::Declared);
    if (failed(computed))
      return Status(StatusCode::Internal, message);
    for (size_t i = 0; i < results.size(); ++i)
      store((*computed)[i], results[i].data);
    for (const trace::VariableUse &use : program.variables)
      if (use.written)
        store(state.at(use.name), session->arena(use.arena) + use.offset);
    return Status();
  }

  OwningOpRef<ModuleOp> module;
  trace::Program program;
  Session *session = nullptr;
};

class ReferenceBackend : public trace::Backend {
public:
  StatusOr<std::shared_ptr<trace::Runnable>> compile(const trace::Program &program, Session &session) override {
    std::lock_guard lock(trace::context().lock);
    auto module = trace::build({&program, 1});
    if (!module.ok())
      return module.status();
    std::string message;
    ScopedDiagnosticHandler collect(&trace::context().mlir, [&](Diagnostic &fault) { message += fault.str(); });
    auto exact = trace::autocast(**module);
    if (!exact.ok())
      return Status(StatusCode::Internal, message);
    PassManager passes(&trace::context().mlir);
    passes.addPass(passes::createForwardStatePass());
    passes.addPass(passes::createAutodiffPass());
    if (failed(passes.run(**module)))
      return Status(StatusCode::Internal, message);
    auto runnable = std::make_shared<ReferenceRunnable>();
    runnable->module = module.take();
    runnable->program = program;
    runnable->exactResults = exact.take();
    runnable->session = &session;
    return std::shared_ptr<trace::Runnable>(runnable);
  }
};

} // namespace

void useReferenceBackend() {
  static ReferenceBackend backend;
  trace::setBackend(&backend);
}

} // namespace dlc::test
