#include "trace/Members.h"

#include "dlc/runtime/Job.h"

#include <cstddef>

namespace dlc::trace {

namespace {

class MembersRunnable : public Runnable {
public:
  MembersRunnable(runtime::Job &job, runtime::Job::Programs programs, std::vector<LayoutRef> argumentLayouts,
                  std::vector<LayoutRef> layouts)
      : job(job), programs(std::move(programs)), argumentLayouts(std::move(argumentLayouts)),
        layouts(std::move(layouts)), arguments(this->programs.size()), results(this->programs.size()) {
    size_t bytes = 0;
    for (const ValueInfo &result : entry().results)
      bytes += blockOf(result);
    // Results that every member has are read from the first one only.
    spare.resize(bytes * (this->programs.size() - 1));
  }

  Status run(std::span<const DlcBuffer> given, std::span<DlcBuffer> wanted) override {
    if (job.session().device().id() == DeviceId())
      return runOnHost(given, wanted);
    // Values lie in the first member's memory, which the others do not reach.
    std::vector<DlcBuffer> here(given.begin(), given.end()), back(wanted.begin(), wanted.end());
    inputs.resize(here.size());
    outputs.resize(back.size());
    for (size_t i = 0; i < here.size(); ++i) {
      here[i].data = hostMemory(inputs[i], given[i]);
      if (Status status = job.session().download(here[i].data, given[i].data, given[i].bytes); !status.ok())
        return status;
    }
    for (size_t i = 0; i < back.size(); ++i)
      back[i].data = hostMemory(outputs[i], wanted[i]);
    Status status = runOnHost(here, back);
    for (size_t i = 0; status.ok() && i < back.size(); ++i)
      status = job.session().upload(wanted[i].data, back[i].data, wanted[i].bytes);
    return status;
  }

  std::span<const LayoutRef> resultLayouts() const override { return layouts; }
  const Manifest *manifest() const override { return &programs.front()->executable().manifest(); }

private:
  using HostMemory = std::vector<std::max_align_t>;
  static void *hostMemory(HostMemory &memory, const DlcBuffer &like) {
    memory.resize(static_cast<size_t>(like.bytes) / sizeof(std::max_align_t) + 1);
    return memory.data();
  }

  Status runOnHost(std::span<const DlcBuffer> given, std::span<DlcBuffer> wanted) {
    char *unread = spare.data();
    for (size_t member = 0; member < programs.size(); ++member) {
      arguments[member].clear();
      results[member].clear();
      for (size_t i = 0; i < given.size(); ++i)
        arguments[member].push_back(i < argumentLayouts.size() && argumentLayouts[i] ? blockOf(given[i], member)
                                                                                     : given[i]);
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (layouts[i]) {
          results[member].push_back(blockOf(wanted[i], member));
        } else if (member == 0) {
          results[member].push_back(wanted[i]);
        } else {
          results[member].push_back({unread, wanted[i].bytes});
          unread += blockOf(entry().results[i]);
        }
      }
    }
    return job.call(programs, 0, arguments, results);
  }

  const EntryInfo &entry() const { return programs.front()->executable().manifest().entries.front(); }
  static size_t blockOf(const ValueInfo &value) { return static_cast<size_t>((value.type.bytes() + 63) / 64 * 64); }
  DlcBuffer blockOf(const DlcBuffer &all, size_t member) const {
    int64_t bytes = all.bytes / static_cast<int64_t>(programs.size());
    return {static_cast<char *>(all.data) + static_cast<int64_t>(member) * bytes, bytes};
  }

  runtime::Job &job;
  runtime::Job::Programs programs;
  std::vector<LayoutRef> argumentLayouts, layouts;
  std::vector<std::vector<DlcBuffer>> arguments, results;
  std::vector<char> spare;
  std::vector<HostMemory> inputs, outputs; ///< of what lies on another device
};

} // namespace

StatusOr<std::shared_ptr<Runnable>> attachMembers(runtime::Job &job,
                                                  const std::shared_ptr<const Executable> &executable,
                                                  std::vector<LayoutRef> arguments, std::vector<LayoutRef> results) {
  auto attached = job.attach(executable, Session::State::Given);
  if (!attached.ok())
    return attached.status();
  return std::shared_ptr<Runnable>(
      std::make_shared<MembersRunnable>(job, attached.take(), std::move(arguments), std::move(results)));
}

} // namespace dlc::trace
