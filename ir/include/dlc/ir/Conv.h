#pragma once

#include "dlc/ir/ConvDims.h"
#include "dlc/ir/Dl.h"

#define GET_OP_CLASSES
#include "dlc/ir/Conv.h.inc"
