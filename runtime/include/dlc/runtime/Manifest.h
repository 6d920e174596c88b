#pragma once

#include "dlc/runtime/DType.h"
#include "dlc/runtime/Fill.h"
#include "dlc/runtime/LibraryCall.h"
#include "dlc/runtime/Status.h"

#include <array>
#include <cstdint>
#include <optional>
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
/// optimizer_state, buffer, hyper, counter, coordinate (a member's index along an axis of the mesh), activation
/// (scratch, holds nothing between calls) and constant (read-only: the image's initial values from byte `initial` on).
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

/// The members a program is compiled for, along named axes, major to minor; none: one device.
struct MeshInfo {
  struct Axis {
    std::string name;
    int64_t size = 1;
    int64_t leaves = 0; ///< in which sums along the axis are taken, as a binary tree; 0: in any order
    friend bool operator==(const Axis &, const Axis &) = default;
  };
  std::vector<Axis> axes;

  /// Members in all; 1 without axes.
  int64_t size() const;
  /// Members along the axes named; an axis there is not counts as 1.
  int64_t size(const std::vector<std::string> &names) const;
  /// Whether sums along the axes named have one order for every number of members.
  bool isOrdered(const std::vector<std::string> &names) const;
  friend bool operator==(const MeshInfo &, const MeshInfo &) = default;
};

/// How a dimension is split: part i, along `axes` from major to minor, owns [borders[i], borders[i + 1]). Not split: no
/// axes.
struct DimSharding {
  std::vector<std::string> axes;
  std::vector<int64_t> borders;
  friend bool operator==(const DimSharding &, const DimSharding &) = default;
};

/// The whole of which a value is one member's part. The part is as large as the largest one; what lies beyond the
/// member's own rows is padding.
struct ShardingInfo {
  std::vector<int64_t> shape;
  std::vector<DimSharding> dims;
  friend bool operator==(const ShardingInfo &, const ShardingInfo &) = default;
};

/// An argument or a result of an entry; `type` is what one member holds, `sharding` is there where that is a part.
struct ValueInfo {
  std::string name;
  TensorType type;
  std::optional<ShardingInfo> sharding = std::nullopt;
};

/// One function of a program; `peak` is the planned memory of a call in bytes, state included.
struct EntryInfo {
  std::string name;
  std::vector<ValueInfo> arguments;
  std::vector<ValueInfo> results;
  int64_t peak = 0;
  int64_t launches = 0; ///< groups of kernels and copies in its text; 0 where there are no collectives
};

enum class CollectiveKind : uint8_t { AllReduce, AllGather, ReduceScatter, AllToAll };
enum class ReduceKind : uint8_t { Sum, Max, Min };

/// "all_reduce", as in the manifest.
std::string_view name(CollectiveKind kind);
/// Whether it puts values together, as a ReduceKind says.
constexpr bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::AllReduce || kind == CollectiveKind::ReduceScatter;
}
/// "sum".
std::string_view name(ReduceKind kind);

/// One collective of an entry, between the members that differ only along `axes`. All members have the same ones in the
/// same order on each channel.
struct CollectiveInfo {
  CollectiveKind kind = CollectiveKind::AllReduce;
  ReduceKind reduce = ReduceKind::Sum; ///< where reduces(kind)
  std::vector<std::string> axes;
  DType dtype = DType::F32;
  int64_t count = 0; ///< elements: all of an all_reduce, one member's part of the others
  int64_t channel = 0;
  std::vector<std::string> tensors; ///< what it carries, for messages
  int64_t site = 0;
  int64_t entry = 0;
  int64_t start = 0, wait = 0; ///< launches of the entry's text in front of its start and its wait
};

/// What all members must agree on before the first call: SHA-256 in hexadecimal, of the program before it was split up
/// and of the list of collectives.
struct Fingerprint {
  std::string program, sequence;
  friend bool operator==(const Fingerprint &, const Fingerprint &) = default;
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

/// One launch on a device with kernels of its own: of a function, or a library's; the manifest's site says where it
/// came from.
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
  std::optional<LibraryCall> call = std::nullopt; ///< instead of a function: no grid, block and shared
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
  MeshInfo mesh; ///< and with it:
  std::vector<CollectiveInfo> collectives;
  std::optional<Fingerprint> fingerprint = std::nullopt;

  /// Checks everything: sizes, ranges inside arenas, unique names. Unknown keys are ignored.
  static StatusOr<Manifest> parse(std::string_view json);
  std::string toJson() const;

  /// "model.cpp:12: dl.add"; empty for a site there is not.
  std::string place(uint64_t site) const;
};

} // namespace dlc
