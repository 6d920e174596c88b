#include "dlc/ir/Random.h"

#include "reference/Registry.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace dlc::dl;

/// The four words of Philox 4x32-10, after the paper.
static std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(0xD2511F53) * counter[0], product1 = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(product1 >> 32) ^ counter[1] ^ key[0], uint32_t(product1),
               uint32_t(product0 >> 32) ^ counter[3] ^ key[1], uint32_t(product0)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

static int64_t draw(Type element, uint64_t seed, uint64_t offset, uint64_t index) {
  std::array<uint32_t, 4> words =
      philox({uint32_t(index), uint32_t(index >> 32), uint32_t(offset), uint32_t(offset >> 32)},
             {uint32_t(seed), uint32_t(seed >> 32)});
  return element.isInteger(32) ? int64_t(words[0]) : int64_t(uint64_t(words[0]) << 32 | words[1]);
}

void dlc::dl::registerReferenceRandom(ReferenceRegistry &registry) {
  registry.add<PhiloxOp>([](PhiloxOp op, ReferenceOperands x, ReferenceResults y) {
    for (int64_t i = 0; i < y[0].size(); ++i)
      y[0].integers[i] = draw(op.getType().getElementType(), x[0].integers[i], x[1].integers[i], x[2].integers[i]);
  });
  registry.add<RandomBitsOp>([](RandomBitsOp op, ReferenceOperands x, ReferenceResults y) {
    for (int64_t i = 0; i < y[0].size(); ++i)
      y[0].integers[i] = draw(op.getType().getElementType(), x[0].integers[0], x[1].integers[0], i);
  });
  registry.add<DropoutOp>([](DropoutOp op, ReferenceOperands x, ReferenceResults y) {
    double p = op.getP().convertToDouble(), bound = std::round(p * 0x1p32);
    auto word = IntegerType::get(op.getContext(), 32);
    for (int64_t i = 0; i < y[0].size(); ++i)
      if (p < 1 && uint32_t(draw(word, x[1].integers[0], x[2].integers[0], i)) >= bound)
        y[0].floats[i] = x[0].floats[i] / (1 - p);
  });
}
