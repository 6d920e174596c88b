#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dlc {

/// Element type of a buffer; I1 is one byte in memory, 0 or 1.
enum class DType : uint8_t { F64, F32, I64, I32, I8, I1 };

/// Bytes of one element in memory.
int64_t byteSize(DType type);

/// MLIR's spelling: "f64", "f32", "i64", "i32", "i8", "i1".
std::string_view name(DType type);

/// The type with that MLIR spelling, if there is one.
std::optional<DType> dtypeFromName(std::string_view name);

/// The spelling in a safetensors header: "F64", "F32", "I64", "I32", "I8", "BOOL".
std::string_view safetensorsName(DType type);

/// The type with that safetensors spelling, if there is one.
std::optional<DType> dtypeFromSafetensorsName(std::string_view name);

/// The spelling in a .npy header, little-endian: "<f8", "<f4", "<i8", "<i4", "|i1", "|b1".
std::string_view npyName(DType type);

/// The type with that .npy spelling, if there is one.
std::optional<DType> dtypeFromNpyName(std::string_view name);

} // namespace dlc
