#pragma once

#include "dlc/runtime/Abi.h"
#include "dlc/runtime/Manifest.h"
#include "dlc/runtime/Status.h"

#include <span>
#include <string>
#include <vector>

namespace dlc::tool {

/// A dense tensor in aligned memory, zero at first.
struct Value {
  TensorType type;
  std::vector<double> memory; // double for alignment

  explicit Value(const TensorType &type) : type(type), memory(size_t(type.bytes() / 8 + 1)) {}
  DlcBuffer buffer() { return {memory.data(), type.bytes()}; }
};

/// Files by position or name, one slot for each declared value.
StatusOr<std::vector<std::string>> placeFiles(const std::vector<std::string> &given,
                                              const std::vector<ValueInfo> &declared, const char *what);

/// Refused if a file is named twice.
Status checkDistinct(const std::vector<std::string> &files);

/// Reads the whole tensor for an argument, of all members together.
StatusOr<Value> readInput(const std::string &file, const ValueInfo &declared);

/// Writes whole results to the files given for them, or to standard output.
Status writeResults(const std::vector<ValueInfo> &results, std::span<Value> values,
                    const std::vector<std::string> &outputs);

} // namespace dlc::tool
