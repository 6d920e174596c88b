#include "drivers/sim/TensorCore.h"

#include "drivers/sim/AccessChecker.h"
#include "drivers/sim/SimBlock.h"

#include <array>
#include <cmath>
#include <limits>

namespace dlc::sim {

namespace {

using Address = std::array<uint32_t, 2>; // as words of a meeting

constexpr uint32_t kRowBytes = 16; // 8 elements of 16 bits
constexpr uint32_t kOperandWords = 10;
constexpr uint32_t kFirstC = 6; // words of a lane: 4 of A, 2 of B, 4 of C

float toFloat(uint32_t bits) { return std::bit_cast<float>(bits); }

float bfloatToFloat(uint32_t bits) { return toFloat(bits << 16); }

float halfToFloat(uint32_t bits) {
  uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float magnitude = 0;
  if (exponent == 31)
    magnitude = mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent)
    magnitude = std::ldexp(1024.0f + float(mantissa), int(exponent) - 25);
  else
    magnitude = std::ldexp(float(mantissa), -24);
  return bits >> 15 ? -magnitude : magnitude;
}

// The hardware ignores the 13 low bits.
float tf32ToFloat(uint32_t bits) { return toFloat(bits & ~0x1FFFu); }

struct Tile {
  float a[16][16], b[16][8], d[16][8];
};

// Where fragments lie: PTX, "Matrix Fragments for mma.m16n8k16" and "mma.m16n8k8". Of C and D, lane l holds rows l / 4
// and l / 4 + 8, columns 2 (l % 4) and the next.
uint32_t rowOfD(uint32_t lane, uint32_t word) { return lane / 4 + 8 * (word >> 1); }
uint32_t columnOfD(uint32_t lane, uint32_t word) { return lane % 4 * 2 + (word & 1); }

template <typename Convert>
void readHalves(Tile &tile, const Meeting &meeting, int side, Convert convert) {
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    const uint32_t *words = meeting.words[side][lane];
    for (uint32_t half = 0; half < 2; ++half) {
      uint32_t k = lane % 4 * 2 + half, shift = 16 * half;
      for (uint32_t word = 0; word < 4; ++word)
        tile.a[lane / 4 + 8 * (word & 1)][k + 8 * (word >> 1)] = convert(words[word] >> shift & 0xFFFF);
      for (uint32_t word = 0; word < 2; ++word)
        tile.b[k + 8 * word][lane / 4] = convert(words[4 + word] >> shift & 0xFFFF);
    }
  }
}

void readTf32(Tile &tile, const Meeting &meeting, int side) {
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    const uint32_t *words = meeting.words[side][lane];
    for (uint32_t word = 0; word < 4; ++word)
      tile.a[lane / 4 + 8 * (word & 1)][lane % 4 + 4 * (word >> 1)] = tf32ToFloat(words[word]);
    for (uint32_t word = 0; word < 2; ++word)
      tile.b[lane % 4 + 4 * word][lane / 4] = tf32ToFloat(words[4 + word]);
  }
}

void multiplyTile(Meeting &meeting, int side, uint32_t product) {
  Tile tile;
  uint32_t depth = product == DLC_SIM_M16N8K8_TF32 ? 8 : 16;
  if (product == DLC_SIM_M16N8K8_TF32)
    readTf32(tile, meeting, side);
  else if (product == DLC_SIM_M16N8K16_F16)
    readHalves(tile, meeting, side, halfToFloat);
  else
    readHalves(tile, meeting, side, bfloatToFloat);
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane)
    for (uint32_t word = 0; word < 4; ++word)
      tile.d[rowOfD(lane, word)][columnOfD(lane, word)] = toFloat(meeting.words[side][lane][kFirstC + word]);
  for (uint32_t i = 0; i < 16; ++i)
    for (uint32_t k = 0; k < depth; ++k)
      for (uint32_t j = 0; j < 8; ++j)
        tile.d[i][j] += tile.a[i][k] * tile.b[k][j];
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane)
    for (uint32_t word = 0; word < 4; ++word)
      meeting.results[side][lane][word] = std::bit_cast<uint32_t>(tile.d[rowOfD(lane, word)][columnOfD(lane, word)]);
}

} // namespace

void loadMatrix(DlcSimThread *self, const DlcSimSite *site, uint32_t *out, const void *row, uint32_t count,
                uint32_t transposed) {
  SimThread &thread = simThread(self);
  SimBlock &block = *SimBlock::running();
  if (AccessChecker *checker = block.checker(); checker && site && self->lane < 8 * count)
    checker->access(thread, *site, row, kRowBytes);
  auto address = std::bit_cast<Address>(row);
  auto [meeting, side] = block.meet(thread, ~0u, address.data(), 2, [](Meeting &, int) {});
  auto element = [&, &all = meeting, turn = side](uint32_t matrix, uint32_t i, uint32_t j) {
    const uint32_t *words = all.words[turn][8 * matrix + i];
    return uint32_t(std::bit_cast<const uint16_t *>(Address{words[0], words[1]})[j]);
  };
  uint32_t i = self->lane / 4, j = self->lane % 4 * 2;
  for (uint32_t matrix = 0; matrix < count; ++matrix)
    out[matrix] = transposed ? element(matrix, j, i) | element(matrix, j + 1, i) << 16
                             : element(matrix, i, j) | element(matrix, i, j + 1) << 16;
}

void multiply(DlcSimThread *self, uint32_t product, float *out, const uint32_t *in) {
  auto [meeting, side] = SimBlock::running()->meet(
      simThread(self), ~0u, in, kOperandWords, [product](Meeting &all, int turn) { multiplyTile(all, turn, product); });
  std::memcpy(out, meeting.results[side][self->lane], 4 * sizeof(float));
}

} // namespace dlc::sim
