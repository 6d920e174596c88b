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

std::string replaced(const std::string &from, const std::string &to) {
  std::string text = kText;
  text.replace(text.find(from), from.size(), to);
  return Manifest::parse(text).status().message();
}

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

TEST(Manifest, OfOlderCompilersIsForTheCpu) {
  std::string text = kText;
  for (const char *key : {"targets", "kernels"})
    text.replace(text.find(key), 7, "unknown");
  auto manifest = Manifest::parse(text);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->targets, std::vector<std::string>{"cpu"});
  EXPECT_TRUE(manifest->kernels.empty());
}

TEST(Manifest, NeverCrashesOnDamage) {
  std::string text = kText;
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(Manifest::parse(text.substr(0, i)).ok());
    std::string damaged = text;
    damaged[i] = '[';
    (void)Manifest::parse(damaged);
  }
}

} // namespace
