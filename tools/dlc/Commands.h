#pragma once

#include "dlc/codegen/Compiler.h"
#include "dlc/runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::tool {

/// Exit codes of every dlc command.
enum ExitCode { kDone = 0, kBadInput = 1, kUsage = 2, kLimit = 3, kPeerFailed = 4, kInternal = 70 };

struct CompileArguments {
  std::string module;
  std::string output;
  std::string emit = "so"; ///< one of emitStages()
  std::string mesh;        ///< "data=4,model=2", or empty
  std::string invariant;   ///< "data:8", or empty
  double bucketMegabytes = 0;
  codegen::CompileOptions options;
};

struct RunArguments {
  std::string artifact;
  std::string entry;                 ///< may be empty when there is only one
  std::vector<std::string> inputs;   ///< "file.npy" by position or "name=file.npy"
  std::vector<std::string> outputs;  ///< likewise
  std::vector<std::string> settings; ///< "opt.lr=0.01", or the last part of the name
  std::string state, saveState;
  int64_t steps = 1;
  int threads = 0;
  uint64_t seed = 0;
  std::string device = "cpu";
  std::string devices; ///< "cpu:4": members of this process; empty: DLC_DEVICES, else `device`
  bool simCheck = false;
  std::string simOrder; ///< empty: the driver's own
  std::string profile;  ///< trace to write; empty: none
};

struct InspectArguments {
  std::string artifact;
  bool json = false;
};

struct ExplainArguments {
  std::string module;
  std::string entry; ///< may be empty when only one has casts
  bool casts = false;
  bool observe = false;            ///< run it and show what range the values have
  std::vector<std::string> inputs; ///< as in RunArguments
  int64_t steps = 1;
  uint64_t seed = 0;
  codegen::CompileOptions options;
};

struct DevicesArguments {
  bool watch = false;
  double interval = 1; ///< seconds between samples
  int64_t count = 0;   ///< samples; 0: until Ctrl-C
};

/// What --emit takes.
std::vector<std::string> emitStages();

/// Each prints to standard output and returns what went wrong.
Status compile(const CompileArguments &arguments);
Status run(const RunArguments &arguments);
Status inspect(const InspectArguments &arguments);
Status devices();
Status watchDevices(const DevicesArguments &arguments);
Status explain(const ExplainArguments &arguments);

/// The text of a module's file.
StatusOr<std::string> readText(const std::string &path);

} // namespace dlc::tool
