#pragma once

#include "dlc/ir/DlAttrs.h"

#define GET_OP_CLASSES
#include "dlc/ir/Activation.h.inc"
