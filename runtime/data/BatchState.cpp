#include "dlc/runtime/Data.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

using nlohmann::json;

namespace dlc {
namespace {

// Odd, with as many ones as zeros in no pattern: the golden ratio.
constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kFactor;
  return hash ^ hash >> 29U;
}

} // namespace

uint64_t fingerprintOf(std::span<const TensorView> arrays) {
  uint64_t hash = mix(1, arrays.size());
  for (const TensorView &array : arrays) {
    hash = mix(hash, static_cast<uint64_t>(array.dtype));
    hash = mix(hash, array.shape.size());
    for (int64_t extent : array.shape)
      hash = mix(hash, static_cast<uint64_t>(extent));
    auto size = static_cast<size_t>(denseByteSize(array.dtype, array.shape).value_or(0));
    const auto *bytes = static_cast<const char *>(array.data);
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, bytes + i, std::min(sizeof word, size - i));
      hash = mix(hash, word);
    }
  }
  return hash == 0 ? 1 : hash;
}

std::string BatchState::toJson() const {
  return json({{"seed", seed}, {"epoch", epoch}, {"consumed", consumed}, {"size", size}, {"fingerprint", fingerprint}})
      .dump();
}

StatusOr<BatchState> BatchState::parse(std::string_view text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  auto bad = [](const std::string &what) { return Status(StatusCode::InvalidInput, "loader state: " + what); };
  if (!value.is_object())
    return bad("expected a JSON object");
  BatchState state;
  auto read = [&](const char *key, auto &to) {
    auto found = value.find(key);
    using Number = std::remove_reference_t<decltype(to)>;
    bool good = found != value.end() && found->is_number_unsigned() && std::in_range<Number>(found->get<uint64_t>());
    if (good)
      to = static_cast<Number>(found->get<uint64_t>());
    return good;
  };
  if (!read("seed", state.seed) || !read("epoch", state.epoch) || !read("consumed", state.consumed) ||
      !read("size", state.size) || !read("fingerprint", state.fingerprint))
    return bad("expected whole numbers >= 0 as seed, epoch, consumed, size and fingerprint");
  return state;
}

} // namespace dlc
