#include "dlc/runtime/Manifest.h"

#include <gtest/gtest.h>

using namespace dlc;

namespace {

// k0 is a product [2] x 3x5x4 of bf16 with a bias, k1 a convolution of 2 groups.
const char *const kText = R"({"minReader":1,"compiler":"dlc","cpu":"x86-64-v3",
 "arenas":[],"variables":[],"entries":[],"sites":[{"op":"dl.matmul","file":"m.cpp","line":3,"column":1}],"memory":[],
 "kernels":[{"name":"k0","site":0,"operands":[{"bytes":60,"access":"read"},{"bytes":80,"access":"read"},
   {"bytes":8,"access":"read"},{"bytes":48,"access":"write"},{"bytes":1024,"access":"workspace"}],
  "call":{"library":"cublaslt","batch":2,"rows":3,"columns":4,"terms":5,
   "left":{"operand":0,"offset":0,"dtype":"bf16","rowStride":5,"columnStride":1,"batchStride":15},
   "right":{"operand":1,"offset":0,"dtype":"bf16","rowStride":1,"columnStride":5,"batchStride":20},
   "result":{"operand":3,"offset":0,"dtype":"bf16","rowStride":4,"columnStride":1,"batchStride":12},
   "epilogue":"gelu_bias","bias":2,"tf32":false,"workspace":4,"workspaceOffset":256,"workspaceBytes":768}},
  {"name":"k1","site":0,"operands":[{"bytes":1152,"access":"read"},{"bytes":432,"access":"write"},
   {"bytes":432,"access":"read"}],
  "call":{"library":"cudnn","kind":"weight_grad","dtype":"f32",
   "input":{"operand":0,"offset":0,"extents":[2,4,6,6],"strides":[144,36,6,1]},
   "weight":{"operand":1,"offset":0,"extents":[6,2,3,3],"strides":[18,9,3,1]},
   "output":{"operand":2,"offset":0,"extents":[2,6,3,3],"strides":[54,9,3,1]},
   "strides":[2,2],"padding":[1,1],"dilation":[1,1],"groups":2,"tf32":true}}]})";

/// What parse says of the calls of `kernel` once `from` is `to`.
std::string message(const std::string &kernel, const std::string &from, const std::string &to) {
  std::string text = kText, prefix = "manifest: the call of kernel '" + kernel + "'";
  text.replace(text.find(from), from.size(), to);
  std::string said = Manifest::parse(text).status().message();
  return said.starts_with(prefix) ? said.substr(prefix.size()) : "elsewhere: " + said;
}

TEST(ManifestCalls, RoundTrip) {
  auto manifest = Manifest::parse(kText);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  const auto &product = std::get<MatMulCall>(manifest->kernels[0].call->what);
  EXPECT_EQ(product.epilogue, MatMulCall::Epilogue::GeluBias);
  EXPECT_EQ(product.right, (MatMulCall::Matrix{1, 0, DType::BF16, 1, 5, 20}));
  EXPECT_EQ(product.aux, -1);
  EXPECT_EQ(manifest->kernels[0].call->library(), "cublaslt");
  EXPECT_EQ(manifest->kernels[0].call->workspaceOffset, 256);
  const auto &conv = std::get<ConvCall>(manifest->kernels[1].call->what);
  EXPECT_EQ(conv.kind, ConvCall::Kind::WeightGrad);
  EXPECT_EQ(conv.output.extents, (std::vector<int64_t>{2, 6, 3, 3}));
  EXPECT_EQ(manifest->kernels[1].call->workspace, -1);
  EXPECT_TRUE(conv.tf32);
  auto again = Manifest::parse(manifest->toJson());
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->kernels[0].call, manifest->kernels[0].call);
  EXPECT_EQ(again->kernels[1].call, manifest->kernels[1].call);
  EXPECT_EQ(again->toJson(), manifest->toJson());
}

