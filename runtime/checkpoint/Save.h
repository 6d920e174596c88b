#pragma once

#include "checkpoint/Deal.h"
#include "checkpoint/Index.h"
#include "checkpoint/Round.h"

#include <cstddef>

namespace dlc::runtime {

/// One save of one member, in two steps: making it reads what the caller gave; run() may be on another thread.
class Save {
public:
  enum class Memory { Caller, Copy };

  Save(const CheckpointGroup &group, std::string directory, int64_t step, std::span<const CheckpointSource> tensors,
       const CheckpointOptions &options, Memory memory);

  Status run();

private:
  struct Written {
    size_t tensor;
    Box box;
    const void *data;
  };

  Status check(std::span<const CheckpointSource> sources) const;
  Status collect(std::span<const CheckpointSource> sources, Memory memory);

  /// This member's text of the first meeting, and what member 0 makes of all of them.
  std::string describe() const;
  StatusOr<std::string> begin(const std::vector<std::string> &texts);
  Status readBoxes(const std::string &text, int rank);

  /// This member's text of the second meeting, and what member 0 makes of all of them.
  StatusOr<std::string> writePieces(int attempt) const;
  StatusOr<std::string> complete(const std::vector<std::string> &texts, int attempt);

  std::string path() const;

  CheckpointGroup group;
  std::string directory;
  int64_t step;
  CheckpointOptions options;
  std::vector<CheckpointTensor> tensors;
  std::vector<Written> mine;
  std::vector<std::unique_ptr<std::byte[]>> copies;
  CheckpointIndex index; ///< of member 0
  bool replaces = false; ///< a complete checkpoint of this step
  Status fault;          ///< in what the caller gave
  Round round;
};

} // namespace dlc::runtime
