#pragma once

#include "dlc/runtime/DType.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::trace {

/// Element type and static shape; interned, so equal types are one pointer.
struct TensorType {
  DType dtype;
  std::vector<int64_t> shape;
  int64_t elements;
  /// Bytes of a dense buffer.
  int64_t bytes;
};
using TypeRef = const TensorType *;
TypeRef internType(DType dtype, std::span<const int64_t> shape);

/// "f32 [64, 10]".
std::string str(TypeRef type);
/// "[64, 10]".
std::string str(std::span<const int64_t> shape);

/// An operation's name ("dl.add"), interned.
struct OpName {
  std::string name;
};
using OpRef = const OpName *;
OpRef internOp(std::string_view name);

/// Attributes of a node as the body of an MLIR dictionary ("axes = array<i64: 0>"), interned.
using AttributesRef = const std::string *;

/// Writes attributes in MLIR syntax, in the order of the calls.
class Attributes {
public:
  Attributes &ints(std::string_view name, std::span<const int64_t> values);
  Attributes &integer(std::string_view name, int64_t value);
  Attributes &real(std::string_view name, double value);
  Attributes &flag(std::string_view name, bool value = true);
  /// `text` is MLIR syntax.
  Attributes &raw(std::string_view name, std::string_view text);
  AttributesRef intern() const;

private:
  void start(std::string_view name);
  std::string text;
};

/// A number in MLIR syntax that reads back to the same bits as that float type, without the type.
std::string exactText(double value, DType dtype = DType::F64);

} // namespace dlc::trace
