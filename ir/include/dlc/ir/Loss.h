#pragma once

#include "dlc/ir/DlAttrs.h"

#define GET_OP_CLASSES
#include "dlc/ir/Loss.h.inc"
