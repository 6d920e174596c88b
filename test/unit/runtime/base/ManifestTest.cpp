#include "dlc/runtime/Manifest.h"

#include <gtest/gtest.h>

using namespace dlc;

namespace {

const char *const kText = R"({"minReader":1,"compiler":"dlc","cpu":"x86-64-v3","unknown":7,
 "arenas":[{"name":"p","class":"parameter","bytes":128,"initial":0}],
 "variables":[{"name":"w","type":"f32","shape":[4,2],"role":"parameter","arena":0,"offset":64,
               "init":{"kind":"uniform","a":-1.5,"b":2,"offset":3}}],
 "entries":[{"name":"f","arguments":[{"name":"x","type":"i64","shape":[]}],"results":[],"peak":9}],
 "targets":["cpu","sim"],"simCheck":true,
 "kernels":[{"name":"k0","grid":[4,2,1],"block":[32,8,1],"shared":1056,"site":0,
             "operands":[{"bytes":32,"access":"read"},{"bytes":8,"access":"read_write"}]}],
 "sites":[{"op":"dl.add","file":"m.cpp","line":3,"column":1}],"memory":[{"name":"parameters","bytes":32}]})";

std::string replacedIn(std::string text, const std::string &from, const std::string &to) {
  text.replace(text.find(from), from.size(), to);
  return Manifest::parse(text).status().message();
}

std::string replaced(const std::string &from, const std::string &to) { return replacedIn(kText, from, to); }

// Five rows over two members: parts of three.
const char *const kMeshText = R"({"minReader":1,"compiler":"dlc","cpu":"x86-64-v3",
 "arenas":[],"variables":[],"memory":[],
 "mesh":[{"name":"data","size":2},{"name":"model","size":3}],
 "entries":[{"name":"f","arguments":[{"name":"x","type":"f32","shape":[3,7],"sharding":
   {"global":[5,7],"dims":[{"axes":["data"],"borders":[0,3,5]},null]}}],"results":[],"peak":9,"launches":12}],
 "collectives":[{"kind":"all_reduce","reduce":"max","axes":["data"],"dtype":"f32","count":35,"channel":1,
                 "tensors":["w","b"],"site":0,"entry":0,"start":7,"wait":11},
                {"kind":"all_gather","axes":["data","model"],"dtype":"f64","count":4,"channel":0,"tensors":[],
                 "site":0,"entry":0,"start":8,"wait":8},
                {"kind":"all_to_all","axes":["model"],"dtype":"i64","count":5,"channel":1,"tensors":[],
                 "site":0,"entry":0,"start":9,"wait":9}],
 "fingerprint":{"program":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                "sequence":"fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"},
 "sites":[{"op":"dl.add","file":"m.cpp","line":3,"column":1}]})";

TEST(Manifest, RoundTrips) {
  auto manifest = Manifest::parse(kText);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->variables[0].type.str(), "f32[4,2]");
  EXPECT_EQ(manifest->variables[0].init.a, -1.5);
  EXPECT_EQ(manifest->entries[0].arguments[0].type.dtype, DType::I64);
  EXPECT_EQ(manifest->targets, (std::vector<std::string>{"cpu", "sim"}));
  EXPECT_TRUE(manifest->simCheck);
  const KernelInfo &kernel = manifest->kernels[0];
  EXPECT_EQ(kernel.grid, (std::array<int64_t, 3>{4, 2, 1}));
  EXPECT_EQ(kernel.block, (std::array<int64_t, 3>{32, 8, 1}));
  EXPECT_EQ(kernel.operands[1].access, Access::ReadWrite);
  EXPECT_EQ(manifest->place(0), "m.cpp:3: dl.add");
  EXPECT_EQ(manifest->place(1), "");
  auto again = Manifest::parse(manifest->toJson());
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->toJson(), manifest->toJson());
}

TEST(Manifest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(replaced("\"offset\":64", "\"offset\":128"),
            "manifest: variable 'w' ends at byte 160 of arena 'p', which has 128");
  EXPECT_EQ(replaced("\"arena\":0", "\"arena\":1"), "manifest: variable 'w' lies in arena 1 of 1");
  EXPECT_EQ(replaced("\"f32\"", "\"f31\""), "manifest: variables[0] has an unknown element type 'f31'");
  EXPECT_EQ(replaced("[4,2]", "[4,-2]"), "manifest: variables[0] has a shape with a bad extent");
  EXPECT_EQ(replaced("[4,2]", "[4000000000,4000000000]"), "manifest: variables[0] has a shape of too many bytes");
  EXPECT_EQ(replaced("\"minReader\":1", "\"minReader\":2"),
            "manifest: needs a reader of version 2, this one has version 1; use a newer dlc");
  EXPECT_EQ(replaced("uniform", "gaussian"), "manifest: init has an unknown kind 'gaussian'");
  EXPECT_EQ(replaced("\"peak\":9", "\"peak\":\"9\""),
            "manifest: entries[0] has no integer 'peak' in [0, 70368744177664]");
}

