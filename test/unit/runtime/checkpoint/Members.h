#pragma once

#include "dlc/runtime/Checkpoint.h"

#include "../../TestFile.h"

#include <functional>
#include <string>
#include <vector>

namespace dlc::runtime::test {

using dlc::test::TemporaryFolder;

/// Runs the members of a job as threads that share a store; what each returned.
std::vector<Status> runMembers(int members, const std::function<Status(const CheckpointGroup &)> &member);

/// All succeeded.
void expectAllOk(const std::vector<Status> &all);

/// How a tensor lies over members: all of it everywhere, or a grid of blocks, row-major; `grid` has an entry a
/// dimension and their product is the count of members.
using Layout = std::vector<int64_t>;

/// A tensor whose elements follow from its seed and their index in the whole tensor.
struct TestTensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  uint64_t seed = 1;

  /// The box that the member has: blocks of ceil(extent / parts), the last ones short or empty.
  CheckpointTensor part(const Layout &layout, int member) const;
  /// The elements of a part, as they must be.
  std::string bytes(const CheckpointTensor &part) const;
};

/// One member's save, with the tensors' values by their seeds. One layout a tensor; empty: replicated.
Status saveTensors(const CheckpointGroup &group, const std::string &directory, int64_t step,
                   const std::vector<TestTensor> &tensors, const std::vector<Layout> &layouts = {},
                   const CheckpointOptions &options = {});

/// Reads this member's parts and compares them.
Status readTensors(const CheckpointGroup &group, const Checkpoint &checkpoint, const std::vector<TestTensor> &tensors,
                   const std::vector<Layout> &layouts = {});

/// Sorted names of what a directory has.
std::vector<std::string> namesIn(const std::string &path);

} // namespace dlc::runtime::test
