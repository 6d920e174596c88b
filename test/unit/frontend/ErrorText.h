#pragma once

#include "dlc/dlc.h"

#include <gtest/gtest.h>

/// Runs the statement and compares the sentence of its Error; the Error must name the line of this macro.
#define EXPECT_ERROR(text, ...)                                                                                        \
  try {                                                                                                                \
    __VA_ARGS__;                                                                                                       \
    ADD_FAILURE() << "no error: " #__VA_ARGS__;                                                                        \
  } catch (const dlc::Error &error) {                                                                                  \
    EXPECT_EQ(error.message(), text);                                                                                  \
    EXPECT_EQ(error.where().line(), unsigned(__LINE__)) << error.what();                                               \
    EXPECT_NE(std::string(error.where().file_name()).find("test/unit/frontend"), std::string::npos) << error.what();   \
  }
