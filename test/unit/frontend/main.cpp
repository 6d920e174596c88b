#include "ReferenceBackend.h"

#include <gtest/gtest.h>

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  dlc::test::useReferenceBackend();
  return RUN_ALL_TESTS();
}
