#pragma once

#include "launch/Launch.h"

#include <CLI/CLI.hpp>

namespace dlc::launch {

/// Adds `dlc launch`: `code` is the exit code of a job that ran, `status` why one did not.
void addCommand(CLI::App &app, Arguments &arguments, Status &status, int &code);

/// Takes the program of `dlc launch` and what follows it, which `app` is not to read. Returns how many words are left
/// for it.
int takeProgram(const CLI::App &app, Arguments &arguments, int argc, char **argv);

} // namespace dlc::launch
