#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace dlc::record {

/// Base of what is counted by Ref.
struct Counted {
  std::atomic<uint32_t> count{0};
};

/// Counted pointer to a T that derives from Counted; `destroy(T *)` is found by the argument.
template <typename T>
class Ref {
public:
  Ref() = default;
  Ref(T *object) : object(object) { retain(object); }
  Ref(const Ref &other) : Ref(other.object) {}
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  ~Ref() { release(object); }
  Ref &operator=(Ref other) noexcept {
    std::swap(object, other.object);
    return *this;
  }

  T *get() const { return object; }
  T *operator->() const { return object; }
  T &operator*() const { return *object; }
  explicit operator bool() const { return object != nullptr; }
  bool operator==(const Ref &) const = default;
  /// Gives the count away.
  T *leak() { return std::exchange(object, nullptr); }

  static void retain(T *object) {
    if (object)
      object->count.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(T *object) {
    if (object && object->count.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy(object);
  }

private:
  T *object = nullptr;
};

} // namespace dlc::record
