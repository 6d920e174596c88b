#pragma once

#include "dlc/ir/AttentionDims.h"
#include "dlc/ir/Dl.h"

#define GET_OP_CLASSES
#include "dlc/ir/Attention.h.inc"
