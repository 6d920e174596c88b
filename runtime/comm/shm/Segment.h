#pragma once

#include "base/FileDescriptor.h"
#include "comm/host/Operation.h"

#include <atomic>
#include <cstddef>
#include <memory>

namespace dlc::runtime {

/// What one member shares with the others of a channel: its progress, its place to sleep, and memory that data goes
/// through. Only its owner writes to it, but for `doorbell`.
///
/// Memory without a name, of a size that nobody can change: it is gone with the last process that maps it.
class Segment {
public:
  /// Bytes that a collective, or a transfer between two members, moves at a time; there are three places for the first,
  /// two for the second.
  static constexpr int64_t kPieceBytes = 512 << 10, kTransferBytes = 128 << 10;
  static constexpr size_t kLongestText = 1020;

  enum class State : uint32_t { Alive, Left, Failed };

  struct Control {
    alignas(64) std::atomic<uint64_t> stage = 0; ///< meetings of all members that this one has come to
    alignas(64) std::atomic<uint32_t> doorbell = 0;
    std::atomic<uint32_t> sleeping = 0;
    alignas(64) std::atomic<State> state = State::Alive;
    char text[kLongestText] = {}; ///< why it has failed; written before `state`
    Signature signatures[2] = {}; ///< of the last two collectives
  };
  /// Between this member and another one.
  struct Box {
    struct Side {
      std::atomic<uint64_t> posted = 0, pieces = 0; ///< operations that it has come to; pieces written or taken
      Signature signature = {};
    };
    alignas(64) Side sends, receives;
    int64_t counts[2] = {}; ///< AllToAll: elements for that member, of the last two collectives
  };

  /// A new one for a channel of that many members; `file` is what others map.
  static StatusOr<Segment> create(int members, FileDescriptor &file);
  /// Another member's.
  static StatusOr<Segment> map(const FileDescriptor &file, int members);

  Segment(Segment &&other) noexcept : memory(std::exchange(other.memory, nullptr)), members(other.members) {}
  Segment &operator=(Segment &&) = delete;
  ~Segment();

  Control &control() const { return *reinterpret_cast<Control *>(memory); }
  Box &box(int member) const { return reinterpret_cast<Box *>(memory + sizeof(Control))[member]; }
  char *piece(uint64_t number) const { return data() + int64_t(number % 3) * kPieceBytes; }
  char *transferPiece(uint64_t number) const { return data() + 3 * kPieceBytes + int64_t(number % 2) * kTransferBytes; }

private:
  Segment(char *memory, int members) : memory(memory), members(members) {}

  static size_t bytesBeforeData(int members) {
    return (sizeof(Control) + size_t(members) * sizeof(Box) + 4095) / 4096 * 4096;
  }
  static size_t bytes(int members) { return bytesBeforeData(members) + 3 * kPieceBytes + 2 * kTransferBytes; }
  char *data() const { return memory + bytesBeforeData(members); }

  char *memory;
  int members;
};

} // namespace dlc::runtime
