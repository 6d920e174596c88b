#pragma once

#include "dlc/runtime/Manifest.h"
#include "dlc/runtime/TensorView.h"

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace dlc {

// Far above any machine, far below overflow when a few are added.
inline constexpr int64_t kMaxBytes = int64_t(1) << 46;

/// Reads one JSON object, remembering the first fault, so that callers read on without checking each field.
class ObjectReader {
public:
  /// `file` begins each message.
  ObjectReader(const nlohmann::json &value, std::string where, Status &fault, const char *file = "manifest")
      : value(value), where(std::move(where)), fault(fault), file_(file) {
    if (!value.is_object())
      fail("is not an object");
  }

  const char *file() const { return file_; }

  void fail(const std::string &what) {
    if (fault.ok())
      fault = Status(StatusCode::InvalidInput, std::string(file_) + ": " + where + " " + what);
  }

  std::string string(const char *key) {
    const nlohmann::json *field = find(key);
    if (!field || !field->is_string()) {
      fail(std::string("has no text '") + key + "'");
      return {};
    }
    return field->get<std::string>();
  }

  int64_t integer(const char *key, int64_t most = kMaxBytes) {
    const nlohmann::json *field = find(key);
    if (!field || !field->is_number_integer() || field->get<double>() < 0 || field->get<double>() > double(most)) {
      fail(std::string("has no integer '") + key + "' in [0, " + std::to_string(most) + "]");
      return 0;
    }
    return field->get<int64_t>();
  }

  bool boolean(const char *key) {
    const nlohmann::json *field = find(key);
    if (!field || !field->is_boolean()) {
      fail(std::string("has no truth value '") + key + "'");
      return false;
    }
    return field->get<bool>();
  }

  double number(const char *key) {
    const nlohmann::json *field = find(key);
    return field && field->is_number() ? field->get<double>() : 0;
  }

  const nlohmann::json &array(const char *key) {
    static const nlohmann::json empty = nlohmann::json::array();
    const nlohmann::json *field = find(key);
    if (!field || !field->is_array()) {
      fail(std::string("has no list '") + key + "'");
      return empty;
    }
    return *field;
  }

  const nlohmann::json &object(const char *key) {
    static const nlohmann::json empty = nlohmann::json::object();
    const nlohmann::json *field = find(key);
    if (!field || !field->is_object()) {
      fail(std::string("has no object '") + key + "'");
      return empty;
    }
    return *field;
  }

  std::vector<std::string> strings(const char *key) {
    std::vector<std::string> texts;
    for (const nlohmann::json &item : array(key)) {
      if (item.is_string())
        texts.push_back(item.get<std::string>());
      else
        fail(std::string("has a list '") + key + "' of something else than texts");
    }
    return texts;
  }

  /// Three integers, each in [1, most].
  std::array<int64_t, 3> extents(const char *key, const std::array<int64_t, 3> &most) {
    std::array<int64_t, 3> extents = {1, 1, 1};
    const nlohmann::json &list = array(key);
    if (list.size() != extents.size()) {
      fail(std::string("has no three extents '") + key + "'");
      return extents;
    }
    for (size_t i = 0; i < extents.size(); ++i) {
      if (list[i].is_number_integer() && list[i].get<double>() >= 1 && list[i].get<double>() <= double(most[i]))
        extents[i] = list[i].get<int64_t>();
      else
        fail(std::string("has an extent '") + key + "' outside [1, " + std::to_string(most[i]) + "]");
    }
    return extents;
  }

  bool has(const char *key) const { return find(key) != nullptr; }

  TensorType type() {
    TensorType type;
    std::string spelling = string("type");
    std::optional<DType> dtype = dtypeFromName(spelling);
    if (!dtype)
      fail("has an unknown element type '" + spelling + "'");
    type.dtype = dtype.value_or(DType::F32);
    for (const nlohmann::json &extent : array("shape")) {
      if (!extent.is_number_integer() || extent.get<double>() < 0 || extent.get<double>() > double(kMaxBytes)) {
        fail("has a shape with a bad extent");
        return {};
      }
      type.shape.push_back(extent.get<int64_t>());
    }
    std::optional<int64_t> bytes = denseByteSize(type.dtype, type.shape);
    if (!bytes || *bytes > kMaxBytes) {
      fail("has a shape of too many bytes");
      return {};
    }
    return type;
  }

private:
  const nlohmann::json *find(const char *key) const {
    if (!value.is_object())
      return nullptr;
    auto it = value.find(key);
    return it == value.end() ? nullptr : &*it;
  }

  const nlohmann::json &value;
  std::string where;
  Status &fault;
  const char *file_;
};

template <typename Read>
void forEach(ObjectReader &parent, const char *key, Status &fault, Read read) {
  size_t index = 0;
  for (const nlohmann::json &item : parent.array(key)) {
    ObjectReader reader(item, std::string(key) + "[" + std::to_string(index++) + "]", fault, parent.file());
    read(reader);
  }
}

} // namespace dlc
