#pragma once

#include <cstddef>
#include <memory>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace dlc {

/// A function running on a stack of its own, until it switches back to the thread that entered it. Entered by one
/// thread at a time, and always by the same one between two ends of `body`.
class Fiber {
public:
  using Body = void (*)(void *argument);

  /// A fiber whose first enter() calls `body(argument)`, which must never return; null when there is no memory.
  static std::unique_ptr<Fiber> create(Body body, void *argument);
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Runs the fiber until it leaves.
  void enter();
  /// On the fiber: goes back to where it was entered; returns when it is entered again.
  void leave();
  /// On the fiber: goes back for good. Whatever lives on its stack is dropped, no destructor runs.
  [[noreturn]] void abandon();
  /// Makes the next enter() start from the beginning of `body`.
  void restart();

private:
#if defined(__x86_64__)
  using Context = void *; // the stack pointer; registers lie on the stack
#else
  using Context = ucontext_t;
#endif

  Fiber(char *memory, Body body, void *argument);
  static void start();
  void switchBack(bool forever);

  char *memory_; // a guard page, then the stack
  Body body_;
  void *argument_;
  Context context_{}, entered_{};
  // What AddressSanitizer is told at switches.
  void *fakeStack_ = nullptr, *entererFakeStack_ = nullptr;
  const void *entererStack_ = nullptr;
  size_t entererBytes_ = 0;
};

} // namespace dlc
