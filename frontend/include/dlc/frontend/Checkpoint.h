#pragma once

#include "dlc/frontend/Module.h"

namespace dlc {

/// Writes the tensors to a safetensors file, replacing it in one step.
void save(const StateDict &state, const std::string &path, Where where = Where::current());

/// Reads a safetensors file; every number in it is checked before use.
StateDict load(const std::string &path, Where where = Where::current());

} // namespace dlc
