#include "base/ManifestCalls.h"

#include <algorithm>

using nlohmann::json;

namespace dlc {

namespace {

constexpr std::array<std::string_view, 7> kEpilogueNames = {"none", "bias",      "relu",     "relu_bias",
                                                            "gelu", "gelu_bias", "gelu_grad"};
constexpr std::array<std::string_view, 3> kKindNames = {"forward", "input_grad", "weight_grad"};
constexpr std::string_view kCublasLt = "cublaslt", kCudnn = "cudnn";

constexpr int64_t kWorkspaceAlignment = 256;

/// What a call does with one of its tensors.
enum class Use { In, Out, Scratch };

/// Where one of a call's tensors begins.
struct Place {
  const char *key;
  int64_t operand, offset; ///< bytes
  DType dtype;
};

/// The bytes [begin, end) of an operand that one of a call's tensors reaches.
struct Span {
  const char *key;
  int64_t operand, begin, end;
};

/// Reads the parts of one call.
class CallReader {
public:
  CallReader(const json &value, const KernelInfo &kernel, Status &fault)
      : where("the call of kernel '" + kernel.name + "'"), reader(value, where, fault), operands(kernel.operands),
        fault(fault) {}

  LibraryCall call();

private:
  MatMulCall matMul();
  MatMulCall::Matrix matrix(const char *key, Use use, int64_t batch, int64_t rows, int64_t columns);
  void checkEpilogue(const MatMulCall &call);
  ConvCall conv();
  ConvCall::Tensor tensor(const char *key, Use use, DType dtype);
  void checkShape(const ConvCall &call);
  void checkWindow(const ConvCall &call);
  void checkScratch(const LibraryCall &call);

  template <size_t N>
  size_t oneOf(const char *key, const std::array<std::string_view, N> &names);
  DType floats(ObjectReader &from, const char *key);
  int64_t positive(const char *key);
  std::vector<int64_t> list(ObjectReader &from, const char *key, int64_t least);
  int64_t operandAt(ObjectReader &from, const char *key, Use use);
  void checkReach(ObjectReader &from, const Place &place, const std::vector<int64_t> &extents,
                  const std::vector<int64_t> &strides);

