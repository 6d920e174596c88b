#pragma once

#include "comm/nccl/NcclApi.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace dlc::fakegpu {

/// What the ranks of a communicator share, be they threads or processes. The file has no name: an id says which
/// process holds it, so that nothing is left behind by one that is killed.
class NcclSegment {
public:
  static constexpr int kMostRanks = 8;
  static constexpr uint64_t kCollectiveBytes = 512ULL << 20, kTransferBytes = 128ULL << 20;

  /// What ranks must agree on in a collective.
  struct Signature {
    int kind = 0, type = 0, reduce = 0, root = 0;
    uint64_t count = 0;
    friend bool operator==(const Signature &, const Signature &) = default;
  };
  struct Rank {
    std::atomic<bool> attached = false;
    int device = 0;
    /// The last collective whose elements it has put in, and the last whose result it has taken.
    std::atomic<uint64_t> posted = 0, taken = 0;
    Signature signatures[2] = {};
  };
  /// From one rank to another.
  struct Pair {
    std::atomic<uint64_t> posted = 0, taken = 0;
    uint64_t count = 0;
    int type = 0;
  };
  struct Control {
    std::atomic<uint32_t> magic = 0;
    std::atomic<int> size = 0; ///< as the first to come says
    Rank ranks[kMostRanks];
    Pair pairs[kMostRanks][kMostRanks];
  };

  /// A new one; its file is open in this process until forget(id).
  static bool create(runtime::nccl::UniqueId &id);
  static void forget(const runtime::nccl::UniqueId &id);
  /// Null: there is no such id any more.
  static std::shared_ptr<NcclSegment> attach(const runtime::nccl::UniqueId &id);

  ~NcclSegment();
  NcclSegment(const NcclSegment &) = delete;
  NcclSegment &operator=(const NcclSegment &) = delete;

  Control &control() const { return *reinterpret_cast<Control *>(memory); }
  /// Where a rank puts its elements of a collective.
  char *collective(int rank) const { return data() + uint64_t(rank) * kCollectiveBytes; }
  char *transfer(int from, int to) const {
    return data() + kMostRanks * kCollectiveBytes + uint64_t(from * kMostRanks + to) * kTransferBytes;
  }

private:
  explicit NcclSegment(char *memory) : memory(memory) {}
  static constexpr uint64_t kControlBytes = 64 << 10;
  /// Most of them are never touched, and take no memory.
  static constexpr uint64_t kBytes =
      kControlBytes + kMostRanks * kCollectiveBytes + uint64_t(kMostRanks * kMostRanks) * kTransferBytes;
  char *data() const { return memory + kControlBytes; }

  char *memory;
};

} // namespace dlc::fakegpu
