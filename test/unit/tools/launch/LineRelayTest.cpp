#include "launch/LineRelay.h"

#include <gtest/gtest.h>

namespace dlc::launch {
namespace {

std::string relayed(std::initializer_list<std::string_view> pieces) {
  LineRelay relay("[1] ");
  std::string lines;
  for (std::string_view piece : pieces)
    relay.take(piece, lines);
  relay.finish(lines);
  return lines;
}

TEST(LineRelay, EachLineHasThePrefix) { EXPECT_EQ(relayed({"a\nb\n"}), "[1] a\n[1] b\n"); }

TEST(LineRelay, PiecesBecomeWholeLines) {
  EXPECT_EQ(relayed({"a", "b", "c\nd", "", "e\n"}), "[1] abc\n[1] de\n");
  LineRelay relay("");
  std::string lines;
  relay.take("begun", lines);
  EXPECT_EQ(lines, "");
}

TEST(LineRelay, TheLastLineIsCompleted) {
  EXPECT_EQ(relayed({"a\nb"}), "[1] a\n[1] b\n");
  EXPECT_EQ(relayed({}), "");
  EXPECT_EQ(relayed({"\n\n"}), "[1] \n[1] \n");
}

TEST(LineRelay, ALineThatGrowsIsCut) {
  std::string longest(LineRelay::kLongestLine, 'x');
  EXPECT_EQ(relayed({longest, "\ny\n"}), "[1] " + longest + "\n[1] y\n");
  EXPECT_EQ(relayed({longest + "z\n"}), "[1] " + longest + "\n[1] z\n");
  EXPECT_EQ(relayed({longest, longest}), "[1] " + longest + "\n[1] " + longest + "\n");
}

} // namespace
} // namespace dlc::launch