TEST(Manifest, RefusesKernelsNoDeviceLaunches) {
  EXPECT_EQ(replaced("[4,2,1]", "[4,2]"), "manifest: kernels[0] has no three extents 'grid'");
  EXPECT_EQ(replaced("[4,2,1]", "[0,2,1]"), "manifest: kernels[0] has an extent 'grid' outside [1, 2147483647]");
  EXPECT_EQ(replaced("[4,2,1]", "[4,65536,1]"), "manifest: kernels[0] has an extent 'grid' outside [1, 65535]");
  EXPECT_EQ(replaced("[32,8,1]", "[32,8,65]"), "manifest: kernels[0] has an extent 'block' outside [1, 64]");
  EXPECT_EQ(replaced("[32,8,1]", "[32,8,5]"),
            "manifest: kernels[0] has blocks of 1280 threads, at most 1024 are possible");
  EXPECT_EQ(replaced("1056", "232449"), "manifest: kernels[0] has no integer 'shared' in [0, 232448]");
  EXPECT_EQ(replaced("\"site\":0", "\"site\":1"), "manifest: kernel 'k0' has site 1 of 1");
  EXPECT_EQ(replaced("read_write", "append"), "manifest: operands[1] has an unknown access 'append'");
  EXPECT_EQ(replaced("true", "1"), "manifest: the whole has no truth value 'simCheck'");
  EXPECT_EQ(replaced("\"sim\"", "7"), "manifest: the whole has a list 'targets' of something else than texts");
}

TEST(Manifest, RoundTripsAMesh) {
  auto manifest = Manifest::parse(kMeshText);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->mesh.size(), 6);
  EXPECT_EQ(manifest->mesh.size({"model"}), 3);
  const ValueInfo &x = manifest->entries[0].arguments[0];
  ASSERT_TRUE(x.sharding.has_value());
  EXPECT_EQ(x.sharding->shape, (std::vector<int64_t>{5, 7}));
  EXPECT_EQ(x.sharding->dims[0].borders, (std::vector<int64_t>{0, 3, 5}));
  EXPECT_TRUE(x.sharding->dims[1].axes.empty());
  EXPECT_EQ(manifest->entries[0].launches, 12);
  const CollectiveInfo &reduce = manifest->collectives[0];
  EXPECT_EQ(name(reduce.kind), "all_reduce");
  EXPECT_EQ(name(reduce.reduce), "max");
  EXPECT_EQ(reduce.count, 35);
  EXPECT_EQ(reduce.channel, 1);
  EXPECT_EQ(reduce.tensors, (std::vector<std::string>{"w", "b"}));
  EXPECT_EQ(reduce.start, 7);
  EXPECT_EQ(reduce.wait, 11);
  EXPECT_EQ(manifest->collectives[1].kind, CollectiveKind::AllGather);
  EXPECT_EQ(name(manifest->collectives[2].kind), "all_to_all");
  EXPECT_FALSE(reduces(manifest->collectives[2].kind));
  EXPECT_EQ(manifest->fingerprint->program.substr(0, 4), "0123");
  auto again = Manifest::parse(manifest->toJson());
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->toJson(), manifest->toJson());
  EXPECT_EQ(again->entries[0].arguments[0].sharding, x.sharding);
}

TEST(Manifest, WithoutAMeshSaysNothingOfOne) {
  auto manifest = Manifest::parse(kText);
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->mesh.size(), 1);
  for (const char *key : {"mesh", "collectives", "fingerprint", "sharding", "launches"})
    EXPECT_EQ(manifest->toJson().find(key), std::string::npos) << key;
}

