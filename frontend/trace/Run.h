#pragma once

#include "dlc/runtime/Abi.h"
#include "dlc/runtime/Status.h"
#include "trace/Program.h"

namespace dlc {
class Session;
struct Manifest;
} // namespace dlc

namespace dlc::trace {

/// A compiled program bound to its state arenas.
class Runnable {
public:
  virtual ~Runnable() = default;
  /// Arguments and results by position, each of the exact size, in memory of the session's device. Elsewhere than on
  /// the cpu the results are there for all work given to the session from then on. One thread at a time.
  virtual Status run(std::span<const DlcBuffer> arguments, std::span<DlcBuffer> results) = 0;
  /// How each result lies on the members of the job; empty: each member has all of it.
  virtual std::span<const LayoutRef> resultLayouts() const { return {}; }
  /// What the compiler says of it; null: no compiler made it.
  virtual const Manifest *manifest() const { return nullptr; }
  /// The dtype of 16 bits that holds the values of each f32 result; empty: none does.
  std::vector<std::optional<DType>> exactResults;
};

/// What executes programs: the compiler, or in tests the reference evaluator.
class Backend {
public:
  virtual ~Backend() = default;
  /// For the session's device.
  virtual StatusOr<std::shared_ptr<Runnable>> compile(const Program &program, Session &session) = 0;
};

/// MLIR, native code, the session.
Backend &compilerBackend();
/// The backend in use: the compiler unless a test has set another one.
Backend &backend();
void setBackend(Backend *backend);
/// Programs handed to the backend so far.
int64_t compileCount();
StatusOr<std::shared_ptr<Runnable>> compile(const Program &program, Session &session);

/// One artifact with several entries that share variables.
Status writeArtifact(std::span<const Program> entries, const std::vector<std::string> &targets,
                     const std::string &path);

/// The program as dl MLIR text.
StatusOr<std::string> print(const Program &program);

} // namespace dlc::trace
