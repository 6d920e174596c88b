#include "CompiledCheck.h"

#include "CaseFile.h"
#include "dlc/codegen/CompileModule.h"
#include "dlc/runtime/Float16.h"
#include "dlc/runtime/Session.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <span>

using namespace mlir;
using namespace dlc;
using namespace dlc::check;

// A few roundings of sums of some hundred terms near 1.
static constexpr double kF32Tolerance = 1e-5, kF64Tolerance = 1e-12;
// Of 16 bits every op rounds: some roundings, each half a unit in the last place.
static constexpr double kRoundings = 16, kF16Rounding = 0x1p-11, kBF16Rounding = 0x1p-8;

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
    if constexpr (std::is_class_v<T>)
      elements[i] = E(value);
    else
      elements[i] = E(+value);
  }
}

static void toMemory(const dl::ReferenceTensor &tensor, char *to) {
  unsigned width = tensor.type.getElementTypeBitWidth();
  Type element = tensor.type.getElementType();
  if (element.isF16())
    return store<Float16>(tensor.floats, to);
  if (element.isBF16())
    return store<BFloat16>(tensor.floats, to);
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
  Type element = tensor.type.getElementType();
  if (element.isF16())
    fetch<Float16>(tensor.floats, from);
  else if (element.isBF16())
    fetch<BFloat16>(tensor.floats, from);
  else if (tensor.isFloat())
    width == 64 ? fetch<double>(tensor.floats, from) : fetch<float>(tensor.floats, from);
  else if (width == 64)
    fetch<int64_t>(tensor.integers, from);
  else
    width == 32 ? fetch<int32_t>(tensor.integers, from) : fetch<int8_t>(tensor.integers, from);
  return tensor;
}

std::vector<char> dlc::check::memoryOf(const dl::ReferenceTensor &tensor) {
  std::vector<char> memory(size_t(tensor.size()) * ((tensor.type.getElementTypeBitWidth() + 7) / 8));
  toMemory(tensor, memory.data());
  return memory;
}

