#include "checkpoint/Save.h"

#include <cstdio>

namespace dlc::runtime {

Status saveCheckpoint(const CheckpointGroup &group, const std::string &directory, int64_t step,
                      std::span<const CheckpointSource> tensors, const CheckpointOptions &options) {
  return Save(group, directory, step, tensors, options, Save::Memory::Caller).run();
}

CheckpointWriter::CheckpointWriter(const CheckpointGroup &group, std::string directory)
    : group(group), directory(std::move(directory)) {}

CheckpointWriter::~CheckpointWriter() {
  if (Status status = finish(); !status.ok())
    std::fprintf(stderr, "dlc: %s\n", status.message().c_str());
}

Status CheckpointWriter::save(int64_t step, std::span<const CheckpointSource> tensors,
                              const CheckpointOptions &options) {
  if (Status status = finish(); !status.ok())
    return status;
  auto next = std::make_shared<Save>(group, directory, step, tensors, options, Save::Memory::Copy);
  thread = std::thread([this, next] { outcome = next->run(); });
  return {};
}

Status CheckpointWriter::finish() {
  if (thread.joinable())
    thread.join();
  return std::exchange(outcome, {});
}

} // namespace dlc::runtime
