#include "trace/Members.h"

#include "dlc/runtime/Job.h"

#include <cstddef>
#include <utility>

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
    return job.session().device().isHost() ? runOnHost(given, wanted) : runOnDevices(given, wanted);
  }

  std::span<const LayoutRef> resultLayouts() const override { return layouts; }
  const Manifest *manifest() const override { return &programs.front()->executable().manifest(); }

private:
  Status runOnHost(std::span<const DlcBuffer> given, std::span<DlcBuffer> wanted) {
    char *unread = spare.data();
    for (size_t member = 0; member < programs.size(); ++member) {
      arguments[member].clear();
      results[member].clear();
      for (size_t i = 0; i < given.size(); ++i)
        arguments[member].push_back(argumentOf(given, i, member));
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

  // Values lie in the first member's memory: the others get their blocks in memory of their own, and give them back.
  Status runOnDevices(std::span<const DlcBuffer> given, std::span<DlcBuffer> wanted) {
    if (areas.empty())
      if (Status status = reserveAreas(given, wanted); !status.ok())
        return status;
    Session &first = job.session();
    for (size_t member = 0; member < programs.size(); ++member) {
      char *next = member == 0 ? nullptr : areas[member - 1].base();
      arguments[member].clear();
      results[member].clear();
      for (size_t i = 0; i < given.size(); ++i) {
        DlcBuffer block = argumentOf(given, i, member), &own = arguments[member].emplace_back(block);
        if (member == 0)
          continue;
        own.data = std::exchange(next, next + aligned(block.bytes));
        Session &session = job.session(static_cast<int>(member));
        if (Status status = session.copyFrom(first, own.data, block.data, block.bytes); !status.ok())
          return status;
      }
      for (size_t i = 0; i < wanted.size(); ++i) {
        DlcBuffer &own = results[member].emplace_back(resultOf(wanted, i, member));
        if (member != 0)
          own.data = std::exchange(next, next + aligned(own.bytes));
      }
    }
    if (Status status = job.callOnDevice(programs, 0, arguments, results); !status.ok())
      return status;
    for (size_t member = 1; member < programs.size(); ++member)
      for (size_t i = 0; i < wanted.size(); ++i)
        if (layouts[i]) {
          DlcBuffer block = resultOf(wanted, i, member);
          Session &session = job.session(static_cast<int>(member));
          if (Status status = first.copyFrom(session, block.data, results[member][i].data, block.bytes); !status.ok())
            return status;
        }
    return {};
  }

  Status reserveAreas(std::span<const DlcBuffer> given, std::span<DlcBuffer> wanted) {
    int64_t bytes = 0;
    for (size_t i = 0; i < given.size(); ++i)
      bytes += aligned(argumentOf(given, i, 0).bytes);
    for (size_t i = 0; i < wanted.size(); ++i)
      bytes += aligned(resultOf(wanted, i, 0).bytes);
    std::vector<runtime::Arena> made;
    for (size_t member = 1; member < programs.size(); ++member) {
      auto area = job.session(static_cast<int>(member)).device().allocate("arguments and results", bytes);
      if (!area.ok())
        return area.status();
      made.push_back(area.take());
    }
    areas = std::move(made);
    return {};
  }

  DlcBuffer argumentOf(std::span<const DlcBuffer> given, size_t i, size_t member) const {
    return i < argumentLayouts.size() && argumentLayouts[i] ? blockOf(given[i], member) : given[i];
  }
  DlcBuffer resultOf(std::span<DlcBuffer> wanted, size_t i, size_t member) const {
    return layouts[i] ? blockOf(wanted[i], member) : wanted[i];
  }
  static int64_t aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }

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
  std::vector<runtime::Arena> areas; ///< on devices: of the members beside the first
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
