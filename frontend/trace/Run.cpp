#include "trace/Run.h"

#include "dlc/codegen/Compiler.h"
#include "dlc/runtime/Session.h"
#include "trace/Build.h"
#include "trace/Context.h"

#include <atomic>

using namespace mlir;

namespace dlc::trace {

namespace {
std::atomic<int64_t> compiled{0};
Backend *chosen = nullptr;
} // namespace

int64_t compileCount() { return compiled; }
void setBackend(Backend *backend) { chosen = backend; }
Backend &backend() { return chosen ? *chosen : compilerBackend(); }

StatusOr<std::shared_ptr<Runnable>> compile(const Program &program, Session &session) {
  ++compiled;
  return backend().compile(program, session);
}

StatusOr<std::string> print(const Program &program) {
  std::lock_guard lock(context().lock);
  auto module = build({&program, 1});
  if (!module.ok())
    return module.status();
  std::string text;
  llvm::raw_string_ostream(text) << **module;
  return text;
}

} // namespace dlc::trace
