#include "rendezvous/KeyTable.h"

#include "base/FileError.h"

#include <charconv>

namespace dlc::runtime {

Status checkKey(std::string_view key) {
  if (!key.empty() && key.size() <= kLongestStoreKey)
    return {};
  return {StatusCode::LimitExceeded,
          "expects a key of 1 to " + std::to_string(kLongestStoreKey) + " bytes, got " + std::to_string(key.size())};
}

Status checkValue(std::string_view value) {
  if (value.size() <= kLongestStoreValue)
    return {};
  return {StatusCode::LimitExceeded, "expects a value of at most " + std::to_string(kLongestStoreValue) +
                                         " bytes, got " + std::to_string(value.size())};
}

StatusOr<int64_t> addToText(std::string_view text, int64_t delta) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size()))
    return Status(StatusCode::InvalidInput, "expects a number to add to, got " + quote(text));
  if (__builtin_add_overflow(number, delta, &number))
    return Status(StatusCode::InvalidInput, "the sum does not fit 64 bits");
  return number;
}

Status keyTimeout(std::string_view key) {
  return {StatusCode::LimitExceeded, "key " + quote(key) + " did not come within the limit"};
}

const std::string *KeyTable::find(std::string_view key) const {
  auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

Status KeyTable::set(std::string_view key, std::string_view value) {
  if (Status status = checkKey(key); !status.ok())
    return status;
  if (Status status = checkValue(value); !status.ok())
    return status;
  const std::string *old = find(key);
  size_t bytes = bytes_ - (old ? key.size() + old->size() : 0) + key.size() + value.size();
  if (bytes > kStoreCapacity)
    return {StatusCode::LimitExceeded,
            "the store is full: it holds at most " + std::to_string(kStoreCapacity) + " bytes"};
  values_.insert_or_assign(std::string(key), std::string(value));
  bytes_ = bytes;
  return {};
}

StatusOr<int64_t> KeyTable::add(std::string_view key, int64_t delta) {
  const std::string *old = find(key);
  StatusOr<int64_t> sum = addToText(old ? *old : "", delta);
  if (!sum.ok())
    return sum;
  if (Status status = set(key, std::to_string(*sum)); !status.ok())
    return status;
  return sum;
}

StatusOr<std::string> KeyTable::compareSet(std::string_view key, std::string_view expected, std::string_view desired) {
  const std::string *old = find(key);
  if ((old ? *old : "") != expected)
    return old ? *old : std::string();
  if (Status status = set(key, desired); !status.ok())
    return status;
  return std::string(desired);
}

} // namespace dlc::runtime
