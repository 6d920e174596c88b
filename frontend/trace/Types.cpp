#include "trace/Types.h"

#include "dlc/runtime/Float16.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace dlc::trace {

namespace {
/// Pointers that stay valid for the process, one a distinct key.
template <typename T>
class Interner {
public:
  template <typename Make>
  const T *get(std::string_view key, Make make) {
    std::lock_guard lock(mutex);
    auto found = entries.find(key);
    if (found != entries.end())
      return found->second.get();
    return entries.emplace(std::string(key), std::make_unique<T>(make())).first->second.get();
  }

private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<T>, Hash, std::equal_to<>> entries;
};
} // namespace

TypeRef internType(DType dtype, std::span<const int64_t> shape) {
  static Interner<TensorType> types;
  char key[8 * 16 + 1];
  std::string longKey;
  key[0] = static_cast<char>(dtype);
  std::string_view view;
  if (shape.size() <= 16) {
    if (!shape.empty())
      std::memcpy(key + 1, shape.data(), shape.size_bytes());
    view = {key, 1 + shape.size_bytes()};
  } else {
    longKey.assign(1, key[0]);
    longKey.append(reinterpret_cast<const char *>(shape.data()), shape.size_bytes());
    view = longKey;
  }
  return types.get(view, [&] {
    int64_t elements = 1;
    for (int64_t extent : shape)
      elements *= extent;
    return TensorType{dtype, {shape.begin(), shape.end()}, elements, elements * byteSize(dtype)};
  });
}

std::string str(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string str(TypeRef type) { return std::string(name(type->dtype)) + " " + str(type->shape); }

OpRef internOp(std::string_view name) {
  static Interner<OpName> ops;
  return ops.get(name, [&] { return OpName{std::string(name)}; });
}

std::string exactText(double value, DType dtype) {
  char text[40];
  if (!std::isfinite(value)) {
    if (dtype == DType::F32)
      std::snprintf(text, sizeof text, "0x%08X", std::bit_cast<uint32_t>(static_cast<float>(value)));
    else if (dtype != DType::F64)
      std::snprintf(text, sizeof text, "0x%04X",
                    unsigned(dtype == DType::F16 ? Float16(value).bits : BFloat16(value).bits));
    else
      std::snprintf(text, sizeof text, "0x%016llX", static_cast<unsigned long long>(std::bit_cast<uint64_t>(value)));
    return text;
  }
  auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  std::string result(text, end);
  if (size_t exponent = result.find('e'); result.find('.') == std::string::npos) // MLIR wants a point
    result.insert(exponent, ".0");
  return result;
}

void Attributes::start(std::string_view name) {
  if (!text.empty())
    text += ", ";
  text += name;
}

Attributes &Attributes::ints(std::string_view name, std::span<const int64_t> values) {
  start(name);
  text += " = array<i64";
  for (size_t i = 0; i < values.size(); ++i) {
    char digits[24];
    auto end = std::to_chars(digits, digits + sizeof digits, values[i]).ptr;
    text += i ? ", " : ": ";
    text.append(digits, end);
  }
  text += '>';
  return *this;
}

Attributes &Attributes::integer(std::string_view name, int64_t value) {
  start(name);
  text += " = " + std::to_string(value) + " : i64";
  return *this;
}

Attributes &Attributes::real(std::string_view name, double value) {
  start(name);
  text += " = " + exactText(value) + " : f64";
  return *this;
}

Attributes &Attributes::flag(std::string_view name, bool value) {
  if (value)
    start(name);
  return *this;
}

Attributes &Attributes::raw(std::string_view name, std::string_view value) {
  start(name);
  text += " = ";
  text += value;
  return *this;
}

AttributesRef Attributes::intern() const {
  static Interner<std::string> attributes;
  return attributes.get(text, [&] { return text; });
}

} // namespace dlc::trace
