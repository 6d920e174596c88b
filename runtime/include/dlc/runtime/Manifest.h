#pragma once

#include "dlc/runtime/DType.h"
#include "dlc/runtime/Fill.h"
#include "dlc/runtime/Status.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlc {

/// Element type and static shape of a dense row-major tensor.
struct TensorType {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;

  int64_t elements() const;
  int64_t bytes() const { return elements() * byteSize(dtype); }
  /// "f32[2, 3]".
  std::string str() const;
  friend bool operator==(const TensorType &, const TensorType &) = default;
};

/// A block of memory the program addresses by base and constant offsets. `klass` is one of parameter, gradient,
/// optimizer_state, buffer, hyper, counter, activation (scratch, holds nothing between calls) and constant (read-only:
/// the image's initial values from byte `initial` on).
struct ArenaInfo {
  std::string name;
  std::string klass;
  int64_t bytes = 0;
  int64_t initial = 0;
};

/// State that lives across calls; `arena` is an index into the manifest's arenas, `offset` is in bytes. An initial
/// value of kind Data has in `init.offset` the byte offset into the image's initial values.
struct VariableInfo {
  std::string name;
  TensorType type;
  std::string role;
  int64_t arena = 0;
  int64_t offset = 0;
  InitialValue init;
};

/// An argument or a result of an entry.
struct ValueInfo {
  std::string name;
  TensorType type;
};

/// One function of a program; `peak` is the planned memory of a call in bytes, state included.
struct EntryInfo {
  std::string name;
  std::vector<ValueInfo> arguments;
  std::vector<ValueInfo> results;
  int64_t peak = 0;
};

/// Where an operation came from, for messages.
struct SiteInfo {
  std::string op;
  std::string file;
  int64_t line = 0;
  int64_t column = 0;
};

/// What a kernel does with the memory of an operand.
enum class Access : uint8_t { Read, Write, ReadWrite, Workspace };

/// One launch on a device with kernels of its own; the manifest's site says where it came from.
struct KernelInfo {
  struct Operand {
    int64_t bytes = 0;
    Access access = Access::Read;
  };
  std::string name;
  std::array<int64_t, 3> grid = {1, 1, 1};  ///< blocks, by x, y, z
  std::array<int64_t, 3> block = {1, 1, 1}; ///< threads of each
  int64_t shared = 0;                       ///< bytes of shared memory of a block
  std::vector<Operand> operands;
  int64_t site = 0;
};

/// Bytes of one class of memory, for reports.
struct MemoryClass {
  std::string name;
  int64_t bytes = 0;
};

/// What a compiled module says of itself. Written by the compiler, read as hostile input.
struct Manifest {
  std::string compiler;                       ///< "dlc 0.1.0"
  std::string cpu;                            ///< instruction set the code needs, a name LLVM knows
  std::vector<std::string> targets = {"cpu"}; ///< what it was compiled for: "cpu", "sim", "sm_90"
  bool simCheck = false;                      ///< kernels for sim ask the device before each access
  std::vector<ArenaInfo> arenas;
  std::vector<VariableInfo> variables;
  std::vector<EntryInfo> entries;
  std::vector<KernelInfo> kernels; ///< of devices other than the cpu
  std::vector<SiteInfo> sites;
  std::vector<MemoryClass> memory;

  /// Checks everything: sizes, ranges inside arenas, unique names. Unknown keys are ignored.
  static StatusOr<Manifest> parse(std::string_view json);
  std::string toJson() const;

  /// "model.cpp:12: dl.add"; empty for a site there is not.
  std::string place(uint64_t site) const;
};

} // namespace dlc
