#pragma once

#include "dlc/ir/Dl.h"

#include "dlc/ir/DlAttrsEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dlc/ir/DlAttrs.h.inc"
