#pragma once

#include "dlc/ir/DlAttrs.h"
#include "mlir/IR/SymbolTable.h"

#define GET_OP_CLASSES
#include "dlc/ir/Collective.h.inc"
