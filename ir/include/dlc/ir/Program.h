#pragma once

#include "dlc/ir/DlAttrs.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#define GET_OP_CLASSES
#include "dlc/ir/Program.h.inc"
