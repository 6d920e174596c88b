#include "RunFiles.h"

#include "dlc/runtime/Float16.h"
#include "dlc/runtime/Npy.h"
#include "dlc/runtime/Sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace dlc::tool {

namespace {

Status invalid(std::string message) { return {StatusCode::InvalidInput, std::move(message)}; }

void printScalar(const std::string &name, Value &value) {
  const void *data = value.memory.data();
  switch (value.type.dtype) {
  case DType::F64:
    return fmt::print("{} = {}\n", name, *static_cast<const double *>(data));
  case DType::F32:
    return fmt::print("{} = {}\n", name, *static_cast<const float *>(data));
  case DType::F16:
    return fmt::print("{} = {}\n", name, float(*static_cast<const Float16 *>(data)));
  case DType::BF16:
    return fmt::print("{} = {}\n", name, float(*static_cast<const BFloat16 *>(data)));
  case DType::I64:
    return fmt::print("{} = {}\n", name, *static_cast<const int64_t *>(data));
  case DType::I32:
    return fmt::print("{} = {}\n", name, *static_cast<const int32_t *>(data));
  case DType::I8:
  case DType::I1:
    return fmt::print("{} = {}\n", name, int(*static_cast<const int8_t *>(data)));
  }
}

} // namespace

StatusOr<std::vector<std::string>> placeFiles(const std::vector<std::string> &given,
                                              const std::vector<ValueInfo> &declared, const char *what) {
  std::vector<std::string> files(declared.size());
  size_t next = 0;
  for (const std::string &text : given) {
    size_t equals = text.find('=');
    size_t index = next;
    if (equals != std::string::npos) {
      index = 0;
      while (index < declared.size() && declared[index].name != text.substr(0, equals))
        ++index;
      if (index == declared.size())
        return invalid(fmt::format("no {} is named '{}'", what, text.substr(0, equals)));
    } else {
      ++next;
    }
    if (index >= declared.size())
      return invalid(fmt::format("expected at most {} {}s, got '{}' too", declared.size(), what, text));
    files[index] = text.substr(equals == std::string::npos ? 0 : equals + 1);
  }
  return files;
}

Status checkDistinct(const std::vector<std::string> &files) {
  std::vector<std::string> sorted = files;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); ++i)
    if (!sorted[i].empty() && sorted[i] == sorted[i - 1])
      return invalid("--output: two results would be written to " + sorted[i]);
  return {};
}

StatusOr<Value> readInput(const std::string &file, const ValueInfo &declared) {
  Value value(runtime::wholeType(declared));
  if (file.empty())
    return invalid("missing --input for argument '" + declared.name + "', " + value.type.str());
  StatusOr<Npy> npy = Npy::open(file);
  if (!npy.ok())
    return npy.status();
  const TensorView &tensor = npy->array();
  if (TensorType type{tensor.dtype, tensor.shape}; type != value.type)
    return invalid(
        fmt::format("{}: argument '{}' is {}, the file has {}", file, declared.name, value.type.str(), type.str()));
  std::memcpy(value.memory.data(), tensor.data, size_t(value.type.bytes()));
  return value;
}

Status writeResults(const std::vector<ValueInfo> &results, std::span<Value> values,
                    const std::vector<std::string> &outputs) {
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string &name = results[i].name;
    const TensorType &type = values[i].type;
    if (!outputs[i].empty()) {
      Status status = writeNpy(outputs[i], {name, type.dtype, type.shape, values[i].memory.data()});
      if (!status.ok())
        return status;
    } else if (type.elements() == 1) {
      printScalar(name, values[i]);
    } else {
      fmt::print("{}: {}, not written; name a file with --output\n", name, type.str());
    }
  }
  return {};
}

} // namespace dlc::tool
