#include "Members.h"

#include "dlc/runtime/Philox.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace dlc::runtime::test {

std::vector<Status> runMembers(int members, const std::function<Status(const CheckpointGroup &)> &member) {
  std::unique_ptr<Store> store = createMemoryStore();
  std::vector<Status> results(static_cast<size_t>(members));
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (int rank = 0; rank < members; ++rank)
    threads.emplace_back([&, rank] {
      CheckpointGroup group;
      group.store = store.get();
      group.rank = rank;
      group.worldSize = members;
      results[size_t(rank)] = member(group);
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

void expectAllOk(const std::vector<Status> &all) {
  for (size_t rank = 0; rank < all.size(); ++rank)
    EXPECT_TRUE(all[rank].ok()) << "rank " << rank << ": " << all[rank].message();
}

CheckpointTensor TestTensor::part(const Layout &layout, int member) const {
  CheckpointTensor part{name, "parameter", dtype, shape, {}, {}};
  if (layout.empty())
    return part;
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t coordinate = member % layout[i];
    member /= int(layout[i]);
    int64_t block = (shape[i] + layout[i] - 1) / layout[i];
    int64_t begin = std::min(shape[i], coordinate * block), end = std::min(shape[i], begin + block);
    part.start.insert(part.start.begin(), begin);
    part.extent.insert(part.extent.begin(), end - begin);
  }
  return part;
}

std::string TestTensor::bytes(const CheckpointTensor &part) const {
  std::vector<int64_t> extent = part.extent.empty() ? shape : part.extent;
  std::vector<int64_t> start = part.start.empty() ? std::vector<int64_t>(shape.size(), 0) : part.start;
  int64_t count = 1;
  for (int64_t n : extent)
    count *= n;
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, global = 0, stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      global += (start[d] + rest % extent[d]) * stride;
      stride *= shape[d];
      rest /= extent[d];
    }
    PhiloxWords words = philox(seed, 7, uint64_t(global));
    if (dtype == DType::I1)
      words[0] &= 1;
    text.append(reinterpret_cast<const char *>(&words), size_t(byteSize(dtype)));
  }
  return text;
}

Status saveTensors(const CheckpointGroup &group, const std::string &directory, int64_t step,
                   const std::vector<TestTensor> &tensors, const std::vector<Layout> &layouts,
                   const CheckpointOptions &options) {
  std::vector<std::string> contents;
  std::vector<CheckpointSource> sources;
  contents.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    CheckpointTensor part = tensors[i].part(layouts.empty() ? Layout() : layouts[i], group.rank);
    contents.push_back(tensors[i].bytes(part));
    sources.push_back({part, contents.back().data()});
  }
  return saveCheckpoint(group, directory, step, sources, options);
}

Status readTensors(const CheckpointGroup &group, const Checkpoint &checkpoint, const std::vector<TestTensor> &tensors,
                   const std::vector<Layout> &layouts) {
  std::vector<CheckpointTensor> wanted;
  wanted.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i)
    wanted.push_back(tensors[i].part(layouts.empty() ? Layout() : layouts[i], group.rank));
  StatusOr<std::vector<Checkpoint::Data>> read = checkpoint.read(group, wanted);
  if (!read.ok())
    return read.status();
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::string expected = tensors[i].bytes(wanted[i]);
    if (std::memcmp((*read)[i].get(), expected.data(), expected.size()) != 0)
      return {StatusCode::Internal, "wrong elements of " + tensors[i].name};
  }
  return {};
}

std::vector<std::string> namesIn(const std::string &path) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace dlc::runtime::test
