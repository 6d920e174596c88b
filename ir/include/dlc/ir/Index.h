#pragma once

#include "dlc/ir/Dl.h"
#include "dlc/ir/DlAttrs.h"
#include "dlc/ir/GatherDims.h"

#define GET_OP_CLASSES
#include "dlc/ir/Index.h.inc"