OwningOpRef<ModuleOp> dlc::check::entryOf(const Program &program) {
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

static std::span<std::byte> bytesOf(Buffer &buffer) {
  return {reinterpret_cast<std::byte *>(buffer.begin()), size_t(buffer.size())};
}

static StatusOr<RawOutcome> call(const std::shared_ptr<const Executable> &executable, func::FuncOp function,
                                 ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state,
                                 const SessionOptions &options) {
  auto session = Session::create(options);
  if (!session.ok())
    return session.status();
  auto attached = (*session)->attach(executable);
  if (!attached.ok())
    return attached.status();
  for (const auto &[name, value] : state)
    if ((*session)->find(name)) {
      Buffer copy(value.type);
      toMemory(value, copy.begin());
      if (Status status = (*session)->write(name, bytesOf(copy)); !status.ok())
        return status;
    }
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
    if ((*session)->find(name)) {
      Buffer copy(value.type);
      if (Status status = (*session)->read(name, bytesOf(copy)); !status.ok())
        return status;
      outcome.variables.emplace(name, std::move(copy));
    }
  return outcome;
}

/// What a program is compiled for and run on.
enum class On { Cpu, Sim, Libraries };

/// The two ways a right program may be run without a bit changing.
static std::array<SessionOptions, 2> variants(On on) {
  if (on == On::Libraries)
    return {SessionOptions{.device = {"cuda", 0}}, SessionOptions{.device = {"cuda", 0}}};
  if (on == On::Cpu)
    return {SessionOptions{.threads = 1}, SessionOptions{.threads = 3}};
  // A device reads its options when it is first opened.
  static const bool opened = [] {
    setenv("DLC_SIM_CHECK", "1", 1);
    setenv("DLC_SIM_ORDER", "warp", 1);
    setenv("DLC_SIM_COPY", "late", 1);
    bool first = runtime::Device::open({"sim", 0}).ok();
    setenv("DLC_SIM_ORDER", "warp-reverse", 1);
    setenv("DLC_SIM_COPY", "eager", 1);
    return runtime::Device::open({"sim", 1}).ok() && first;
  }();
  (void)opened; // a session on a device that is not there says why
  return {SessionOptions{.device = {"sim", 0}}, SessionOptions{.device = {"sim", 1}}};
}

double dlc::check::compiledTolerance(func::FuncOp function, Type type, double given) {
  Type element = getElementTypeOrSelf(type);
  if (element.isF16() || element.isBF16()) // what is given is meant for f32
    return (element.isF16() ? kF16Rounding : kBF16Rounding) * toleranceOf(function, "dl.roundings", kRoundings) *
           std::max(1.0, given / kF32Tolerance);
  if (given >= 0)
    return given;
  return element.isF64() ? kF64Tolerance : kF32Tolerance;
}

static void compareBits(Report &report, const Twine &what, Buffer &one, Buffer &other) {
  if (std::memcmp(one.begin(), other.begin(), size_t(one.size())) != 0)
    report.fault(what + ": differs with the order of threads");
}

static void compareRuns(Report &report, const Twine &what, func::FuncOp function, const Outcome &expected,
                        RawOutcome &one, RawOutcome &other, double tolerance) {
  for (auto [index, buffer] : llvm::enumerate(one.results)) {
    dl::ReferenceTensor wanted = expected.results[index];
    wanted.roundFloats(); // so that what is too large for the type is an infinity
    compare(report, what + " result " + Twine(index), wanted, fromMemory(buffer),
            compiledTolerance(function, buffer.getType(), tolerance));
    compareBits(report, what + " result " + Twine(index), buffer, other.results[index]);
  }
  for (auto &[name, buffer] : one.variables) {
    compare(report, what + " variable @" + name, expected.state.at(name), fromMemory(buffer),
            compiledTolerance(function, buffer.getType(), tolerance));
    compareBits(report, what + " variable @" + name, buffer, other.variables.at(name));
  }
}

static void checkTarget(Report &report, const Twine &what, const Program &program,
                        ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state,
                        const Outcome &expected, double tolerance, On on, const CheckOptions &asked) {
  func::FuncOp function = program.function();
  OwningOpRef<ModuleOp> module = entryOf(program);
  codegen::CompileOptions options;
  options.targets = {on == On::Cpu ? "cpu" : "sim"};
  options.simCheck = on == On::Sim;
  if (on == On::Libraries) { // sim's kernels are for the library that stands in for the driver's
    options.targets.push_back("cuda:sm_90");
    options.matMul = options.conv = "library";
  }
  options.allow = asked.allow;
  options.cpu = asked.cpu;
  auto compiled = codegen::compileModule(*module, options);
  if (!compiled.ok())
    return report.fault(what + ": " + compiled.status().message());
  auto executable = (*compiled)->load();
  if (!executable.ok())
    return report.fault(what + ": " + executable.status().message());
  auto [first, second] = variants(on);
  auto one = call(*executable, function, arguments, state, first),
       other = call(*executable, function, arguments, state, second);
  // A failed kernel fails the device, not the checks of the functions that follow.
  for (const SessionOptions &options : {first, second})
    if (auto device = runtime::Device::open(options.device); device.ok())
      (void)(*device)->reset();
  for (auto *run : {&one, &other})
    if (!run->ok())
      return report.fault(what + ": " + run->status().message());
  compareRuns(report, what, function, expected, *one, *other, tolerance);
}

void dlc::check::checkTargets(Report &report, StringRef what, const Program &program,
                              ArrayRef<dl::ReferenceTensor> arguments, const dl::ReferenceState &state,
                              const Outcome &expected, double tolerance, const CheckOptions &options) {
  if (options.cases)
    return options.cases->add(report, what, program, arguments, state, expected, tolerance);
  if (options.compiled)
    checkTarget(report, what, program, arguments, state, expected, tolerance, On::Cpu, options);
  if (options.sim)
    checkTarget(report, what + " for sim", program, arguments, state, expected, tolerance, On::Sim, options);
  if (options.libraries)
    checkTarget(report, what + " with libraries", program, arguments, state, expected, tolerance, On::Libraries,
                options);
}
