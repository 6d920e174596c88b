#pragma once

#include "dlc/runtime/Status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace dlc::codegen {

/// Objects of one image loaded into this process. Holds the machine code and its symbol table, nothing of the compiler.
class JitCode {
public:
  /// Links the objects with each other; an error when one uses a symbol that none defines.
  static StatusOr<JitCode> load(llvm::ArrayRef<std::string> objects);

  /// The address of a function or variable; it is valid as long as this object.
  StatusOr<void *> lookup(llvm::StringRef symbol) const;

  JitCode(JitCode &&) noexcept;
  JitCode &operator=(JitCode &&) noexcept;
  ~JitCode();

private:
  struct Session;
  explicit JitCode(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
};

} // namespace dlc::codegen
