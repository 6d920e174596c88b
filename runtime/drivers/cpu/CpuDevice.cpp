#include "dlc/runtime/Executable.h"
#include "drivers/Driver.h"
#include "drivers/cpu/CpuUse.h"
#include "drivers/cpu/WorkerTeam.h"
#include "memory/Pages.h"

#include <cstdio>
#include <cstring>
#include <map>

namespace dlc::runtime {

namespace {

/// Everything is done at once on the calling thread, so every point is reached when it is marked.
class CpuEvent : public Event {
public:
  StatusOr<bool> query() override { return true; }
  Status synchronize() override { return {}; }
};

class CpuStream : public Stream {
public:
  Status copyToDevice(void *to, const void *from, int64_t bytes) override { return copy(to, from, bytes); }
  Status copyToHost(void *to, const void *from, int64_t bytes) override { return copy(to, from, bytes); }
  Status copy(void *to, const void *from, int64_t bytes) override {
    if (overlapPartly(to, from, bytes))
      return overlapping({"cpu", 0}, bytes);
    if (bytes > 0 && to != from)
      std::memcpy(to, from, size_t(bytes));
    return {};
  }
  Status fill(void *to, uint8_t value, int64_t bytes) override {
    if (bytes > 0)
      std::memset(to, value, size_t(bytes));
    return {};
  }
  Status record(Event &event) override { return wait(event); }
  Status wait(Event &event) override {
    if (dynamic_cast<CpuEvent *>(&event))
      return {};
    return {StatusCode::InvalidInput, "cpu: expected an event of this device, got another's"};
  }
  Status synchronize() override { return {}; }
};

/// Entries hold their kernels inside.
class CpuKernels : public Kernels {
public:
  explicit CpuKernels(std::shared_ptr<const Executable> executable) : executable(std::move(executable)) {}
  Status launch(Stream &, uint32_t, void *const *, std::string_view entry) override {
    return {StatusCode::Internal, std::string(entry) + ": the cpu has no kernels to launch"};
  }

private:
  std::shared_ptr<const Executable> executable;
};

std::string modelName() {
  std::string model;
  if (FILE *file = std::fopen("/proc/cpuinfo", "r")) {
    char line[256];
    while (model.empty() && std::fgets(line, sizeof line, file))
      if (std::strncmp(line, "model name", 10) == 0)
        if (const char *colon = std::strchr(line, ':'))
          model = std::string(colon + 2, std::strcspn(colon + 2, "\n"));
    std::fclose(file);
  }
  return model;
}

class CpuDevice : public Device {
public:
  CpuDevice() : Device({"cpu", 0}, /*host=*/true) {}

  std::string description() const override {
    int processors = WorkerTeam::processors();
    std::string model = modelName();
    return std::to_string(processors) + (processors == 1 ? " processor" : " processors") +
           (model.empty() ? "" : ", " + model);
  }
  int64_t memoryBytes() const override { return Pages::installedBytes(); }
  std::vector<std::string> compileTargets() const override { return {"cpu"}; }

  StatusOr<std::unique_ptr<Stream>> createStream() override { return std::unique_ptr<Stream>(new CpuStream()); }
  StatusOr<std::unique_ptr<Event>> createEvent() override { return std::unique_ptr<Event>(new CpuEvent()); }

  StatusOr<std::unique_ptr<Kernels>> load(std::shared_ptr<const Executable> executable) override {
    if (!executable->hasEntries())
      return executable->notCompiledFor(id(), "cpu");
    return std::unique_ptr<Kernels>(new CpuKernels(std::move(executable)));
  }

protected:
  StatusOr<Block> reserve(std::string_view name, int64_t bytes) override {
    StatusOr<Pages> pages = Pages::create(std::string(name), bytes);
    if (!pages.ok())
      return pages.status();
    Block block{pages->base(), pages->mapped()};
    std::lock_guard guard(lock);
    held.emplace(block.base, pages.take());
    return block;
  }
  void release(const Block &block) override {
    std::lock_guard guard(lock);
    held.erase(block.base);
  }

private:
  std::mutex lock;
  std::map<char *, Pages> held;
};

StatusOr<int> count() { return 1; }
StatusOr<std::unique_ptr<Device>> open(int) { return std::unique_ptr<Device>(new CpuDevice()); }

} // namespace

const Driver kCpuDriver = {"cpu", count, open, watchCpu};

} // namespace dlc::runtime