TEST(ManifestCalls, RefuseProductsThatReachTooFar) {
  auto said = [](const std::string &from, const std::string &to) { return message("k0", from, to); };
  EXPECT_EQ(said(R"("operand":0)", R"("operand":5)"), ": left has operand 5 of 5");
  EXPECT_EQ(said(R"("operand":0)", R"("operand":3)"), ": left has operand 3, which the kernel may not read");
  EXPECT_EQ(said(R"("operand":3)", R"("operand":0)"), ": result has operand 0, which the kernel may not write");
  EXPECT_EQ(said(R"("bytes":60)", R"("bytes":59)"), ": left ends behind operand 0, which has 59 bytes");
  EXPECT_EQ(said(R"("bytes":80)", R"("bytes":79)"), ": right ends behind operand 1, which has 79 bytes");
  EXPECT_EQ(said(R"("bytes":8,)", R"("bytes":7,)"), " ends behind operand 2, which has 7 bytes");
  EXPECT_EQ(said(R"("bytes":48)", R"("bytes":47)"), ": result ends behind operand 3, which has 47 bytes");
  EXPECT_EQ(said(R"("batchStride":15)", R"("batchStride":70368744177664)"),
            ": left ends behind operand 0, which has 60 bytes");
  EXPECT_EQ(said(R"("offset":0)", R"("offset":1)"),
            ": left begins at byte 1, which is not a multiple of its element's size");
  EXPECT_EQ(said(R"("workspace":4)", R"("workspace":3)"),
            " has workspace 3, which the kernel may not use as workspace");
  EXPECT_EQ(said(R"("workspaceBytes":768)", R"("workspaceBytes":769)"),
            " has a workspace of 769 bytes from byte 256 of an operand of 1024");
  EXPECT_EQ(said(R"("operand":3,"offset":0)", R"("operand":4,"offset":212)"), " has its result in its workspace");
}

// The workspace is bytes [256, 1024) of operand 4; what ends before it may lie in its operand.
TEST(ManifestCalls, RefuseTensorsInTheWorkspace) {
  auto said = [](const std::string &from, const std::string &to) { return message("k0", from, to); };
  EXPECT_EQ(said(R"("operand":0,"offset":0)", R"("operand":4,"offset":198)"), " has its left in its workspace");
  EXPECT_EQ(said(R"("operand":1,"offset":0)", R"("operand":4,"offset":944)"), " has its right in its workspace");
  EXPECT_EQ(said(R"("bias":2,"tf32":false,"workspace":4,"workspaceOffset":256)",
                 R"("bias":4,"tf32":false,"workspace":4,"workspaceOffset":0)"),
            " has its bias in its workspace");
  EXPECT_EQ(said(R"("gelu_bias","bias":2,"tf32":false,"workspace":4,"workspaceOffset":256)",
                 R"("gelu_grad","aux":4,"tf32":false,"workspace":4,"workspaceOffset":0)"),
            " has its aux in its workspace");
  std::string text = kText, from = R"("operand":0,"offset":0)";
  text.replace(text.find(from), from.size(), R"("operand":4,"offset":196)");
  EXPECT_TRUE(Manifest::parse(text).ok()) << Manifest::parse(text).status().message();
}

TEST(ManifestCalls, RefuseConvolutionsInTheWorkspace) {
  // k1 with a workspace of its bytes [0, 256) in an operand of 2048 bytes, and one tensor at `offset` there.
  auto said = [&](const std::string &from, int64_t offset) {
    std::string text = kText;
    auto replace = [&](const std::string &what, const std::string &to) {
      size_t at = text.find(what, text.find(R"("name":"k1")"));
      ASSERT_NE(at, std::string::npos) << what;
      text.replace(at, what.size(), to);
    };
    replace(R"({"bytes":432,"access":"read"}])",
            R"({"bytes":432,"access":"read"},{"bytes":2048,"access":"workspace"}])");
    replace(R"("tf32":true)", R"("tf32":true,"workspace":3,"workspaceOffset":0,"workspaceBytes":256)");
    replace(from + R"(,"offset":0)", R"("operand":3,"offset":)" + std::to_string(offset));
    return std::string(Manifest::parse(text).status().message());
  };
  const std::string prefix = "manifest: the call of kernel 'k1' has its ";
  EXPECT_EQ(said(R"("operand":0)", 252), prefix + "input in its workspace");
  EXPECT_EQ(said(R"("operand":1)", 252), prefix + "weight in its workspace");
  EXPECT_EQ(said(R"("operand":2)", 0), prefix + "output in its workspace");
  for (const char *tensor : {R"("operand":0)", R"("operand":1)", R"("operand":2)"})
    EXPECT_EQ(said(tensor, 256), "");
}

