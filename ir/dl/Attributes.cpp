#include "dlc/ir/DlAttrs.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace dlc::dl;

#include "dlc/ir/DlAttrsEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dlc/ir/DlAttrs.cpp.inc"

void DlDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dlc/ir/DlAttrs.cpp.inc"
      >();
}
