#pragma once

#include "dlc/frontend/Data.h"
#include "dlc/frontend/Module.h"

#include <concepts>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace dlc {

/// Writes the tensors to a safetensors file, replacing it in one step.
void save(const StateDict &state, const std::string &path, Where where = Where::current());

/// Reads a safetensors file; every number in it is checked before use.
StateDict load(const std::string &path, Where where = Where::current());

/// What a checkpoint saves and resumes: a module, an optimizer, anything else whose `state_dict()` names tensors, a
/// StateDict, or a DataLoader.
class Stateful {
public:
  template <typename T>
    requires requires(const T &object) {
      { object.state_dict() } -> std::same_as<StateDict>;
    }
  Stateful(const T &object) : tensors(object.state_dict()) {} // NOLINT(google-explicit-constructor): listed as they are
  Stateful(StateDict state) : tensors(std::move(state)) {}    // NOLINT(google-explicit-constructor)
  Stateful(const DataLoader &loader) : loader(loader) {}      // NOLINT(google-explicit-constructor)

  StateDict tensors;
  std::optional<DataLoader> loader;
};

struct CheckpointOptions {
  /// How many checkpoints stay in the directory, the newest; 0: all.
  int keep = 0;
  /// Copy the state and go on; a thread writes. An error comes with the next checkpoint, with wait_for_checkpoints(),
  /// or at the end of the program on standard error.
  bool background = false;
  /// The program's own JSON texts by name, such as {"best", "0.97"}; rank 0's are kept.
  std::map<std::string, std::string> notes = {};
};

/// Writes the checkpoint of a step, `directory/step-…`, and of random numbers: all ranks of the job together. A death
/// at any time leaves the checkpoints before.
void save_checkpoint(const std::string &directory, int64_t step, std::initializer_list<Stateful> state,
                     CheckpointOptions options = {}, Where where = Where::current());

/// Returns when no checkpoint is being written.
void wait_for_checkpoints(Where where = Where::current());

/// Where resume() went on from.
struct Resumed {
  bool found = false;
  int64_t step = 0; ///< of the checkpoint; 0 without one
  std::map<std::string, std::string> notes;
};

/// Reads the newest complete checkpoint, on any number of ranks; without one nothing changes. All faults are listed
/// together, and all ranks agree before anything is written. Names are as in load_state_dict.
Resumed resume(const std::string &directory, std::initializer_list<Stateful> state, LoadOptions options = {},
               Where where = Where::current());

} // namespace dlc
