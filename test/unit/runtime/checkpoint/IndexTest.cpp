#include "checkpoint/Index.h"

#include "../../TestFile.h"

#include <gmock/gmock.h>

using namespace dlc;
using namespace dlc::runtime;
using testing::HasSubstr;

namespace {

CheckpointIndex sample() {
  CheckpointIndex index;
  index.step = 1200;
  index.generation = 3;
  index.mesh = {{"data", 2}, {"model", 4}};
  index.files = {{"m00000.safetensors", 100, std::string(64, 'a')}, {"m00001.safetensors", 200, std::string(64, '0')}};
  index.tensors = {{"fc.weight",
                    "parameter",
                    DType::F32,
                    {4, 2},
                    {{0, "fc.weight", {{0, 0}, {3, 2}}}, {1, "rest", {{3, 0}, {1, 2}}}}},
                   {"step", "counter", DType::I64, {}, {{1, "step", {{}, {}}}}}};
  index.state = {{"loader", R"({"epoch":2})"}, {"note", "\"text\""}};
  return index;
}

std::string problem(const std::string &from, const std::string &to) {
  std::string text = sample().toJson();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return CheckpointIndex::parse(text.replace(at, from.size(), to)).status().message();
}

TEST(CheckpointIndex, ReadsWhatItWrites) {
  StatusOr<CheckpointIndex> read = CheckpointIndex::parse(sample().toJson());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->step, 1200);
  EXPECT_EQ(read->generation, 3u);
  EXPECT_EQ(read->mesh, sample().mesh);
  EXPECT_EQ(read->files[1].bytes, 200);
  EXPECT_EQ(read->files[0].sha256, std::string(64, 'a'));
  ASSERT_EQ(read->tensors.size(), 2u);
  EXPECT_EQ(read->tensors[0].role, "parameter");
  EXPECT_EQ(read->tensors[0].pieces[1].file, 1u);
  EXPECT_EQ(read->tensors[0].pieces[1].key, "rest");
  EXPECT_EQ(read->tensors[0].pieces[1].box, (Box{{3, 0}, {1, 2}}));
  EXPECT_EQ(read->tensors[1].dtype, DType::I64);
  EXPECT_EQ(read->state, sample().state);
  EXPECT_EQ(read->toJson(), sample().toJson());
}

TEST(CheckpointIndex, SaysWhatIsWrong) {
  EXPECT_EQ(CheckpointIndex::parse("").status().message(), "index.json: is not JSON");
  EXPECT_EQ(CheckpointIndex::parse("[]").status().message(), "index.json: the whole is not an object");
  EXPECT_EQ(problem("\"minReader\": 1", "\"minReader\": 2"),
            "index.json: needs a reader of version 2, this one has version 1; use a newer dlc");
  EXPECT_THAT(problem("\"step\": 1200", "\"step\": -1"), HasSubstr("has no integer 'step' in [0, "));
  EXPECT_THAT(problem("\"step\": 1200", "\"step\": 1e300"), HasSubstr("has no integer 'step' in [0, "));
  EXPECT_THAT(problem("\"bytes\": 100", "\"bytes\": 99999999999999999999"), HasSubstr("has no integer 'bytes'"));
  EXPECT_EQ(problem(std::string(64, 'a'), std::string(63, 'a')),
            "index.json: files[0] has a 'sha256' that is not 64 hexadecimal digits");
  EXPECT_EQ(problem("\"name\": \"m00001.safetensors\"", "\"name\": \"m00000.safetensors\""),
            "index.json: files[1] has the name 'm00000.safetensors' of another file");
  EXPECT_EQ(problem("\"file\": \"m00001.safetensors\"", "\"file\": \"m00002.safetensors\""),
            "index.json: pieces[1] of tensor 'fc.weight' lies in a file that is not in 'files'");
  EXPECT_EQ(problem("\"name\": \"step\"", "\"name\": \"fc.weight\""),
            "index.json: tensors[1] has the name 'fc.weight' of another tensor");
  EXPECT_THAT(problem("\"type\": \"f32\"", "\"type\": \"f31\""), HasSubstr("unknown element type 'f31'"));
}

TEST(CheckpointIndex, FileNamesStayInTheDirectory) {
  for (const char *name :
       {"../m00000.safetensors", "/etc/passwd", "a/b", "..", ".", "", "a\\\\b", "a\\u0000b", "a\\nb"})
    EXPECT_THAT(problem("\"name\": \"m00000.safetensors\"", "\"name\": \"" + std::string(name) + "\""),
                HasSubstr("which is not one of a file in the same directory"))
        << name;
}

TEST(CheckpointIndex, PiecesCoverEachTensorOnce) {
  auto shape = [](const std::string &from, const std::string &to) {
    // The JSON has each number on a line of its own; compact it to replace lists.
    std::string text = sample().toJson(), compact;
    for (char c : text)
      if (c != '\n' && c != ' ')
        compact += c;
    size_t at = compact.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return CheckpointIndex::parse(compact.replace(at, from.size(), to)).status().message();
  };
  EXPECT_EQ(shape("\"shape\":[4,2]", "\"shape\":[5,2]"),
            "index.json: tensor 'fc.weight': has a hole: its pieces hold 8 of 10 elements");
  EXPECT_EQ(shape("\"start\":[3,0]", "\"start\":[2,0]"),
            "index.json: tensor 'fc.weight': has pieces that overlap: [0:3, 0:2] and [2:3, 0:2]");
  EXPECT_EQ(shape("\"start\":[3,0]", "\"start\":[4,0]"),
            "index.json: tensor 'fc.weight': has a piece that is not inside");
  EXPECT_EQ(shape("\"start\":[3,0]", "\"start\":[3]"),
            "index.json: tensor 'fc.weight': has a piece that is not inside");
  EXPECT_EQ(shape("\"start\":[3,0]", "\"start\":[3,-1]"),
            "index.json: pieces[1] has something else than sizes in 'start'");
  EXPECT_EQ(shape("\"extent\":[1,2]", "\"extent\":[1,1.5]"),
            "index.json: pieces[1] has something else than sizes in 'extent'");
  EXPECT_THAT(shape("\"shape\":[4,2]", "\"shape\":[70368744177664,70368744177664]"),
              HasSubstr("has a shape of too many bytes"));
}

TEST(CheckpointIndex, DeepNestingIsRefused) {
  for (size_t depth : {size_t{100}, size_t{100'000}}) {
    std::string deep = std::string(depth, '[') + std::string(depth, ']');
    EXPECT_EQ(problem("\"text\"", deep), "index.json: is nested too deeply");
    EXPECT_EQ(checkJson(deep).message(), "is nested too deeply");
  }
  EXPECT_TRUE(checkJson("[[1]]").ok());
  EXPECT_FALSE(checkJson("[[1]").ok());
}

TEST(CheckpointIndex, DamageIsRefusedOrHarmless) {
  dlc::test::readDamaged(sample().toJson(), [](std::string_view text, bool) {
    if (StatusOr<CheckpointIndex> index = CheckpointIndex::parse(text); index.ok())
      for (const CheckpointIndex::Tensor &tensor : index->tensors) {
        std::vector<Box> boxes;
        for (const CheckpointIndex::Piece &piece : tensor.pieces) {
          ASSERT_LT(piece.file, index->files.size());
          boxes.push_back(piece.box);
        }
        ASSERT_TRUE(checkCoverage(tensor.shape, boxes).ok());
      }
  });
}

} // namespace
