#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace dlc::gpucheck {

using Json = nlohmann::ordered_json;

/// One thing that a part found.
struct Row {
  std::string name;
  bool ok = true;
  std::string message = {};     ///< why not, or what else there is to say
  Json values = Json::object(); ///< numbers and texts
  Json choice = nullptr;        ///< of a kernel that can be made in two ways: see Choices.h
};

// What a part tells its parent: a line of JSON each, on standard output, so that nothing is lost when it ends early.

/// The part's item number `index` begins; it is to blame when the process ends or falls silent.
void begin(size_t index, const std::string &name);
void report(const Row &row);
/// There is no device; nothing else is worth trying.
void reportNone(const std::string &why);

} // namespace dlc::gpucheck
