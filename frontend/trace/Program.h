#pragma once

#include "trace/Layout.h"

#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace dlc::runtime {
class Job;
}

namespace dlc::trace {

/// Where a module's operator() was called; a chain outwards. Interned.
struct Scope {
  std::source_location where;
  const Scope *outer;
};

/// Line of a node and the calls around it.
struct Site {
  std::source_location line;
  const Scope *scope = nullptr;
};

struct Region;
/// Interned, so equal regions are one pointer.
using RegionRef = const Region *;

/// One operation of a program. Values are numbered: inputs, then reads of variables, then results in order.
struct ProgramStep {
  OpRef op;
  AttributesRef attributes;
  std::vector<uint32_t> operands;
  std::vector<TypeRef> results;
  Site site;
  std::vector<RegionRef> regions = {};
};

/// What an operation with regions does: values are numbered inputs first, then results in order.
struct Region {
  std::vector<TypeRef> inputs;
  std::vector<ProgramStep> steps;
  std::vector<uint32_t> outputs;
};
/// Lines in the text count for nothing: those of the first stay.
RegionRef internRegion(Region region);

/// A variable that the program reads or writes.
struct VariableUse {
  std::string name;
  TypeRef type;
  std::string role;
  /// Initial value in MLIR syntax.
  std::string init;
  /// Place in the front end's state arenas.
  std::string arena;
  int64_t offset = 0;
  /// Value to write at the end, if written.
  std::optional<uint32_t> written;
};

/// Bytes a program may need; 0: any.
struct MemoryLimits {
  int64_t all = 0;        ///< at its peak
  int64_t activation = 0; ///< of intermediate values
};

/// Who makes the kernels of matrix products and of convolutions on a GPU, as CompileOptions says; "": DLC_MATMUL and
/// DLC_CONV, else auto.
struct KernelMakers {
  std::string matMul, conv;
  friend bool operator==(const KernelMakers &, const KernelMakers &) = default;
};

/// One entry, ready to be built as MLIR.
struct Program {
  std::string name;
  std::vector<TypeRef> inputs;
  /// How each input lies on the members of the job; empty: the program knows of no others.
  std::vector<LayoutRef> layouts;
  /// The dtype of 16 bits that holds the values of each f32 input; empty: none does.
  std::vector<std::optional<DType>> exact;
  /// Of the job, where layouts are given.
  Members members = {};
  /// Set where this process has several members: each of them runs the program.
  runtime::Job *job = nullptr;
  std::vector<std::string> inputNames;
  std::vector<VariableUse> variables;
  std::vector<ProgramStep> steps;
  std::vector<uint32_t> outputs;
  std::vector<std::string> outputNames;
  MemoryLimits limits = {};
  KernelMakers makers = {};
};

} // namespace dlc::trace
