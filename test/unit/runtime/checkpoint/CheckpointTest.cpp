#include "Members.h"

#include "dlc/runtime/Safetensors.h"

#include <gmock/gmock.h>

#include <random>

using namespace dlc;
using namespace dlc::runtime;
using namespace dlc::runtime::test;
using dlc::test::contentOf;
using dlc::test::readFile;
using dlc::test::writeFile;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

CheckpointGroup alone() { return {}; }

const std::vector<TestTensor> &someTensors() {
  static const std::vector<TestTensor> tensors = {{"fc.weight", DType::F32, {3, 4}},
                                                  {"fc.bias", DType::F32, {4}},
                                                  {"mask", DType::I1, {5}},
                                                  {"steps", DType::I64, {}},
                                                  {"none", DType::I8, {0, 2}}};
  return tensors;
}

class CheckpointTest : public testing::Test {
protected:
  std::string step(int64_t number) const {
    std::string digits = std::to_string(number);
    return directory + "/step-" + std::string(8 - digits.size(), '0') + digits;
  }
  /// Reads as one member.
  Status readAlone(const std::vector<TestTensor> &tensors = someTensors()) const {
    StatusOr<std::optional<Checkpoint>> found = Checkpoint::latest(alone(), directory);
    if (!found.ok())
      return found.status();
    return *found ? readTensors(alone(), **found, tensors) : Status(StatusCode::Internal, "none");
  }

  TemporaryFolder folder;
  std::string directory = folder.file("run/checkpoints");
};

/// A layout that every count of members can have.
Layout randomLayout(const TestTensor &tensor, int members, std::mt19937 &random) {
  if (tensor.shape.empty() || random() % 3 == 0)
    return {};
  Layout layout(tensor.shape.size(), 1);
  int rest = members;
  for (int factor = 2; rest > 1; ++factor)
    for (; rest % factor == 0; rest /= factor)
      layout[random() % layout.size()] *= factor;
  return layout;
}

// Saved by any number of members in any layout, read by any other.
TEST_F(CheckpointTest, MovesBetweenAnyLayouts) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    std::vector<TestTensor> tensors = {{"large", DType::F32, {37, 900}}};
    std::vector<DType> types = {DType::F64, DType::F32, DType::I64, DType::I32, DType::I8, DType::I1};
    for (unsigned i = 0; i < 6; ++i) {
      std::vector<int64_t> shape;
      for (unsigned d = 0, rank = random() % 4; d < rank; ++d)
        shape.push_back(int64_t(random() % 8));
      tensors.push_back({"t" + std::to_string(i), types[i], shape, i});
    }
    int savers = 1 + int(random() % 6), readers = 1 + int(random() % 6);
    std::vector<Layout> saved, read;
    for (const TestTensor &tensor : tensors) {
      saved.push_back(randomLayout(tensor, savers, random));
      read.push_back(randomLayout(tensor, readers, random));
    }
    expectAllOk(runMembers(
        savers, [&](const CheckpointGroup &group) { return saveTensors(group, directory, round, tensors, saved); }));
    expectAllOk(runMembers(readers, [&](const CheckpointGroup &group) {
      StatusOr<std::optional<Checkpoint>> found = Checkpoint::latest(group, directory);
      if (!found.ok() || !*found)
        return found.ok() ? Status(StatusCode::Internal, "none") : found.status();
      EXPECT_EQ((*found)->step(), round);
      return readTensors(group, **found, tensors, read);
    }));
  }
}

TEST_F(CheckpointTest, ReplicatedTensorsAreWrittenOnce) {
  std::vector<TestTensor> tensors = {{"a", DType::F32, {64, 1024}}, {"b", DType::F32, {64, 1024}}};
  expectAllOk(runMembers(4, [&](const CheckpointGroup &group) { return saveTensors(group, directory, 7, tensors); }));
  EXPECT_THAT(namesIn(step(7)), ElementsAre("index.json", "m00000.safetensors", "m00001.safetensors",
                                            "m00002.safetensors", "m00003.safetensors"));
  for (int rank = 0; rank < 4; ++rank) {
    auto size = std::filesystem::file_size(step(7) + "/m0000" + std::to_string(rank) + ".safetensors");
    EXPECT_GE(size, size_t{131072});
    EXPECT_LE(size, size_t{131072 + 400});
  }
}

