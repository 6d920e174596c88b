#include "dlc/ir/Rt.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace dlc::rt;

#include "dlc/ir/RtBase.cpp.inc"

#include "dlc/ir/RtBaseEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dlc/ir/RtBaseAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dlc/ir/RtBaseTypes.cpp.inc"

void RtDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dlc/ir/RtBaseAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dlc/ir/RtBaseTypes.cpp.inc"
      >();
  addProgramOps();
}