TEST(ManifestCalls, RefuseProductsNoLibraryTakes) {
  auto said = [](const std::string &from, const std::string &to) { return message("k0", from, to); };
  EXPECT_EQ(said("cublaslt", "cublas"), " names an unknown library 'cublas'");
  EXPECT_EQ(said(R"("rows":3)", R"("rows":0)"), " has no integer 'rows' of at least 1");
  EXPECT_EQ(said(R"("rows":3)", R"("rows":4294967296)"), " has no integer 'rows' in [0, 2147483647]");
  EXPECT_EQ(said(R"("rowStride":5)", R"("rowStride":4)"), ": left has strides that no matrix of the library has");
  EXPECT_EQ(said(R"("rowStride":4,"columnStride":1)", R"("rowStride":1,"columnStride":3)"),
            ": result has strides that no matrix of the library has");
  for (const char *near : {R"("batchStride":0)", R"("batchStride":3)", R"("batchStride":4)", R"("batchStride":11)"})
    EXPECT_EQ(said(R"("batchStride":12)", near), ": result has products on top of each other");
  EXPECT_EQ(said(R"("dtype":"bf16")", R"("dtype":"f16")"), " has elements of f16 and bf16 for a result of bf16");
  EXPECT_EQ(said(R"("dtype":"bf16")", R"("dtype":"i8")"), ": left has elements 'i8', possible are f32, f16, bf16");
  EXPECT_EQ(said("gelu_bias", "swish"), " has an unknown epilogue 'swish'");
  EXPECT_EQ(said("gelu_bias", "gelu"), " has operands that its epilogue 'gelu' does not have");
  EXPECT_EQ(said(R"("bias":2)", R"("aux":2)"), " has operands that its epilogue 'gelu_bias' does not have");
  EXPECT_EQ(said(R"("bias":2)", R"("bias":9)"), " has bias 9 of 5 operands");
}

TEST(ManifestCalls, RefuseConvolutionsThatDoNotFit) {
  auto said = [](const std::string &from, const std::string &to) { return message("k1", from, to); };
  EXPECT_EQ(said("weight_grad", "bias_grad"), " has an unknown kind 'bias_grad'");
  EXPECT_EQ(said("weight_grad", "forward"), ": weight has operand 1, which the kernel may not read");
  EXPECT_EQ(said(R"("bytes":1152)", R"("bytes":1151)"), ": input ends behind operand 0, which has 1151 bytes");
  EXPECT_EQ(said("[144,36,6,1]", "[144,36,6,0]"), ": input has a number in 'strides' outside [1, 2147483647]");
  EXPECT_EQ(said("[144,36,6,1]", "[144,36,6]"), ": input has 4 extents and 3 strides, possible are 3 to 5");
  EXPECT_EQ(said(R"("groups":2)", R"("groups":1)"), " has batches or channels that do not fit together");
  EXPECT_EQ(said(R"("padding":[1,1])", R"("padding":[1])"), " has tensors and windows of different ranks");
  EXPECT_EQ(said(R"("padding":[1,1])", R"("padding":[1,3])"),
            " has an extent of 3 in its output, which its window does not give");
  EXPECT_EQ(said(R"("dilation":[1,1])", R"("dilation":[2147483647,1])"),
            " has an extent of 3 in its output, which its window does not give");
  EXPECT_EQ(said(R"("dtype":"f32")", R"("dtype":"f64")"), " has elements 'f64', possible are f32, f16, bf16");
}

// No prefix is a manifest, and no changed byte ends the process.
TEST(ManifestCalls, DamagedNeverCrash) {
  std::string text = kText;
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(Manifest::parse(text.substr(0, i)).ok());
    for (char other : {'0', '9', '"', '}', ' '}) {
      std::string damaged = text;
      damaged[i] = other;
      (void)Manifest::parse(damaged);
    }
  }
}

} // namespace
