#pragma once

#include "JitKernel.h"
#include "dlc/ir/Program.h"
#include "kernels/Kernels.h"
#include "targets/cpu/CpuKernelBuilder.h"

#include <cstring>
#include <random>
#include <vector>

using Bytes = std::vector<char>;

template <typename T>
Bytes bytesOf(const std::vector<T> &values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> valuesOf(const Bytes &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Reproducible values in (-1, 1).
template <typename T = float>
std::vector<T> randomValues(int64_t count, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::vector<T> values(count);
  for (T &value : values)
    value = T(double(generator()) / 2147483648.0 - 1.0);
  return values;
}

struct KernelRun {
  int64_t vectorBytes = 32;
  int64_t split = 0;   ///< run every phase in ranges of about this many iterations, last range first; 0: whole
  bool inLine = false; ///< emit all phases into one function
};

/// Every vector width, whole and split ranges, and one function for all phases: results must not differ in a bit.
inline const KernelRun everyRun[] = {{16, 1}, {32}, {32, 0, true}, {64}};

/// Emits the kernel of the one dl.group of a function's text, runs it on the inputs and returns the results' bytes.
/// The function's arguments must be the group's inputs in order. Reads and writes outside of operands are not caught
/// here, but each buffer is followed by a canary that must survive.
std::vector<Bytes> runGroup(const std::string &text, const std::vector<Bytes> &inputs, const KernelRun &how = {});
