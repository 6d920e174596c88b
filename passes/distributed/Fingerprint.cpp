#include "dlc/ir/Collective.h"
#include "dlc/passes/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

// Before:  module { dl.mesh @mesh ["data" = 4] … }
// After:   module attributes {dl.fingerprint = "3f9c…"} { dl.mesh @mesh ["data" = 4] … }

namespace dlc::passes {
#define GEN_PASS_DEF_FINGERPRINTPASS
#include "dlc/passes/Passes.h.inc"
} // namespace dlc::passes

using namespace mlir;
using namespace dlc;

namespace {

/// Hashes text as it is printed.
class HashStream : public llvm::raw_ostream {
public:
  HashStream() { SetUnbuffered(); }

  std::string finish() { return llvm::toHex(hash.final(), /*LowerCase=*/true); }

private:
  void write_impl(const char *text, size_t size) override {
    hash.update(StringRef(text, size));
    written += size;
  }
  uint64_t current_pos() const override { return written; }

  llvm::SHA256 hash;
  uint64_t written = 0;
};

struct FingerprintPass : passes::impl::FingerprintPassBase<FingerprintPass> {
  using FingerprintPassBase::FingerprintPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!dl::MeshOp::find(module) || module->hasAttr("dl.fingerprint"))
      return;
    HashStream stream;
    stream << terms << "\n";
    // Initial values given as resources are compared as state, when members meet.
    module->print(stream, OpPrintingFlags().enableDebugInfo(false).elideLargeResourceString(64));
    module->setAttr("dl.fingerprint", StringAttr::get(&getContext(), stream.finish()));
  }
};

} // namespace
