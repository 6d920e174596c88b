#include "rendezvous/Variables.h"

#include "base/FileError.h"

#include <charconv>

namespace dlc::runtime {

std::string Variables::text(std::string_view name) const {
  auto found = environment_.find(name);
  return found == environment_.end() ? std::string() : found->second;
}

std::optional<int64_t> Variables::number(std::string_view name, int64_t low, int64_t high) {
  std::string value = text(name);
  if (value.empty())
    return {};
  int64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < low || number > high) {
    fail(std::string(name) + " expects a number from " + std::to_string(low) + " to " + std::to_string(high) +
         ", got " + quote(value));
    return low;
  }
  return number;
}

int64_t Variables::need(std::string_view name, int64_t low, int64_t high) {
  std::optional<int64_t> value = number(name, low, high);
  if (!value)
    miss(name);
  return value.value_or(low);
}

std::string Variables::need(std::string_view name) {
  if (!has(name))
    miss(name);
  return text(name);
}

void Variables::fail(std::string message) {
  if (problem_.ok())
    problem_ = Status(StatusCode::InvalidInput, std::move(message));
}

} // namespace dlc::runtime
