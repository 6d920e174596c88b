#pragma once

#include "record/Trace.h"
#include "record/Variable.h"
#include "trace/Run.h"

#include <array>

namespace dlc::record {

/// A pending graph as a closed program: what it reads, its nodes in order, what it gives.
struct Extracted {
  std::vector<ValueRef> inputs;
  std::vector<std::shared_ptr<Variable>> variables;
  /// The new value of each variable, null where it is only read.
  std::vector<ValueRef> written;
  std::vector<Node *> nodes;
  /// Nodes that stand for C++ numbers, which the key leaves out.
  std::vector<Node *> numbers;
  std::vector<ValueRef> outputs;
  /// Everything but numbers and locations; equal keys are equal programs.
  std::vector<uint64_t> key;
  /// Mark of the nodes that are needed.
  uint64_t visit = 0;
};

/// What is needed for the outputs and for the new values of the dirty variables. `arguments` come first among the
/// inputs, used or not.
Extracted extract(Trace &trace, std::span<const ValueRef> arguments, std::vector<ValueRef> outputs);

/// The program; numbers[i] becomes an input after the others where asRuntime[i].
trace::Program toProgram(const Extracted &graph, const std::vector<bool> &asRuntime, const std::string &name);

/// A compiled program and which of its numbers are inputs.
struct Compiled {
  std::vector<double> numbers;
  std::vector<bool> asRuntime;
  std::shared_ptr<trace::Runnable> runnable;
};
/// From the cache, or compiled now. Other numbers than before compile once more, with those as run-time inputs.
const Compiled &compiledFor(const Extracted &graph, const std::string &name, const std::source_location &line);

/// Initial value in MLIR syntax.
std::string initText(const Variable &variable);

/// Pointers for `inputs`, then memory for the run-time numbers.
struct Bound {
  std::vector<DlcBuffer> arguments;
  std::vector<std::array<char, 8>> numbers;
};
void bindNumbers(const Extracted &graph, const Compiled &compiled, Bound &bound);
/// Writes the number as an element.
void storeNumber(double number, DType dtype, void *to);

} // namespace dlc::record