TEST_F(CheckpointTest, OneMembersFileIsAnOrdinarySafetensorsFile) {
  ASSERT_TRUE(saveTensors(alone(), directory, 1200, someTensors()).ok());
  EXPECT_THAT(namesIn(directory), ElementsAre("LATEST", "step-00001200"));
  EXPECT_EQ(readFile(directory + "/LATEST"), "step-00001200\n");
  StatusOr<Safetensors> file = Safetensors::open(step(1200) + "/m00000.safetensors");
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file->tensors().size(), someTensors().size());
  for (const TestTensor &tensor : someTensors())
    EXPECT_EQ(contentOf(*file->find(tensor.name)), tensor.bytes(tensor.part({}, 0))) << tensor.name;
}

TEST_F(CheckpointTest, StateTravelsAlong) {
  CheckpointOptions options;
  options.state = {{"loader", R"({"epoch":2,"seed":18446744073709551615})"}, {"lr", "0.1"}};
  ASSERT_TRUE(saveTensors(alone(), directory, 3, someTensors(), {}, options).ok());
  StatusOr<Checkpoint> opened = Checkpoint::open(alone(), step(3));
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_EQ(opened->state(), options.state);
  EXPECT_EQ(opened->tensors().size(), someTensors().size());
  EXPECT_EQ(opened->tensors()[1].name, "fc.bias");
  options.state = {{"bad", "{"}};
  EXPECT_EQ(saveTensors(alone(), directory, 4, someTensors(), {}, options).message(),
            "checkpoint of step 4: state 'bad': is not JSON");
}

TEST_F(CheckpointTest, NoneIsNoError) {
  StatusOr<std::optional<Checkpoint>> found = Checkpoint::latest(alone(), directory);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->has_value());
  writeFile(folder.file("file"), "");
  EXPECT_EQ(Checkpoint::latest(alone(), folder.file("file")).status().code(), StatusCode::InvalidInput);
}

TEST_F(CheckpointTest, LatestIsWhatWasSavedLast) {
  for (int64_t number : {5, 10, 2})
    ASSERT_TRUE(saveTensors(alone(), directory, number, someTensors()).ok());
  auto latest = [&] { return Checkpoint::latest(alone(), directory).value()->step(); };
  EXPECT_EQ(latest(), 2);
  std::filesystem::remove_all(step(2));
  EXPECT_EQ(latest(), 10) << "LATEST names what is gone: the highest";
  std::filesystem::remove(directory + "/LATEST");
  EXPECT_EQ(latest(), 10);
  std::filesystem::remove(step(10) + "/index.json");
  EXPECT_EQ(latest(), 5) << "without an index it is none";
  writeFile(directory + "/LATEST", "../../elsewhere\n");
  EXPECT_EQ(latest(), 5);
}

TEST_F(CheckpointTest, KeepsTheNewest) {
  CheckpointOptions options;
  options.keep = 2;
  for (int64_t number : {30, 31, 1, 2})
    ASSERT_TRUE(saveTensors(alone(), directory, number, someTensors(), {}, options).ok());
  EXPECT_THAT(namesIn(directory), ElementsAre("LATEST", "step-00000001", "step-00000002"));
  // Somebody's notes keep their directory.
  writeFile(step(1) + "/notes.txt", "mine");
  std::filesystem::create_directory(directory + "/step-mine");
  options.keep = 1;
  ASSERT_TRUE(saveTensors(alone(), directory, 3, someTensors(), {}, options).ok());
  EXPECT_THAT(namesIn(directory), ElementsAre("LATEST", "step-00000001", "step-00000003", "step-mine"));
  EXPECT_THAT(namesIn(step(1)), ElementsAre("notes.txt"));
}