TEST(Manifest, RefusesCollectivesThatDoNotFit) {
  auto message = [](const std::string &from, const std::string &to) { return replacedIn(kMeshText, from, to); };
  EXPECT_EQ(message("all_reduce", "all_together"), "manifest: collectives[0] has an unknown kind 'all_together'");
  EXPECT_EQ(message("\"max\"", "\"mean\""), "manifest: collectives[0] has an unknown reduce 'mean'");
  EXPECT_EQ(message("[\"data\"],\"dtype\"", "[\"pipe\"],\"dtype\""),
            "manifest: collectives[0] names an axis 'pipe', which the mesh does not have");
  EXPECT_EQ(message("[\"data\",\"model\"]", "[\"data\",\"data\"]"),
            "manifest: collectives[1] names the axis 'data' twice");
  EXPECT_EQ(message("[\"data\",\"model\"]", "[]"), "manifest: collectives[1] has no axes");
  EXPECT_EQ(message("\"count\":4", "\"count\":8796093022208"), "manifest: collectives[1] has too many elements");
  EXPECT_EQ(message("\"channel\":1", "\"channel\":16"), "manifest: collectives[0] has no integer 'channel' in [0, 15]");
  EXPECT_EQ(message("\"site\":0", "\"site\":1"), "manifest: collectives[0] has site 1 of 1");
  EXPECT_EQ(message("\"entry\":0", "\"entry\":1"), "manifest: collectives[0] has entry 1 of 1");
  EXPECT_EQ(message("\"start\":7", "\"start\":12"), "manifest: collectives[0] starts after its wait");
  EXPECT_EQ(message("\"0123456789", "\"0123456789x"),
            "manifest: fingerprint has no SHA-256 'program' of 64 hexadecimal digits");
  EXPECT_EQ(message("\"size\":3", "\"size\":0"), "manifest: the mesh has axes of no members or more than 1048576");
  EXPECT_EQ(message("\"size\":3", "\"size\":1048576"),
            "manifest: the mesh has axes of no members or more than 1048576");
  EXPECT_EQ(message("\"model\",\"size\"", "\"data\",\"size\""),
            "manifest: the mesh has no different names for its axes");
}

TEST(Manifest, RefusesShardingsThatDoNotFit) {
  auto message = [](const std::string &from, const std::string &to) { return replacedIn(kMeshText, from, to); };
  EXPECT_EQ(message("[0,3,5]", "[0,3,4]"), "manifest: 'x' of entry 'f' has no 3 borders from 0 to 5");
  EXPECT_EQ(message("[0,3,5]", "[0,5]"), "manifest: 'x' of entry 'f' has no 3 borders from 0 to 5");
  EXPECT_EQ(message("[0,3,5]", "[]"), "manifest: 'x' of entry 'f' has no 3 borders from 0 to 5");
  EXPECT_EQ(message("[0,3,5]", "[0,6,5]"), "manifest: 'x' of entry 'f' has borders that do not ascend");
  EXPECT_EQ(message("[0,3,5]", "[0,1,5]"), "manifest: 'x' of entry 'f' has parts of up to 4 where a member holds 3");
  EXPECT_EQ(message("[0,3,5]", "[0,-3,5]"), "manifest: sharding has a list 'borders' with a bad number");
  EXPECT_EQ(message("[5,7]", "[5,8]"), "manifest: 'x' of entry 'f' has dimension 1 whole, but of another extent");
  EXPECT_EQ(message("[5,7]", "[5]"), "manifest: 'x' of entry 'f' has a sharding of another rank");
  EXPECT_EQ(message("[\"data\"],\"borders\"", "[],\"borders\""),
            "manifest: sharding has a dimension split along no axes");
  EXPECT_EQ(message("[\"data\"],\"borders\"", "[\"pipe\"],\"borders\""),
            "manifest: 'x' of entry 'f' names an axis 'pipe', which the mesh does not have");
}

TEST(Manifest, OfOlderCompilersIsForTheCpu) {
  std::string text = kText;
  for (const char *key : {"targets", "kernels"})
    text.replace(text.find(key), 7, "unknown");
  auto manifest = Manifest::parse(text);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->targets, std::vector<std::string>{"cpu"});
  EXPECT_TRUE(manifest->kernels.empty());
}

class DamagedManifest : public ::testing::TestWithParam<const char *> {};

TEST_P(DamagedManifest, NeverCrashes) {
  std::string text = GetParam();
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(Manifest::parse(text.substr(0, i)).ok());
    std::string damaged = text;
    damaged[i] = '[';
    (void)Manifest::parse(damaged);
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, DamagedManifest, ::testing::Values(kText, kMeshText));

} // namespace
