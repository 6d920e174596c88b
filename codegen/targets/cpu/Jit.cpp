#include "targets/cpu/Jit.h"

#include "targets/cpu/Object.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/MemoryMapper.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace dlc;
using namespace dlc::codegen;

static Status internal(llvm::Error error) {
  return Status(StatusCode::Internal, "loading compiled code: " + toString(std::move(error)));
}

// The linking layer alone: LLJIT would add a compiler, its target machine and platform symbols.
struct JitCode::Session {
  explicit Session(std::unique_ptr<llvm::orc::ExecutorProcessControl> control)
      : execution(std::move(control)), linker(execution), image(execution.createBareJITDylib("image")) {}
  ~Session() { llvm::consumeError(execution.endSession()); }

  llvm::orc::ExecutionSession execution;
  llvm::orc::ObjectLinkingLayer linker;
  llvm::orc::JITDylib &image;
};

JitCode::JitCode(std::unique_ptr<Session> session) : session_(std::move(session)) {}
JitCode::JitCode(JitCode &&) noexcept = default;
JitCode &JitCode::operator=(JitCode &&) noexcept = default;
JitCode::~JitCode() = default;

/// Room for all objects of a program in one piece: they refer to each other over at most 2 GiB, and the process may
/// have large mappings (a GPU's driver) between two pieces. Only what is used takes memory.
static llvm::Expected<std::unique_ptr<llvm::jitlink::JITLinkMemoryManager>>
roomFor(llvm::ArrayRef<std::string> objects) {
  constexpr size_t kLeast = 64 << 20, kTimes = 4;
  size_t bytes = 0;
  for (const std::string &object : objects)
    bytes += object.size();
  using Manager = llvm::orc::MapperJITLinkMemoryManager;
  return Manager::CreateWithMapper<llvm::orc::InProcessMemoryMapper>(std::max(kLeast, kTimes * bytes));
}

StatusOr<JitCode> JitCode::load(llvm::ArrayRef<std::string> objects) {
  if (Status status = checkSelfContained(objects); !status.ok())
    return status; // linking happens at the first lookup, which would name the symbol less plainly
  auto room = roomFor(objects);
  if (!room)
    return internal(room.takeError());
  auto control = llvm::orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>(), std::move(*room));
  if (!control)
    return internal(control.takeError());
  auto session = std::make_unique<Session>(std::move(*control));
  session->execution.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
  for (const std::string &bytes : objects)
    if (llvm::Error error = session->linker.add(session->image, llvm::MemoryBuffer::getMemBufferCopy(bytes, "object")))
      return internal(std::move(error));
  return JitCode(std::move(session));
}

StatusOr<void *> JitCode::lookup(llvm::StringRef symbol) const {
  auto found = session_->execution.lookup(
      llvm::orc::makeJITDylibSearchOrder(&session_->image, llvm::orc::JITDylibLookupFlags::MatchAllSymbols),
      session_->execution.intern(symbol));
  if (!found)
    return internal(found.takeError());
  return found->getAddress().toPtr<void *>();
}
