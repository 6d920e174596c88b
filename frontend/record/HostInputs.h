#pragma once

#include "dlc/runtime/Abi.h"
#include "record/Value.h"

#include <span>

namespace dlc::record {

/// Arguments of a device's program that the host gives at each call, scalars mostly: packed, and copied in one piece.
class HostInputs {
public:
  /// The arguments at `which` are host memory; those of another place need none of this.
  HostInputs(Place &place, std::vector<size_t> which);

  /// The arguments with the host's in memory of the place, until the next call.
  std::span<const DlcBuffer> give(std::span<const DlcBuffer> arguments, const std::source_location &where);

private:
  Place *place;
  std::vector<size_t> which;
  std::shared_ptr<Buffer> block, packed;
  std::vector<DlcBuffer> given;
};

} // namespace dlc::record
