#include "Choices.h"

#include <gmock/gmock.h>

using testing::ElementsAre;
using testing::IsEmpty;

namespace dlc::gpucheck {

namespace {

Json row(const char *type, const char *way, double multiplyAdds, double us) {
  return {{"ok", true},
          {"choice", {{"op", "MatMul"}, {"type", type}, {"way", way}, {"multiply-adds", multiplyAdds}, {"us", us}}}};
}

} // namespace

TEST(Choices, FromTheSmallestSizeOnThatTheLibraryWinsAlways) {
  Json rows = {{{"name", "add"}},
               row("f32", "generated", 0x1p20, 9),
               row("f32", "library", 0x1p20, 8), // wins, but loses above
               row("f32", "generated", 0x1p25, 20),
               row("f32", "library", 0x1p25, 30),
               row("f32", "generated", 0x1p28, 100),
               row("f32", "library", 0x1p28, 90),
               row("f32", "generated", 0x1p30, 400),
               row("f32", "library", 0x1p30, 200)};
  EXPECT_THAT(choiceLines(rows, "sm_90"), ElementsAre(R"(DLC_LIBRARY_CHOICE("MatMul", "f32", "sm_90", 0x1p+28))"));
}

TEST(Choices, NoLineWhereTheLibraryLosesOrWasNotMeasured) {
  EXPECT_THAT(choiceLines({row("f32", "generated", 0x1p20, 9), row("f32", "library", 0x1p20, 10)}, "sm_90"), IsEmpty());
  EXPECT_THAT(choiceLines({row("f32", "generated", 0x1p20, 9)}, "sm_90"), IsEmpty());
  EXPECT_THAT(choiceLines(Json::array(), "sm_90"), IsEmpty());
}

} // namespace dlc::gpucheck
