#pragma once

#include "dlc/runtime/Device.h"
#include "dlc/runtime/Executable.h"
#include "dlc/runtime/Safetensors.h"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc {

class Replay;
class WorkerTeam;

namespace runtime {
class Collectives;
class Job;
class StreamWatch;
class Uploads;
} // namespace runtime

struct SessionOptions {
  int threads = 0;   ///< of the cpu; 0: DLC_THREADS, else one for each processor this process may use
  uint64_t seed = 0; ///< of initial values
  DeviceId device = {};
  runtime::Job *job = nullptr; ///< where this is the state of a member: it runs programs with a mesh
  int member = 0;              ///< which one of this process's
};

/// State arenas on one device and what runs there, shared by the executables attached to it (train, eval, other
/// shapes). Calls are serialised; a Session may be used from any thread.
class Session {
public:
  static StatusOr<std::unique_ptr<Session>> create(const SessionOptions &options = {});
  ~Session();

  runtime::Device &device() const { return device_; }
  /// Where calls put their work; other work given to it is ordered with them.
  runtime::Stream &stream() const { return *stream_; }

  /// An executable bound to this session's memory.
  class Program {
  public:
    ~Program();
    const Executable &executable() const { return *executable_; }
    /// Runs an entry on host memory, aligned to the element, and waits for it; sizes are checked against the manifest.
    /// Results are written to the caller's memory.
    Status call(size_t entry, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results);
    /// Runs an entry on memory of the session's device. Returns once its work is in the session's stream; on the cpu
    /// this is `call`.
    Status callOnDevice(size_t entry, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results);

    /// Whether sizes are what the manifest says; a call refuses others.
    Status check(size_t entry, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) const;

  private:
    friend class Session;
    Program(Session &session, std::shared_ptr<const Executable> executable);
    /// These under the session's lock.
    Status run(size_t entry, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results);
    Status ready(const std::string &entry);
    Status replay(size_t entry, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results);
    Status enter(size_t entry, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results);
    Status outcome(size_t entry, int32_t code);
    Status tellOthers(Status failure);
    Status discardScratch();
    Status runStaged(size_t entry, std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results);

    Session &session;
    std::shared_ptr<const Executable> executable_;
    std::unique_ptr<runtime::Kernels> kernels;
    std::unique_ptr<Replay> graphs;                    ///< of those
    std::unique_ptr<runtime::Collectives> collectives; ///< of a program with a mesh
    std::vector<char *> arenas;                        ///< by index of the manifest
    std::vector<runtime::Arena> owned;                 ///< constants, where the device cannot read the image's
    runtime::Arena staging; ///< device memory for `call`'s arguments and results, as large as any entry needed
  };

  /// Makes sure an arena of that name and size exists, so that executables attached later can share it.
  Status reserve(const std::string &arena, int64_t bytes);

  /// Gives an arena's memory back, after the calls so far. No program that was bound to it may be called again.
  void release(std::string_view arena);

  /// Who gives variables their first values: the session, when an executable first names one, or the caller, who knows
  /// arenas only.
  enum class State { Start, Given };

  /// Binds the executable: creates arenas it is the first to need, starts variables it is the first to name. A variable
  /// known already must have the same type and place. Refused when it was not compiled for the device, or for another
  /// number of members than the job has. A program with a mesh is attached on all members at once: they compare the
  /// programs and make communicators, and start variables with member 0's values where they differ.
  StatusOr<std::shared_ptr<Program>> attach(const std::shared_ptr<const Executable> &executable,
                                            State state = State::Start);

  /// A variable's type and device memory, valid as long as the session.
  struct Variable {
    TensorType type;
    std::string role;
    void *data = nullptr;
  };
  /// Null when no attached executable has it.
  const Variable *find(std::string_view name) const;
  const std::map<std::string, Variable, std::less<>> &variables() const { return variables_; }
  /// Device memory; null for an arena there is not.
  char *arena(std::string_view name) const;

  /// Copies a variable, after the calls so far, to or from host memory of its size.
  Status read(std::string_view name, std::span<std::byte> to) const;
  Status write(std::string_view name, std::span<const std::byte> from);
  /// Copies to any memory of the device after the calls so far, for those from now on, and waits for none of them.
  Status upload(void *to, const void *from, int64_t bytes) const;
  /// Copies to the host after the calls so far, and waits.
  Status download(void *to, const void *from, int64_t bytes) const;

  /// Copies from another session's device after the calls of both so far, for those from now on.
  Status copyFrom(const Session &there, void *to, const void *from, int64_t bytes) const;

  /// Waits for the calls so far.
  Status synchronize() const;

  /// Writes all variables to a safetensors file, replacing it in one step.
  Status save(const std::string &path) const;
  /// Reads variables from a safetensors file. Everything is checked before anything changes; missing, unexpected and
  /// differing names are listed together. Not strict: only names in both are read.
  Status load(const std::string &path, bool strict = true);

  int threads() const;

private:
  friend class runtime::Job;
  explicit Session(runtime::Device &device);

  StatusOr<std::shared_ptr<Program>> prepare(const std::shared_ptr<const Executable> &executable, State state,
                                             std::vector<std::string> &started);
  Status bind(Program &program, State state, std::vector<std::string> &started, std::vector<std::string> &taken);

  /// `taken`: the arenas that the program is the first to need.
  Status bindArenas(Program &program, std::vector<std::string> &taken);
  StatusOr<char *> bindArena(Program &program, const ArenaInfo &info);
  StatusOr<char *> bindConstants(Program &program, const ArenaInfo &info);
  /// Under the lock.
  Status startVariable(const Program &program, const VariableInfo &info);
  Status startVariables(const Program &program, std::vector<std::string> &started);
  Status setCoordinates(const Program &program);
  Status checkMesh(const Manifest &manifest) const;
  Status meetMembers(Program &program, const std::vector<std::string> &started);
  Status joinMembers(Program &program, const std::vector<std::string> &started);
  Status grow(const ArenaInfo &info);

  mutable std::mutex lock;
  runtime::Device &device_;
  std::unique_ptr<WorkerTeam> team; ///< on the cpu
  std::unique_ptr<DlcExecutor> executor;
  std::map<std::string, runtime::Arena, std::less<>> arenas;
  std::unique_ptr<runtime::Stream> stream_;
  std::shared_ptr<runtime::StreamWatch> watch; ///< of that, where collectives stay on the device
  std::unique_ptr<runtime::Uploads> uploads;   ///< under the lock
  std::map<std::string, Variable, std::less<>> variables_;
  std::vector<std::weak_ptr<Program>> programs;
  runtime::Job *job = nullptr;
  int member = 0; ///< of this process
  uint64_t seed = 0;
  bool poisoned = false; ///< a call failed in the middle of its writes
};

} // namespace dlc
