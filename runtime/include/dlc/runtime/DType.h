#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dlc {

/// Element type of a buffer; I1 is one byte in memory, 0 or 1.
enum class DType : uint8_t { F64, F32, I64, I32, I8, I1, F16, BF16 };

/// Whether it is one of the types of numbers with a fraction.
constexpr bool isFloat(DType type) {
  return type == DType::F64 || type == DType::F32 || type == DType::F16 || type == DType::BF16;
}

/// Whether it is one of the enumerators: a byte from outside may be none.
constexpr bool isKnown(DType type) { return type <= DType::BF16; }

/// Bytes of one element in memory.
int64_t byteSize(DType type);

/// MLIR's spelling: "f64", "f32", "i64", "i32", "i8", "i1", "f16", "bf16".
std::string_view name(DType type);

/// The type with that MLIR spelling, if there is one.
std::optional<DType> dtypeFromName(std::string_view name);

/// The spelling in a safetensors header: "F64", "F32", "I64", "I32", "I8", "BOOL", "F16", "BF16".
std::string_view safetensorsName(DType type);

/// The type with that safetensors spelling, if there is one.
std::optional<DType> dtypeFromSafetensorsName(std::string_view name);

/// The spelling in a .npy header, little-endian: "<f8", "<f4", "<i8", "<i4", "|i1", "|b1", "<f2"; empty for bf16, which
/// NumPy has no name for.
std::string_view npyName(DType type);

/// The type with that .npy spelling, if there is one.
std::optional<DType> dtypeFromNpyName(std::string_view name);

} // namespace dlc
