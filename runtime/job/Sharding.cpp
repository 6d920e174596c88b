#include "dlc/runtime/Sharding.h"

#include <cstring>

namespace dlc::runtime {

namespace {

/// Copies a block of `extent` between dense tensors of other shapes, from dimension `dim` on.
struct BlockCopy {
  const std::vector<int64_t> &extent, &fromShape, &toShape;
  int64_t bytes; ///< of an element

  void run(const char *from, char *to, size_t dim = 0) const {
    if (dim == extent.size()) {
      std::memcpy(to, from, size_t(bytes));
      return;
    }
    int64_t fromStep = bytes, toStep = bytes;
    for (size_t i = dim + 1; i < extent.size(); ++i) {
      fromStep *= fromShape[i];
      toStep *= toShape[i];
    }
    if (fromStep == toStep && whole(dim + 1)) {
      if (extent[dim] > 0)
        std::memcpy(to, from, size_t(extent[dim] * fromStep));
      return;
    }
    for (int64_t i = 0; i < extent[dim]; ++i)
      run(from + i * fromStep, to + i * toStep, dim + 1);
  }

  /// Whether all dimensions from `dim` on are copied entirely.
  bool whole(size_t dim) const {
    for (; dim < extent.size(); ++dim)
      if (extent[dim] != fromShape[dim] || extent[dim] != toShape[dim])
        return false;
    return true;
  }
};

int64_t offsetOf(const std::vector<int64_t> &begin, const std::vector<int64_t> &shape) {
  int64_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    offset = offset * shape[i] + begin[i];
  return offset;
}

} // namespace

int64_t coordinateOf(const MeshInfo &mesh, const std::string &axis, int64_t member) {
  for (size_t i = mesh.axes.size(); i-- > 0; member /= mesh.axes[i].size)
    if (mesh.axes[i].name == axis)
      return member % mesh.axes[i].size;
  return 0;
}

Part partOf(const ShardingInfo &sharding, const MeshInfo &mesh, int64_t member) {
  Part part{std::vector<int64_t>(sharding.shape.size()), sharding.shape};
  for (size_t i = 0; i < sharding.dims.size(); ++i) {
    const DimSharding &dim = sharding.dims[i];
    if (dim.axes.empty())
      continue;
    size_t index = 0;
    for (const std::string &axis : dim.axes)
      index = index * size_t(mesh.size({axis})) + size_t(coordinateOf(mesh, axis, member));
    part.begin[i] = dim.borders[index];
    part.extent[i] = dim.borders[index + 1] - dim.borders[index];
  }
  return part;
}

TensorType wholeType(const ValueInfo &value) {
  return value.sharding ? TensorType{value.type.dtype, value.sharding->shape} : value.type;
}

void takePart(const ValueInfo &value, const MeshInfo &mesh, int64_t member, const void *whole, void *part) {
  if (!value.sharding) {
    std::memcpy(part, whole, size_t(value.type.bytes()));
    return;
  }
  Part range = partOf(*value.sharding, mesh, member);
  int64_t bytes = byteSize(value.type.dtype);
  BlockCopy{range.extent, value.sharding->shape, value.type.shape, bytes}.run(
      static_cast<const char *>(whole) + offsetOf(range.begin, value.sharding->shape) * bytes,
      static_cast<char *>(part));
}

void putPart(const ValueInfo &value, const MeshInfo &mesh, int64_t member, const void *part, void *whole) {
  if (!value.sharding) {
    std::memcpy(whole, part, size_t(value.type.bytes()));
    return;
  }
  Part range = partOf(*value.sharding, mesh, member);
  int64_t bytes = byteSize(value.type.dtype);
  BlockCopy{range.extent, value.type.shape, value.sharding->shape, bytes}.run(
      static_cast<const char *>(part),
      static_cast<char *>(whole) + offsetOf(range.begin, value.sharding->shape) * bytes);
}

} // namespace dlc::runtime
