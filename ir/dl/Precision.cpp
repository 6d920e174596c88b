#include "dlc/ir/Precision.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <string>

using namespace mlir;
using namespace dlc::dl;

namespace {
struct PrecisionWord {
  const char *opName;
  const char *precision;
};
using llvm::ArrayRef;
using llvm::StringRef;
#define GET_Precisions_DECL
#define GET_Precisions_IMPL
#include "dlc/ir/Precision.cpp.inc"
} // namespace

static constexpr StringLiteral words[] = {"low", "full", "follow", "keeps"};

Precision dlc::dl::precisionOf(Operation *op) {
  const PrecisionWord *found =
      op->getName().getDialectNamespace() == "dl" ? lookupPrecision(op->getName().stripDialect()) : nullptr;
  return found ? Precision(llvm::find(words, StringRef(found->precision)) - std::begin(words)) : Precision::Keeps;
}

StringRef dlc::dl::name(Precision precision) { return words[size_t(precision)]; }

FailureOr<FloatType> dlc::dl::autocastTypeOf(Operation *op) {
  Attribute mark = op->getDiscardableAttr(kAutocastAttr);
  if (!mark)
    return FloatType();
  auto named = dyn_cast<TypeAttr>(mark);
  auto type = named ? dyn_cast<FloatType>(named.getValue()) : FloatType();
  if (type && (type.isBF16() || type.isF16()))
    return type;
  return op->emitOpError("expects ") << kAutocastAttr << " to be bf16 or f16, got " << mark;
}
