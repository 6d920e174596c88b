#pragma once

#include "dlc/ir/Dl.h"
#include "dlc/ir/PoolDims.h"

#define GET_OP_CLASSES
#include "dlc/ir/Pool.h.inc"
