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
  trace::MemoryLimits limits = {};
  trace::KernelMakers makers = {};
  /// Where it runs. Inputs live there or are numbers of the host.
  Place *place = nullptr;

  /// Whether the value is read as a variable of this program, not given as an input.
  bool readsAsVariable(const Value &value) const {
    return value.state == Value::State::Variable && value.variable->place == place;
  }
  uint32_t numberOf(const Value &value) const { return readsAsVariable(value) ? value.variable->number : value.number; }
};

/// What is needed at the place for the outputs and for the new values of its dirty variables. `arguments` come first
/// among the inputs, used or not.
Extracted extract(Trace &trace, std::span<const ValueRef> arguments, std::vector<ValueRef> outputs, Place &place);

/// The places of the outputs and of the dirty variables, the host last; the host alone where there are none.
std::vector<Place *> placesOf(const Trace &trace, std::span<const ValueRef> outputs);

/// The program; numbers[i] becomes an input after the others where asRuntime[i].
trace::Program toProgram(const Extracted &graph, const std::vector<bool> &asRuntime, const std::string &name);

/// A compiled program and which of its numbers are inputs.
struct Compiled {
  std::vector<double> numbers;
  std::vector<bool> asRuntime;
  std::shared_ptr<trace::Runnable> runnable;
};
/// Forgets programs of state that has moved or is gone; the memory of that state goes with them.
void forgetUnreachable();
/// From the cache, or compiled now. Other numbers than before compile once more, with those as run-time inputs.
std::shared_ptr<const Compiled> compiledFor(const Extracted &graph, const std::string &name,
                                            const std::source_location &line);

/// Initial value in MLIR syntax.
std::string initText(const Variable &variable);

/// Pointers for `inputs`, then memory for the run-time numbers.
struct Bound {
  std::vector<DlcBuffer> arguments;
  std::vector<std::array<char, 8>> numbers;
};
void bindNumbers(const Extracted &graph, const Compiled &compiled, Bound &bound);
/// Which of the arguments a program elsewhere than on the host gets from the host; empty for the host's own.
std::vector<size_t> hostArguments(const Extracted &graph, size_t arguments);
/// Writes the number as an element.
void storeNumber(double number, DType dtype, void *to);

} // namespace dlc::record