  std::string where;
  ObjectReader reader;
  const std::vector<KernelInfo::Operand> &operands;
  Status &fault;
  std::vector<Span> spans;
};

template <size_t N>
size_t CallReader::oneOf(const char *key, const std::array<std::string_view, N> &names) {
  std::string text = reader.string(key);
  auto known = std::find(names.begin(), names.end(), text);
  if (known != names.end())
    return size_t(known - names.begin());
  reader.fail("has an unknown " + std::string(key) + " '" + text + "'");
  return 0;
}

DType CallReader::floats(ObjectReader &from, const char *key) {
  std::string text = from.string(key);
  std::optional<DType> dtype = dtypeFromName(text);
  if (dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16)
    return *dtype;
  from.fail("has elements '" + text + "', possible are f32, f16, bf16");
  return DType::F32;
}

int64_t CallReader::positive(const char *key) {
  int64_t value = reader.integer(key, INT32_MAX);
  if (value < 1)
    reader.fail(std::string("has no integer '") + key + "' of at least 1");
  return std::max<int64_t>(value, 1);
}

std::vector<int64_t> CallReader::list(ObjectReader &from, const char *key, int64_t least) {
  std::vector<int64_t> values;
  for (const json &item : from.array(key)) {
    bool fits = item.is_number_integer() && item.get<double>() >= double(least) && item.get<double>() <= INT32_MAX;
    if (!fits)
      from.fail(std::string("has a number in '") + key + "' outside [" + std::to_string(least) + ", 2147483647]");
    values.push_back(fits ? item.get<int64_t>() : least);
  }
  return values;
}

int64_t CallReader::operandAt(ObjectReader &from, const char *key, Use use) {
  int64_t index = from.integer(key);
  if (index >= int64_t(operands.size())) {
    from.fail(std::string("has ") + key + " " + std::to_string(index) + " of " + std::to_string(operands.size()) +
              (std::string_view(key) == "operand" ? "" : " operands"));
    return -1;
  }
  Access access = operands[size_t(index)].access;
  bool fits = use == Use::In ? access != Access::Write : access != Access::Read;
  if (use == Use::Scratch ? access != Access::Workspace : !fits)
    from.fail(std::string("has ") + key + " " + std::to_string(index) + ", which the kernel may not " +
              (use == Use::In    ? "read"
               : use == Use::Out ? "write"
                                 : "use as workspace"));
  return index;
}

void CallReader::checkReach(ObjectReader &from, const Place &place, const std::vector<int64_t> &extents,
                            const std::vector<int64_t> &strides) {
  if (place.operand < 0)
    return;
  int64_t element = byteSize(place.dtype);
  if (place.offset % element != 0)
    return from.fail("begins at byte " + std::to_string(place.offset) +
                     ", which is not a multiple of its element's size");
  int64_t bytes = operands[size_t(place.operand)].bytes, last = 0, end = 0;
  bool overflow = false;
  for (size_t i = 0; i < extents.size(); ++i) {
    int64_t step = 0;
    overflow |= __builtin_mul_overflow(extents[i] - 1, strides[i], &step) || __builtin_add_overflow(last, step, &last);
  }
  overflow |= __builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, element, &end) ||
              __builtin_add_overflow(end, place.offset, &end);
  if (overflow || end > bytes)
    return from.fail("ends behind operand " + std::to_string(place.operand) + ", which has " + std::to_string(bytes) +
                     " bytes");
  spans.push_back({place.key, place.operand, place.offset, end});
}

MatMulCall::Matrix CallReader::matrix(const char *key, Use use, int64_t batch, int64_t rows, int64_t columns) {
  ObjectReader from(reader.object(key), where + ": " + key, fault);
  MatMulCall::Matrix matrix;
  matrix.operand = operandAt(from, "operand", use);
  matrix.offset = from.integer("offset");
  matrix.dtype = floats(from, "dtype");
  matrix.rowStride = from.integer("rowStride");
  matrix.columnStride = from.integer("columnStride");
  matrix.batchStride = from.integer("batchStride");
  bool byRows = matrix.columnStride == 1 && matrix.rowStride >= columns;
  bool byColumns = matrix.rowStride == 1 && matrix.columnStride >= rows;
  if (!byRows && (!byColumns || use == Use::Out))
    from.fail("has strides that no matrix of the library has");
  // batchStride < (rows - 1) * rowStride + columns, without its overflow
  bool overlaps = matrix.batchStride < columns ||
                  (matrix.batchStride - columns) / std::max(matrix.rowStride, int64_t(1)) < rows - 1;
  if (use == Use::Out && batch > 1 && overlaps)
    from.fail("has products on top of each other");
  checkReach(from, {key, matrix.operand, matrix.offset, matrix.dtype}, {batch, rows, columns},
             {matrix.batchStride, matrix.rowStride, matrix.columnStride});
  return matrix;
}

void CallReader::checkEpilogue(const MatMulCall &call) {
  using Epilogue = MatMulCall::Epilogue;
  if (hasBias(call.epilogue) != (call.bias >= 0) || (call.epilogue == Epilogue::GeluGrad) != (call.aux >= 0))
    return reader.fail("has operands that its epilogue '" + std::string(name(call.epilogue)) + "' does not have");
  if (call.bias >= 0)
    checkReach(reader, {"bias", call.bias, 0, call.result.dtype}, {call.columns}, {1});
  if (call.aux >= 0)
    checkReach(reader, {"aux", call.aux, 0, call.result.dtype}, {call.batch, call.rows, call.columns},
               {call.result.batchStride, call.result.rowStride, call.result.columnStride});
}

MatMulCall CallReader::matMul() {
  MatMulCall call;
  call.batch = positive("batch");
  call.rows = positive("rows");
  call.columns = positive("columns");
  call.terms = positive("terms");
  call.left = matrix("left", Use::In, call.batch, call.rows, call.terms);
  call.right = matrix("right", Use::In, call.batch, call.terms, call.columns);
  call.result = matrix("result", Use::Out, call.batch, call.rows, call.columns);
  if (call.left.dtype != call.right.dtype || (call.result.dtype != call.left.dtype && call.result.dtype != DType::F32))
    reader.fail("has elements of " + std::string(name(call.left.dtype)) + " and " +
                std::string(name(call.right.dtype)) + " for a result of " + std::string(name(call.result.dtype)));
  call.epilogue = MatMulCall::Epilogue(oneOf("epilogue", kEpilogueNames));
  call.bias = reader.has("bias") ? operandAt(reader, "bias", Use::In) : -1;
  call.aux = reader.has("aux") ? operandAt(reader, "aux", Use::In) : -1;
  checkEpilogue(call);
  call.tf32 = reader.boolean("tf32");
  return call;
}

ConvCall::Tensor CallReader::tensor(const char *key, Use use, DType dtype) {
  ObjectReader from(reader.object(key), where + ": " + key, fault);
  ConvCall::Tensor tensor;
  tensor.operand = operandAt(from, "operand", use);
  tensor.offset = from.integer("offset");
  tensor.extents = list(from, "extents", 1);
  tensor.strides = list(from, "strides", 1);
  if (tensor.extents.size() < 3 || tensor.extents.size() > 5 || tensor.extents.size() != tensor.strides.size())
    from.fail("has " + std::to_string(tensor.extents.size()) + " extents and " + std::to_string(tensor.strides.size()) +
              " strides, possible are 3 to 5");
  else
    checkReach(from, {key, tensor.operand, tensor.offset, dtype}, tensor.extents, tensor.strides);
  return tensor;
}

void CallReader::checkShape(const ConvCall &call) {
  const std::vector<int64_t> &input = call.input.extents, &weight = call.weight.extents, &output = call.output.extents;
  size_t rank = input.size();
  if (weight.size() != rank || output.size() != rank || call.strides.size() != rank - 2 ||
      call.padding.size() != rank - 2 || call.dilation.size() != rank - 2)
    return reader.fail("has tensors and windows of different ranks");
  if (input[0] != output[0] || input[1] != weight[1] * call.groups || output[1] != weight[0] ||
      weight[0] % call.groups != 0)
    return reader.fail("has batches or channels that do not fit together");
  checkWindow(call);
}

void CallReader::checkWindow(const ConvCall &call) {
  for (size_t i = 0; i < call.strides.size(); ++i) {
    // All in [0, 2^31): the sums and the product fit.
    int64_t reach = call.dilation[i] * (call.weight.extents[i + 2] - 1) + 1;
    int64_t padded = call.input.extents[i + 2] + 2 * call.padding[i];
    if (padded < reach || (padded - reach) / call.strides[i] + 1 != call.output.extents[i + 2])
      return reader.fail("has an extent of " + std::to_string(call.output.extents[i + 2]) +
                         " in its output, which its window does not give");
  }
}

ConvCall CallReader::conv() {
  ConvCall call;
  call.kind = ConvCall::Kind(oneOf("kind", kKindNames));
  call.dtype = floats(reader, "dtype");
  auto use = [&](ConvCall::Kind result) { return call.kind == result ? Use::Out : Use::In; };
  call.input = tensor("input", use(ConvCall::Kind::InputGrad), call.dtype);
  call.weight = tensor("weight", use(ConvCall::Kind::WeightGrad), call.dtype);
  call.output = tensor("output", use(ConvCall::Kind::Forward), call.dtype);
  call.strides = list(reader, "strides", 1);
  call.padding = list(reader, "padding", 0);
  call.dilation = list(reader, "dilation", 1);
  call.groups = positive("groups");
  call.tf32 = reader.boolean("tf32");
  if (fault.ok())
    checkShape(call);
  return call;
}

void CallReader::checkScratch(const LibraryCall &call) {
  if (call.workspace < 0)
    return;
  int64_t bytes = operands[size_t(call.workspace)].bytes;
  if (call.workspaceOffset % kWorkspaceAlignment != 0 || call.workspaceOffset + call.workspaceBytes > bytes)
    return reader.fail("has a workspace of " + std::to_string(call.workspaceBytes) + " bytes from byte " +
                       std::to_string(call.workspaceOffset) + " of an operand of " + std::to_string(bytes));
  for (const Span &span : spans)
    if (span.operand == call.workspace && span.begin < call.workspaceOffset + call.workspaceBytes &&
        call.workspaceOffset < span.end)
      reader.fail(std::string("has its ") + span.key + " in its workspace");
}

LibraryCall CallReader::call() {
  LibraryCall call;
  std::string library = reader.string("library");
  if (library == kCublasLt)
    call.what = matMul();
  else if (library == kCudnn)
    call.what = conv();
  else
    reader.fail("names an unknown library '" + library + "'");
  if (reader.has("workspace")) {
    call.workspace = operandAt(reader, "workspace", Use::Scratch);
    call.workspaceOffset = reader.integer("workspaceOffset");
    call.workspaceBytes = reader.integer("workspaceBytes");
  }
  if (fault.ok())
    checkScratch(call);
  return call;
}

json matrixJson(const MatMulCall::Matrix &matrix) {
  return {{"operand", matrix.operand},           {"offset", matrix.offset},
          {"dtype", name(matrix.dtype)},         {"rowStride", matrix.rowStride},
          {"columnStride", matrix.columnStride}, {"batchStride", matrix.batchStride}};
}

json whatJson(const MatMulCall &call) {
  json item = {{"batch", call.batch},
               {"rows", call.rows},
               {"columns", call.columns},
               {"terms", call.terms},
               {"left", matrixJson(call.left)},
               {"right", matrixJson(call.right)},
               {"result", matrixJson(call.result)},
               {"epilogue", name(call.epilogue)},
               {"tf32", call.tf32}};
  if (call.bias >= 0)
    item["bias"] = call.bias;
  if (call.aux >= 0)
    item["aux"] = call.aux;
  return item;
}

json tensorJson(const ConvCall::Tensor &tensor) {
  return {
      {"operand", tensor.operand}, {"offset", tensor.offset}, {"extents", tensor.extents}, {"strides", tensor.strides}};
}

json whatJson(const ConvCall &call) {
  return {{"kind", name(call.kind)},
          {"dtype", name(call.dtype)},
          {"input", tensorJson(call.input)},
          {"weight", tensorJson(call.weight)},
          {"output", tensorJson(call.output)},
          {"strides", call.strides},
          {"padding", call.padding},
          {"dilation", call.dilation},
          {"groups", call.groups},
          {"tf32", call.tf32}};
}

} // namespace

std::string_view name(MatMulCall::Epilogue epilogue) { return kEpilogueNames[size_t(epilogue)]; }

std::string_view name(ConvCall::Kind kind) { return kKindNames[size_t(kind)]; }

std::string_view LibraryCall::library() const { return std::holds_alternative<MatMulCall>(what) ? kCublasLt : kCudnn; }

LibraryCall readCall(ObjectReader &reader, const KernelInfo &kernel, Status &fault) {
  return CallReader(reader.object("call"), kernel, fault).call();
}

json callJson(const LibraryCall &call) {
  json item = std::visit([](const auto &what) { return whatJson(what); }, call.what);
  item["library"] = call.library();
  if (call.workspace >= 0) {
    item["workspace"] = call.workspace;
    item["workspaceOffset"] = call.workspaceOffset;
    item["workspaceBytes"] = call.workspaceBytes;
  }
  return item;
}

} // namespace dlc
