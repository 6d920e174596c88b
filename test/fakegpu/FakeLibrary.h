#pragma once

#include "FakeDriver.h"

#include "dlc/runtime/DType.h"

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace dlc::fakegpu {

/// The handles or descriptors of one kind that a library has given out and not got back.
template <typename T>
class Alive {
public:
  T *add(std::unique_ptr<T> made) {
    std::lock_guard guard(lock);
    T *handle = made.get();
    all.emplace(handle, std::move(made));
    return handle;
  }
  bool remove(const T *handle) {
    std::lock_guard guard(lock);
    return all.erase(handle) != 0;
  }
  bool has(const T *handle) const {
    std::lock_guard guard(lock);
    return all.contains(handle);
  }
  size_t count() const {
    std::lock_guard guard(lock);
    return all.size();
  }

private:
  mutable std::mutex lock;
  std::map<const T *, std::unique_ptr<T>> all;
};

/// A range of device memory that work of a library reads or writes.
struct DeviceRange {
  const void *address = nullptr;
  int64_t bytes = 0;

  bool overlaps(const DeviceRange &other) const;
};

/// The host's addresses of ranges when their work runs; empty: one is not memory of the device, or one that is written
/// (of the last `written` ones) overlaps another.
std::vector<char *> translate(CUctx_st &context, std::span<const DeviceRange> ranges, size_t written);

/// One element: f32, f16 or bf16. Written values are rounded once.
double readElement(const char *base, int64_t index, DType type);
void writeElement(char *base, int64_t index, DType type, double value);

/// What a tensor core of TF32 sees of an f32.
double asTf32(double value);

} // namespace dlc::fakegpu

/// First line of an entry point of a library: DLCFAKE_FAIL=<entry point>:<k>[:<result>] makes call k fail, by default
/// with `otherwise`.
#define DLC_FAKE_LIBRARY(name, otherwise)                                                                              \
  if (int refused = FakeDriver::get().failing(#name, otherwise))                                                       \
    return refused;
