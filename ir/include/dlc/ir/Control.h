#pragma once

#include "dlc/ir/Dl.h"
#include "mlir/IR/PatternMatch.h"

#define GET_OP_CLASSES
#include "dlc/ir/Control.h.inc"
