#include "dlc/runtime/DType.h"

#include <array>
#include <cstddef>

namespace dlc {
namespace {

struct TypeFacts {
  std::string_view name, safetensors, npy;
  int64_t bytes;
};

/// In the order of the enumerators.
constexpr std::array<TypeFacts, 8> typeFacts{{{"f64", "F64", "<f8", 8},
                                              {"f32", "F32", "<f4", 4},
                                              {"i64", "I64", "<i8", 8},
                                              {"i32", "I32", "<i4", 4},
                                              {"i8", "I8", "|i1", 1},
                                              {"i1", "BOOL", "|b1", 1},
                                              {"f16", "F16", "<f2", 2},
                                              {"bf16", "BF16", "", 2}}};

const TypeFacts &facts(DType type) { return typeFacts[static_cast<size_t>(type)]; }

std::optional<DType> find(std::string_view TypeFacts::*spelling, std::string_view name) {
  for (size_t i = 0; i < typeFacts.size(); ++i)
    if (!name.empty() && typeFacts[i].*spelling == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

} // namespace

int64_t byteSize(DType type) { return facts(type).bytes; }
std::string_view name(DType type) { return facts(type).name; }
std::string_view safetensorsName(DType type) { return facts(type).safetensors; }
std::string_view npyName(DType type) { return facts(type).npy; }
std::optional<DType> dtypeFromName(std::string_view name) { return find(&TypeFacts::name, name); }
std::optional<DType> dtypeFromSafetensorsName(std::string_view name) { return find(&TypeFacts::safetensors, name); }
std::optional<DType> dtypeFromNpyName(std::string_view name) { return find(&TypeFacts::npy, name); }

} // namespace dlc
