#pragma once

#include "dlc/runtime/Executable.h"
#include "dlc/runtime/Safetensors.h"

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc {

class Arena;
class WorkerTeam;

struct SessionOptions {
  int threads = 0;   ///< 0: DLC_THREADS, else one for each processor this process may use
  uint64_t seed = 0; ///< of initial values
};

/// State arenas and threads on the cpu, shared by the executables attached to it (train, eval, other shapes). Calls are
/// serialised; a Session may be used from any thread.
class Session {
public:
  static StatusOr<std::unique_ptr<Session>> create(const SessionOptions &options = {});
  ~Session();

  /// An executable bound to this session's memory.
  class Program {
  public:
    const Executable &executable() const { return *executable_; }
    /// Runs an entry in the calling thread. Pointers must be aligned to the element; sizes are checked against the
    /// manifest. Results are written to the caller's memory.
    Status call(size_t entry, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results);

  private:
    friend class Session;
    Program(Session &session, std::shared_ptr<const Executable> executable)
        : session(session), executable_(std::move(executable)) {}

    Session &session;
    std::shared_ptr<const Executable> executable_;
    std::vector<char *> arenas; ///< by index of the manifest
  };

  /// Makes sure an arena of that name and size exists, so that executables attached later can share it.
  Status reserve(const std::string &arena, int64_t bytes);

  /// Who gives variables their first values: the session, when an executable first names one, or the caller, who knows
  /// arenas only.
  enum class State { Start, Given };

  /// Binds the executable: creates arenas it is the first to need, starts variables it is the first to name. A variable
  /// known already must have the same type and place.
  StatusOr<std::shared_ptr<Program>> attach(const std::shared_ptr<const Executable> &executable,
                                            State state = State::Start);

  /// A variable's type and memory, valid as long as the session.
  struct Variable {
    TensorType type;
    std::string role;
    void *data = nullptr;
  };
  /// Null when no attached executable has it.
  const Variable *find(std::string_view name) const;
  const std::map<std::string, Variable, std::less<>> &variables() const { return variables_; }
  char *arena(std::string_view name) const;

  /// Writes all variables to a safetensors file, replacing it in one step.
  Status save(const std::string &path) const;
  /// Reads variables from a safetensors file. Everything is checked before anything changes; missing, unexpected and
  /// differing names are listed together. Not strict: only names in both are read.
  Status load(const std::string &path, bool strict = true);

  int threads() const;

private:
  Session();

  mutable std::mutex lock;
  std::unique_ptr<WorkerTeam> team;
  std::unique_ptr<DlcExecutor> executor;
  std::map<std::string, Arena, std::less<>> arenas;
  std::map<std::string, Variable, std::less<>> variables_;
  std::vector<std::weak_ptr<Program>> programs;
  uint64_t seed = 0;
  bool poisoned = false; ///< a call failed in the middle of its writes
};

} // namespace dlc
