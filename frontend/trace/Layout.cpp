#include "trace/Layout.h"

#include "dlc/runtime/Data.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace dlc::trace {

LayoutRef internLayout(int64_t dim, std::span<const int64_t> borders) {
  static std::mutex mutex;
  static auto &known = *new std::map<std::pair<int64_t, std::vector<int64_t>>, Layout>; // static tensors outlive it
  std::vector<int64_t> list(borders.begin(), borders.end());
  std::lock_guard lock(mutex);
  auto [found, isNew] = known.try_emplace({dim, list});
  if (isNew) {
    int64_t block = 0;
    for (size_t i = 0; i + 1 < list.size(); ++i)
      block = std::max(block, list[i + 1] - list[i]);
    found->second = {dim, std::move(list), block};
  }
  return &found->second;
}

LayoutRef blocksOf(int64_t dim, int64_t rows, Members members) {
  if (!members.split())
    return nullptr;
  std::vector<int64_t> borders{0};
  for (int64_t member = 0; member < members.count; ++member)
    borders.push_back(memberRows(rows, member, members.count, members.leaves).end);
  return internLayout(dim, borders);
}

int64_t memberBytes(TypeRef type, LayoutRef layout) {
  if (!layout)
    return type->bytes;
  int64_t elements = layout->block;
  for (size_t i = 0; i < type->shape.size(); ++i)
    if (static_cast<int64_t>(i) != layout->dim)
      elements *= type->shape[i];
  return elements * byteSize(type->dtype);
}

} // namespace dlc::trace
