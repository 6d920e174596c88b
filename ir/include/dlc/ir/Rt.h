#pragma once

#include "dlc/ir/Program.h"

#include "dlc/ir/RtBase.h.inc"

#include "dlc/ir/RtBaseEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dlc/ir/RtBaseAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dlc/ir/RtBaseTypes.h.inc"

#define GET_OP_CLASSES
#include "dlc/ir/RtOps.h.inc"

namespace dlc::rt {

/// Bytes of a buffer: of its slice, or of the argument or result it names.
int64_t getBufferBytes(mlir::Value buffer);

} // namespace dlc::rt
