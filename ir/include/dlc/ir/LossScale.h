#pragma once

#include "dlc/ir/Dl.h"

#define GET_OP_CLASSES
#include "dlc/ir/LossScale.h.inc"
