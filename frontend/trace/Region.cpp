#include "trace/Program.h"

#include <map>
#include <mutex>

namespace dlc::trace {

static std::vector<uint64_t> keyOf(const Region &region) {
  std::vector<uint64_t> key;
  auto word = [&](const auto *pointer) { key.push_back(reinterpret_cast<uintptr_t>(pointer)); };
  auto list = [&](const auto &items, auto each) {
    key.push_back(items.size());
    for (const auto &item : items)
      each(item);
  };
  auto number = [&](uint32_t value) { key.push_back(value); };
  list(region.inputs, word);
  list(region.steps, [&](const ProgramStep &step) {
    word(step.op);
    word(step.attributes);
    list(step.operands, number);
    list(step.results, word);
    list(step.regions, word);
  });
  list(region.outputs, number);
  return key;
}

RegionRef internRegion(Region region) {
  static std::mutex mutex;
  static std::map<std::vector<uint64_t>, std::unique_ptr<const Region>> known;
  std::vector<uint64_t> key = keyOf(region);
  std::lock_guard lock(mutex);
  auto &found = known[std::move(key)];
  if (!found)
    found = std::make_unique<const Region>(std::move(region));
  return found.get();
}

} // namespace dlc::trace
