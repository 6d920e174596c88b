#pragma once

#include "dlc/dlc.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

namespace dlc::test {

/// Runs the function as each rank of a job of its own; expectations that fail on any rank fail the test.
inline void asRanks(int64_t ranks, const std::function<void()> &function, const std::string &devices = "cpu",
                    const std::string &invariant = "") {
  try {
    distributed::spawn(
        [&](int64_t) {
          distributed::init({.devices = devices, .invariant = invariant, .timeout = std::chrono::seconds(100)});
          function();
          if (::testing::Test::HasFailure())
            throw std::runtime_error("expectations failed, see above");
        },
        ranks);
  } catch (const Error &error) {
    ADD_FAILURE() << error.what();
  }
}

/// Runs the function in a process of its own that no launcher has told anything.
inline void alone(const std::function<void()> &function) {
  try {
    distributed::spawn(
        [&](int64_t) {
          for (const char *name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
                                   "DLC_STORE", "DLC_SECRET"})
            unsetenv(name);
          function();
          if (::testing::Test::HasFailure())
            throw std::runtime_error("expectations failed, see above");
        },
        1);
  } catch (const Error &error) {
    ADD_FAILURE() << error.what();
  }
}

/// The sentence of the Error that the statement ends with.
inline std::string errorOf(const std::function<void()> &statement) {
  try {
    statement();
  } catch (const Error &error) {
    return error.message();
  }
  return "no error";
}

/// Elements, this rank's own where rows are split.
inline std::vector<double> localValues(const Tensor &tensor) {
  return distributed::to_local(tensor).to_vector<double>();
}

} // namespace dlc::test
