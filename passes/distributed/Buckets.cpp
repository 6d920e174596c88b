#include "distributed/Buckets.h"

#include "dlc/ir/Dl.h"
#include "dlc/ir/Storage.h"

#include <algorithm>

using namespace mlir;
using namespace dlc;
using namespace dlc::passes;

// One core, single precision.
static constexpr double productsPerSecond = 20e9, elementBytesPerSecond = 5e9;
static constexpr int64_t firstBytes = 1 << 20;

std::vector<size_t> dlc::passes::cutBySize(const std::vector<BucketItem> &items, int64_t bytes) {
  std::vector<size_t> ends;
  int64_t held = 0, most = std::min(bytes, firstBytes);
  for (size_t i = 0; i < items.size(); ++i) {
    held += items[i].bytes;
    if (held < most && i + 1 < items.size())
      continue;
    ends.push_back(i + 1);
    held = 0;
    most = bytes;
  }
  return ends;
}

/// Neighbours together until the link takes as long for them as for a start: smaller buckets gain nothing.
static std::vector<size_t> endsOfChunks(const std::vector<BucketItem> &items, const Link &link) {
  std::vector<size_t> ends;
  double bytes = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    bytes += double(items[i].bytes);
    if (bytes < link.startSeconds * link.bytesPerSecond && i + 1 < items.size())
      continue;
    ends.push_back(i + 1);
    bytes = 0;
  }
  return ends;
}

std::vector<size_t> dlc::passes::cutByModel(const std::vector<BucketItem> &items, const Link &link) {
  std::vector<size_t> chunks = endsOfChunks(items, link);
  // By number of chunks: when they all can be reduced, and where the last bucket then begins.
  std::vector<double> done(chunks.size() + 1, 0);
  std::vector<size_t> begin(chunks.size() + 1, 0);
  for (size_t end = 1; end <= chunks.size(); ++end) {
    double bytes = 0, ready = 0;
    size_t item = chunks[end - 1];
    for (size_t from = end; from-- > 0;) {
      for (; item > (from ? chunks[from - 1] : 0); --item) {
        bytes += double(items[item - 1].bytes);
        ready = std::max(ready, items[item - 1].ready);
      }
      double at = std::max(done[from], ready) + link.startSeconds + bytes / link.bytesPerSecond;
      if (from + 1 == end || at <= done[end]) { // of equal ones that with fewer buckets
        done[end] = at;
        begin[end] = from;
      }
    }
  }
  std::vector<size_t> ends;
  for (size_t end = chunks.size(); end > 0; end = begin[end])
    ends.push_back(chunks[end - 1]);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

double dlc::passes::modelledSeconds(Operation *op) {
  if (auto kernel = dyn_cast<dl::OwnKernelOpInterface>(op))
    return double(kernel.getFlops()) / productsPerSecond;
  double bytes = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      bytes += double(dl::getStorageBytes(tensor));
  return bytes / elementBytesPerSecond;
}
