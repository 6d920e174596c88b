#include "checkpoint/Box.h"

#include <algorithm>

namespace dlc::runtime {

Box Box::whole(std::span<const int64_t> shape) {
  return {std::vector<int64_t>(shape.size(), 0), {shape.begin(), shape.end()}};
}

int64_t Box::volume() const {
  if (std::find(extent.begin(), extent.end(), 0) != extent.end())
    return 0; // the others may be so large that their product is not
  int64_t count = 1;
  for (int64_t n : extent)
    count *= n;
  return count;
}

std::string Box::str() const {
  std::string text = "[";
  for (size_t i = 0; i < start.size(); ++i)
    text += (i ? ", " : "") + std::to_string(start[i]) + ":" + std::to_string(start[i] + extent[i]);
  return text + "]";
}

bool isInside(const Box &box, std::span<const int64_t> shape) {
  if (box.start.size() != shape.size() || box.extent.size() != shape.size())
    return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (box.start[i] < 0 || box.extent[i] < 0 || box.start[i] > shape[i] || box.extent[i] > shape[i] - box.start[i])
      return false;
  return true;
}

Box intersect(const Box &a, const Box &b) {
  Box common = a;
  for (size_t i = 0; i < a.start.size(); ++i) {
    common.start[i] = std::max(a.start[i], b.start[i]);
    int64_t end = std::min(a.start[i] + a.extent[i], b.start[i] + b.extent[i]);
    common.extent[i] = std::max<int64_t>(0, end - common.start[i]);
  }
  return common;
}

Status checkCoverage(std::span<const int64_t> shape, std::vector<Box> boxes) {
  auto bad = [](const std::string &what) { return Status(StatusCode::InvalidInput, what); };
  if (boxes.size() > kMostPieces)
    return bad("has " + std::to_string(boxes.size()) + " pieces, more than " + std::to_string(kMostPieces));
  int64_t covered = 0, all = Box::whole(shape).volume();
  for (const Box &box : boxes) {
    if (!isInside(box, shape))
      return bad("has a piece that is not inside");
    covered += box.volume();
  }
  std::erase_if(boxes, [](const Box &box) { return box.volume() == 0; });
  std::sort(boxes.begin(), boxes.end(), [](const Box &a, const Box &b) { return a.start < b.start; });
  for (size_t i = 0; i < boxes.size(); ++i)
    for (size_t j = i + 1; j < boxes.size(); ++j) {
      if (!shape.empty() && boxes[j].start[0] >= boxes[i].start[0] + boxes[i].extent[0])
        break;
      if (intersect(boxes[i], boxes[j]).volume() != 0)
        return bad("has pieces that overlap: " + boxes[i].str() + " and " + boxes[j].str());
    }
  if (covered != all)
    return bad("has a hole: its pieces hold " + std::to_string(covered) + " of " + std::to_string(all) + " elements");
  return {};
}

} // namespace dlc::runtime
