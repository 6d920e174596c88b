#include "CompiledCheck.h"

#include "dlc/codegen/CompileModule.h"
#include "dlc/runtime/Session.h"

#include <cstring>

using namespace mlir;
using namespace dlc;
using namespace dlc::check;

// A few roundings of sums of some hundred terms near 1.
static constexpr double kF32Tolerance = 1e-5, kF64Tolerance = 1e-12;

namespace {

/// A tensor as the runtime sees it: dense, 64-byte aligned, i1 in bytes.
class Buffer {
public:
  explicit Buffer(RankedTensorType type) : type(type), bytes(type.getNumElements() * elementBytes()) {
    data = static_cast<char *>(std::aligned_alloc(64, size_t(bytes + 64) / 64 * 64));
  }
  Buffer(Buffer &&other) noexcept : type(other.type), bytes(other.bytes), data(std::exchange(other.data, nullptr)) {}
  ~Buffer() { std::free(data); }

  DlcBuffer view() { return {data, bytes}; }
  char *begin() { return data; }
  int64_t size() const { return bytes; }
  RankedTensorType getType() const { return type; }

private:
  int64_t elementBytes() const { return (type.getElementTypeBitWidth() + 7) / 8; }

  RankedTensorType type;
  int64_t bytes;
  char *data;
};

/// What one call left behind, as raw memory: results, then variables in order of name.
struct RawOutcome {
  std::vector<Buffer> results;
  std::map<std::string, Buffer> variables;
};

} // namespace

template <class T, class E>
static void store(const std::vector<E> &elements, char *to) {
  for (size_t i = 0; i < elements.size(); ++i) {
    T value = T(elements[i]);
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

template <class T, class E>
static void fetch(std::vector<E> &elements, const char *from) {
  for (size_t i = 0; i < elements.size(); ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    elements[i] = E(+value);
  }
}

static void toMemory(const dl::ReferenceTensor &tensor, char *to) {
  unsigned width = tensor.type.getElementTypeBitWidth();
  if (tensor.isFloat())
    return width == 64 ? store<double>(tensor.floats, to) : store<float>(tensor.floats, to);
  if (width == 64)
    return store<int64_t>(tensor.integers, to);
  width == 32 ? store<int32_t>(tensor.integers, to) : store<int8_t>(tensor.integers, to);
}

static dl::ReferenceTensor fromMemory(Buffer &buffer) {
  dl::ReferenceTensor tensor(buffer.getType());
  unsigned width = tensor.type.getElementTypeBitWidth();
  const char *from = buffer.begin();
  if (tensor.isFloat())
    width == 64 ? fetch<double>(tensor.floats, from) : fetch<float>(tensor.floats, from);
  else if (width == 64)
    fetch<int64_t>(tensor.integers, from);
  else
    width == 32 ? fetch<int32_t>(tensor.integers, from) : fetch<int8_t>(tensor.integers, from);
  return tensor;
}

// The module as a user would write it: an entry, without the attributes only tests know.
static OwningOpRef<ModuleOp> entryOf(const Program &program) {
  OwningOpRef<ModuleOp> module = program.module().clone();
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  SmallVector<StringAttr> names;
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    names.push_back(attribute.getName());
  for (StringAttr name : names)
    function->removeAttr(name);
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  function->setAttr("dl.entry", UnitAttr::get(function.getContext()));
  return module;
}

static StatusOr<RawOutcome> call(const std::shared_ptr<const Executable> &executable, func::FuncOp function,
                                 ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state,
                                 int threads) {
  auto session = Session::create({.threads = threads});
  if (!session.ok())
    return session.status();
  auto attached = (*session)->attach(executable);
  if (!attached.ok())
    return attached.status();
  for (const auto &[name, value] : state)
    if (const Session::Variable *variable = (*session)->find(name))
      toMemory(value, static_cast<char *>(variable->data));
  std::vector<Buffer> inputs;
  RawOutcome outcome;
  std::vector<DlcBuffer> inputViews, resultViews;
  for (const dl::ReferenceTensor &argument : arguments) {
    toMemory(argument, inputs.emplace_back(argument.type).begin());
    inputViews.push_back(inputs.back().view());
  }
  for (Type type : function.getResultTypes())
    resultViews.push_back(outcome.results.emplace_back(cast<RankedTensorType>(type)).view());
  std::optional<size_t> entry = executable->findEntry(function.getName().str());
  if (!entry)
    return Status(StatusCode::Internal, "the compiled module has no entry of this name");
  if (Status status = (*attached)->call(*entry, inputViews, resultViews); !status.ok())
    return status;
  for (const auto &[name, value] : state)
    if (const Session::Variable *variable = (*session)->find(name)) {
      Buffer copy(value.type);
      std::memcpy(copy.begin(), variable->data, size_t(copy.size()));
      outcome.variables.emplace(name, std::move(copy));
    }
  return outcome;
}

static double toleranceOf(Type type, double given) {
  if (given >= 0)
    return given;
  return cast<RankedTensorType>(type).getElementTypeBitWidth() == 64 ? kF64Tolerance : kF32Tolerance;
}

static void compareBits(Report &report, const Twine &what, Buffer &one, Buffer &three) {
  if (std::memcmp(one.begin(), three.begin(), size_t(one.size())) != 0)
    report.fault(what + ": one thread and three differ");
}

static void compareRuns(Report &report, const Twine &what, const Outcome &expected, RawOutcome &one, RawOutcome &three,
                        double tolerance) {
  for (auto [index, buffer] : llvm::enumerate(one.results)) {
    compare(report, what + " result " + Twine(index), expected.results[index], fromMemory(buffer),
            toleranceOf(buffer.getType(), tolerance));
    compareBits(report, what + " result " + Twine(index), buffer, three.results[index]);
  }
  for (auto &[name, buffer] : one.variables) {
    compare(report, what + " variable @" + name, expected.state.at(name), fromMemory(buffer),
            toleranceOf(buffer.getType(), tolerance));
    compareBits(report, what + " variable @" + name, buffer, three.variables.at(name));
  }
}

void dlc::check::checkCompiled(Report &report, const Twine &what, const Program &program,
                               ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state,
                               const Outcome &expected, double tolerance) {
  func::FuncOp function = program.function();
  OwningOpRef<ModuleOp> module = entryOf(program);
  auto compiled = codegen::compileModule(*module, {});
  if (!compiled.ok())
    return report.fault(what + ": " + compiled.status().message());
  auto executable = (*compiled)->load();
  if (!executable.ok())
    return report.fault(what + ": " + executable.status().message());
  auto one = call(*executable, function, arguments, state, 1), three = call(*executable, function, arguments, state, 3);
  for (auto *run : {&one, &three})
    if (!run->ok())
      return report.fault(what + ": " + run->status().message());
  compareRuns(report, what, expected, *one, *three, tolerance);
}
