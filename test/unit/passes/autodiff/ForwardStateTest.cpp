#include "../EvaluatedModule.h"
#include "dlc/passes/Passes.h"

using namespace dlc;

// Reads and writes interleaved: swap, update of an update, a write taken back, a read between two writes.
constexpr const char *kInterleaved = R"(
  dl.variable @a : tensor<f64> role(buffer) init(#dl.zeros)
  dl.variable @b : tensor<f64> role(buffer) init(#dl.zeros)
  dl.variable @c : tensor<f64> role(buffer) init(#dl.zeros)
  func.func @f(%x: tensor<f64>) -> (tensor<f64>, tensor<f64>) attributes {dl.entry} {
    %a0 = dl.read @a : tensor<f64>
    %b0 = dl.read @b : tensor<f64>
    dl.write @a, %b0 : tensor<f64>
    dl.write @b, %a0 : tensor<f64>
    %a1 = dl.read @a : tensor<f64>
    %a2 = dl.add %a1, %x : tensor<f64>
    dl.write @a, %a2 : tensor<f64>
    %a3 = dl.read @a : tensor<f64>
    %c0 = dl.read @c : tensor<f64>
    dl.write @c, %x : tensor<f64>
    %c1 = dl.read @c : tensor<f64>
    dl.write @c, %c0 : tensor<f64>
    %c2 = dl.read @c : tensor<f64>
    %s = dl.mul %a3, %c1 : tensor<f64>
    %b1 = dl.read @b : tensor<f64>
    %t = dl.add %b1, %c2 : tensor<f64>
    dl.write @b, %s : tensor<f64>
    return %s, %t : tensor<f64>, tensor<f64>
  })";

TEST(ForwardState, KeepsWhatAnEntryComputes) {
  EvaluatedModule module(kInterleaved);
  module.run(passes::createForwardStatePass());
  mlir::Type f64 = mlir::Float64Type::get(&module.getContext());
  for (auto [name, value] : {std::pair("a", 2), {"b", 3}, {"c", 7}})
    module.set(name, f64, {}, value);
  auto results = module.call({5});
  EXPECT_EQ(results[0].at(0), (3 + 5) * 5);
  EXPECT_EQ(results[1].at(0), 2 + 7);
  EXPECT_EQ(module.state.at("a").at(0), 3 + 5);
  EXPECT_EQ(module.state.at("b").at(0), (3 + 5) * 5);
  EXPECT_EQ(module.state.at("c").at(0), 7);
}
