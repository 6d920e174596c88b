#pragma once

#include "dlc/runtime/Manifest.h"

#include <cstdint>
#include <vector>

namespace dlc::runtime {

/// A member's place along an axis of the mesh, from 0.
int64_t coordinateOf(const MeshInfo &mesh, const std::string &axis, int64_t member);

/// The range of a whole tensor that one member owns.
struct Part {
  std::vector<int64_t> begin, extent;
};
Part partOf(const ShardingInfo &sharding, const MeshInfo &mesh, int64_t member);

/// The type of the whole tensor of which a value is a part; its own where it is none.
TensorType wholeType(const ValueInfo &value);

/// Copies what a member owns of the whole, both dense on the host, to the front of its part of type `value.type`; the
/// padding behind stays as it is.
void takePart(const ValueInfo &value, const MeshInfo &mesh, int64_t member, const void *whole, void *part);
/// The other way round.
void putPart(const ValueInfo &value, const MeshInfo &mesh, int64_t member, const void *part, void *whole);

} // namespace dlc::runtime
