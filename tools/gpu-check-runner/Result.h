#pragma once

#include "PartProcess.h"
#include "Parts.h"

#include <string>

namespace dlc::gpucheck {

/// What was found so far: a table on the terminal as it comes, and one JSON file written anew after each part.
class Result {
public:
  /// An empty path: gpu-check-<device>.json in this folder.
  Result(std::string path, const Json &plan);

  void beginPart(const Part &part);
  void progress(const std::string &item);
  void add(const Json &row);
  /// How the part ended; an empty message: well. Writes the file.
  void endPart(const std::string &state, const std::string &message);

  /// Prints what the last part means for codegen/library/Choices.inc, and keeps it.
  void addChoices();

  /// Of a row of the parts so far; null: there is none.
  const Json *find(const std::string &part, const std::string &row) const;

  /// Prints the summary; whether all that ran is right.
  bool finish();

private:
  void write();

  std::string path;
  Json document;
  double partBegan = 0;
  bool terminal;
};

} // namespace dlc::gpucheck