TEST_F(CheckpointTest, TheSameStepIsReplaced) {
  std::vector<TestTensor> changed = someTensors();
  for (uint64_t seed = 1; seed < 5; ++seed) {
    for (TestTensor &tensor : changed)
      tensor.seed = seed;
    int members = seed == 3 ? 3 : 1;
    expectAllOk(
        runMembers(members, [&](const CheckpointGroup &group) { return saveTensors(group, directory, 6, changed); }));
    EXPECT_EQ(namesIn(step(6)).size(), size_t(members) + 1) << "what it replaced is gone";
    Status status = readAlone(changed);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST_F(CheckpointTest, LeftoversAreRemovedAndNothingElse) {
  ASSERT_TRUE(saveTensors(alone(), directory, 1, someTensors()).ok());
  std::filesystem::create_directories(step(2));
  writeFile(step(2) + "/m00000.safetensors", "half");
  writeFile(step(2) + "/m00001.safetensors.tmp-12", "half");
  writeFile(step(1) + "/index.json.tmp-99", "half");
  writeFile(step(1) + "/m00000-2.safetensors", "half");
  writeFile(step(1) + "/m1.safetensors", "not ours");
  writeFile(directory + "/LATEST.tmp-3", "");
  writeFile(directory + "/model.safetensors", "not ours");
  std::filesystem::create_directories(directory + "/step-5");
  ASSERT_TRUE(saveTensors(alone(), directory, 3, someTensors()).ok());
  EXPECT_THAT(namesIn(directory),
              ElementsAre("LATEST", "model.safetensors", "step-00000001", "step-00000003", "step-5"));
  EXPECT_THAT(namesIn(step(1)), ElementsAre("index.json", "m00000.safetensors", "m1.safetensors"));
}

TEST_F(CheckpointTest, MisfitsAreListedTogether) {
  ASSERT_TRUE(saveTensors(alone(), directory, 1, someTensors()).ok());
  std::vector<TestTensor> others = {{"fc.weight", DType::F32, {4, 3}},
                                    {"fc.bias", DType::F64, {4}},
                                    {"mask", DType::I1, {5}},
                                    {"more", DType::F32, {}}};
  EXPECT_EQ(readAlone(others).message(), step(1) + ": does not fit the program; missing: more; unexpected: steps none; "
                                                   "differing: fc.weight is f32[4,3], the checkpoint has f32[3,4]; "
                                                   "fc.bias is f64[4], the checkpoint has f32[4];");
  // Not strict: names in both.
  std::vector<CheckpointTensor> wanted = {others[2].part({}, 0), others[3].part({}, 0)};
  StatusOr<Checkpoint> opened = Checkpoint::open(alone(), step(1));
  auto read = opened->read(alone(), wanted, /*strict=*/false);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_NE((*read)[0], nullptr);
  EXPECT_EQ((*read)[1], nullptr);
  wanted[1] = wanted[0];
  EXPECT_EQ(opened->read(alone(), wanted).status().message(), "tensor 'mask' is wanted twice");
  wanted = {someTensors()[1].part({}, 0)};
  wanted[0].start = {1};
  wanted[0].extent = {4};
  EXPECT_THAT(opened->read(alone(), wanted, false).status().message(), HasSubstr("expects a box inside f32[4]"));
}

TEST_F(CheckpointTest, DamagedFilesAreRefused) {
  ASSERT_TRUE(saveTensors(alone(), directory, 1, someTensors()).ok());
  std::string path = step(1) + "/m00000.safetensors", good = readFile(path);
  for (size_t at : {size_t{0}, size_t{20}, good.size() - 1}) {
    std::string bad = good;
    bad[at] = char(bad[at] ^ 1);
    writeFile(path, bad);
    EXPECT_EQ(readAlone().message(), path + ": its SHA-256 is not that of index.json; the checkpoint is damaged");
  }
  writeFile(path, good.substr(0, good.size() - 1));
  EXPECT_EQ(readAlone().message(), path + ": expected " + std::to_string(good.size()) + " bytes, found " +
                                       std::to_string(good.size() - 1) + "; the checkpoint is damaged");
  writeFile(folder.file("elsewhere"), good);
  std::filesystem::remove(path);
  EXPECT_THAT(readAlone().message(), HasSubstr(path + ": cannot open: No such file"));
  std::filesystem::create_symlink(folder.file("elsewhere"), path);
  EXPECT_THAT(readAlone().message(), HasSubstr(path + ": cannot open: "));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_EQ(readAlone().message(), path + ": expected a regular file");
  std::filesystem::remove(path);
  writeFile(path, good);
  EXPECT_TRUE(readAlone().ok());
}

/// An index whose checksums fit may still lie about what is in the files.
TEST_F(CheckpointTest, AnIndexThatDoesNotFitItsFilesIsRefused) {
  ASSERT_TRUE(saveTensors(alone(), directory, 1, someTensors()).ok());
  std::string path = step(1) + "/index.json", good = readFile(path);
  auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    writeFile(path, text.replace(at, from.size(), to));
  };
  with(R"("key": "fc.bias")", R"("key": "nobody")");
  EXPECT_THAT(readAlone().message(), HasSubstr("has no tensor 'nobody', which index.json expects as f32[4]"));
  with(R"("key": "fc.bias")", R"("key": "steps")");
  EXPECT_THAT(readAlone().message(), HasSubstr("tensor 'steps' is i64[], index.json expects f32[4]"));
}

TEST_F(CheckpointTest, AnyDamageOfTheIndexIsRefusedOrHarmless) {
  std::vector<TestTensor> small = {{"w", DType::F32, {2}}};
  ASSERT_TRUE(saveTensors(alone(), directory, 1, small).ok());
  std::string path = step(1) + "/index.json", good = readFile(path);
  int harmless = 0;
  constexpr std::string_view replacements = "90\"{]\xff-";
  for (size_t at = 0; at < good.size(); ++at) {
    std::string text = good;
    text[at] = replacements[at % replacements.size()];
    writeFile(path, text);
    Status status = readAlone(small);
    ASSERT_NE(status.message(), "wrong elements of w");
    harmless += status.ok();
  }
  EXPECT_LT(harmless, int(good.size()) / 2);
}

TEST_F(CheckpointTest, BoxesMustCover) {
  EXPECT_THAT(runMembers(2,
                         [&](const CheckpointGroup &group) {
                           CheckpointSource source{{"w", "parameter", DType::I8, {4}, {group.rank}, {2}}, "ab"};
                           return saveCheckpoint(group, directory, 1, {&source, 1});
                         })
                  .at(1)
                  .message(),
              "checkpoint of step 1: tensor 'w': has pieces that overlap: [0:2] and [1:3]");
  EXPECT_THAT(namesIn(folder.path()), ElementsAre()) << "nothing was made";
}

TEST_F(CheckpointTest, AFailureOfOneMemberIsThatOfAll) {
  auto all = runMembers(3, [&](const CheckpointGroup &group) {
    std::vector<TestTensor> tensors = {{"w", DType::F32, {3}}};
    return saveTensors(group, directory, group.rank == 1 ? -1 : 5, tensors);
  });
  EXPECT_EQ(all[0].message(), "checkpoint of step 5: rank 1: expects a step >= 0, got -1");
  EXPECT_EQ(all[2].message(), all[0].message());
  EXPECT_EQ(all[0].code(), StatusCode::InvalidInput);

  all = runMembers(2, [&](const CheckpointGroup &group) {
    return saveTensors(group, directory, 5, {{group.rank ? "v" : "w", DType::F32, {3}}});
  });
  EXPECT_EQ(all[0].message(), "checkpoint of step 5: rank 1 saves other tensors than rank 0: names, types, shapes or "
                              "their order differ");
  all = runMembers(2, [&](const CheckpointGroup &group) {
    return saveTensors(group, directory, 5 + group.rank, {{"w", DType::F32, {3}}});
  });
  EXPECT_EQ(all[0].message(), "checkpoint of step 5: rank 1 saves another step than rank 0, which saves step 5");

  ASSERT_TRUE(saveTensors(alone(), directory, 5, someTensors()).ok());
  all = runMembers(3, [&](const CheckpointGroup &group) {
    StatusOr<Checkpoint> opened = Checkpoint::open(group, step(5));
    std::vector<TestTensor> tensors = someTensors();
    if (group.rank == 2)
      tensors.pop_back();
    return opened.ok() ? readTensors(group, *opened, tensors) : opened.status();
  });
  EXPECT_EQ(all[0].message(), "rank 2: " + step(5) +
                                  ": does not fit the program; missing: none; unexpected: none; "
                                  "differing: none");
  EXPECT_EQ(all[1].message(), all[0].message());
}

TEST_F(CheckpointTest, AMissingMemberIsNamedAtTheLimit) {
  std::vector<Status> all = runMembers(3, [&](CheckpointGroup group) {
    group.timeout = std::chrono::milliseconds(200);
    return group.rank == 1 ? Status() : saveTensors(group, directory, 5, someTensors());
  });
  EXPECT_EQ(all[0].message(), "checkpoint of step 5: rank 1 did not come to the save of step 5 within 0.2 s");
  EXPECT_EQ(all[2].message(), all[0].message());
  EXPECT_EQ(all[2].code(), StatusCode::PeerFailed);
}

TEST_F(CheckpointTest, AGroupWithoutAStoreIsRefused) {
  CheckpointGroup group;
  group.worldSize = 2;
  EXPECT_THAT(saveTensors(group, directory, 5, someTensors()).message(), HasSubstr("expects a store for 2 members"));
  group.rank = 2;
  EXPECT_THAT(saveTensors(group, directory, 5, someTensors()).message(),
              HasSubstr("expects a rank from 0 to 1, got 2"));
}

TEST_F(CheckpointTest, AWriterCopiesFirst) {
  expectAllOk(runMembers(2, [&](const CheckpointGroup &group) {
    CheckpointWriter writer(group, directory);
    const TestTensor &tensor = someTensors()[0];
    for (int64_t number = 1; number < 4; ++number) {
      std::string bytes = tensor.bytes(tensor.part({}, 0));
      CheckpointSource source{tensor.part({}, 0), bytes.data()};
      if (Status status = writer.save(number, {&source, 1}); !status.ok())
        return status;
      bytes.assign(bytes.size(), 'x'); // the next step
    }
    if (Status status = writer.finish(); !status.ok())
      return status;
    StatusOr<std::optional<Checkpoint>> found = Checkpoint::latest(group, directory);
    EXPECT_EQ((*found)->step(), 3);
    return readTensors(group, **found, {tensor});
  }));
  EXPECT_THAT(namesIn(directory), ElementsAre("LATEST", "step-00000001", "step-00000002", "step-00000003"));
}

TEST_F(CheckpointTest, AWritersErrorSurfacesOnce) {
  writeFile(folder.file("run"), "in the way");
  CheckpointSource source{{"w", "parameter", DType::I8, {2}, {}, {}}, "ab"};
  std::string expected = "checkpoint of step 1: " + directory + ": cannot make the directory: Not a directory";
  CheckpointWriter writer(alone(), directory);
  ASSERT_TRUE(writer.save(1, {&source, 1}).ok());
  EXPECT_EQ(writer.save(2, {&source, 1}).message(), expected) << "at the next save, which does nothing";
  EXPECT_TRUE(writer.finish().ok());
  ASSERT_TRUE(writer.save(1, {&source, 1}).ok());
  EXPECT_EQ(writer.finish().message(), expected);
  EXPECT_TRUE(writer.finish().ok());
  testing::internal::CaptureStderr();
  {
    CheckpointWriter unseen(alone(), directory);
    ASSERT_TRUE(unseen.save(1, {&source, 1}).ok());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "dlc: " + expected + "\n");
}

} // namespace
