#include "drivers/sim/Fiber.h"

#include <cstdint>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define DLC_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DLC_ASAN 1
#endif
#endif

#ifdef DLC_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace dlc {

namespace {

constexpr size_t kGuardBytes = 4096;
#ifdef DLC_ASAN
constexpr size_t kStackBytes = 256 << 10; // instrumented frames are larger
#else
constexpr size_t kStackBytes = 64 << 10;
#endif

#ifdef DLC_ASAN
void startSwitch(void **fakeStack, const void *stack, size_t bytes) {
  __sanitizer_start_switch_fiber(fakeStack, stack, bytes);
}
void finishSwitch(void *fakeStack, const void **stack, size_t *bytes) {
  __sanitizer_finish_switch_fiber(fakeStack, stack, bytes);
}
void unpoison(char *memory, size_t bytes) { __asan_unpoison_memory_region(memory, bytes); }
#else
void startSwitch(void **, const void *, size_t) {}
void finishSwitch(void *, const void **, size_t *) {}
void unpoison(char *, size_t) {}
#endif

// The fiber that a thread is entering: how its first function learns who it is.
thread_local Fiber *entering = nullptr;

} // namespace

#if defined(__x86_64__)
// Saves the registers that a call preserves, changes stacks, and restores them from the other stack.
extern "C" void dlcSwitchStack(void **save, void *load);
asm(R"(
.text
.globl dlcSwitchStack
.hidden dlcSwitchStack
.type dlcSwitchStack,@function
dlcSwitchStack:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size dlcSwitchStack, .-dlcSwitchStack
)");

static void switchContext(void *&from, void *&to) { dlcSwitchStack(&from, to); }

static void *freshContext(char *stack, void (*function)()) {
  void **top = reinterpret_cast<void **>(stack + kStackBytes);
  *--top = nullptr; // the function finds the stack as after a call: 8 bytes off a multiple of 16
  *--top = reinterpret_cast<void *>(function);
  for (int preserved = 0; preserved < 6; ++preserved)
    *--top = nullptr;
  return static_cast<void *>(top);
}
#else
static void switchContext(ucontext_t &from, ucontext_t &to) { swapcontext(&from, &to); }

static ucontext_t freshContext(char *stack, void (*function)()) {
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
  makecontext(&context, function, 0);
  return context;
}
#endif

std::unique_ptr<Fiber> Fiber::create(Body body, void *argument) {
  void *memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  if (mprotect(memory, kGuardBytes, PROT_NONE) != 0) {
    munmap(memory, kGuardBytes + kStackBytes);
    return nullptr;
  }
  return std::unique_ptr<Fiber>(new Fiber(static_cast<char *>(memory), body, argument));
}

Fiber::Fiber(char *memory, Body body, void *argument) : memory_(memory), body_(body), argument_(argument) { restart(); }

Fiber::~Fiber() {
  unpoison(memory_ + kGuardBytes, kStackBytes);
  munmap(memory_, kGuardBytes + kStackBytes);
}

void Fiber::restart() {
  unpoison(memory_ + kGuardBytes, kStackBytes);
  fakeStack_ = nullptr;
  context_ = freshContext(memory_ + kGuardBytes, start);
}

void Fiber::start() {
  Fiber *self = entering;
  finishSwitch(nullptr, &self->entererStack_, &self->entererBytes_);
  self->body_(self->argument_);
  __builtin_trap(); // the body never returns
}

void Fiber::enter() {
  entering = this;
  startSwitch(&entererFakeStack_, memory_ + kGuardBytes, kStackBytes);
  switchContext(entered_, context_);
  finishSwitch(entererFakeStack_, nullptr, nullptr);
}

void Fiber::switchBack(bool forever) {
  startSwitch(forever ? nullptr : &fakeStack_, entererStack_, entererBytes_);
  switchContext(context_, entered_);
  finishSwitch(fakeStack_, &entererStack_, &entererBytes_);
}

void Fiber::leave() { switchBack(false); }

void Fiber::abandon() {
  switchBack(true);
  __builtin_trap(); // nobody enters it before restart()
}

} // namespace dlc
