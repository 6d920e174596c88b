#include "comm/nccl/NcclApi.h"

#include "drivers/cuda/VendorLibrary.h"

#include <string>
#include <utility>

namespace dlc::runtime::nccl {

static constexpr VendorLibrary kLibrary = {"no NCCL: ", "libnccl.so.2", nullptr, "; install it, or use --comm=auto",
                                           "; install NCCL 2.18 or newer"};

StatusOr<const Api *> Api::load() {
  static Api api;
  static const Status opened = kLibrary.load({
#define DLC_NCCL_FIELD(result, name, ...) {reinterpret_cast<void **>(&api.name), #name},
      DLC_NCCL_API(DLC_NCCL_FIELD)
#undef DLC_NCCL_FIELD
  });
  if (!opened.ok())
    return opened;
  return &api;
}

int typeOf(DType type) {
  switch (type) {
  case DType::F64:
    return kFloat64;
  case DType::F32:
    return kFloat32;
  case DType::I64:
    return kInt64;
  case DType::I32:
    return kInt32;
  case DType::I8:
    return kInt8;
  case DType::I1:
    return kUint8;
  case DType::F16:
    return kFloat16;
  case DType::BF16:
    return kBfloat16;
  }
  return kInt8;
}

int reduceOf(Reduce reduce) { return reduce == Reduce::Sum ? kSum : reduce == Reduce::Max ? kMax : kMin; }

Status Api::status(int result, std::string_view function, Comm comm) const {
  if (result == kSuccess || result == kInProgress)
    return {};
  std::string message = std::string(function) + ": " + ncclGetErrorString(result);
  if (const char *more = ncclGetLastError(comm); more && *more)
    message += std::string(": ") + more;
  return {result == kRemoteError ? StatusCode::PeerFailed : StatusCode::Internal, std::move(message)};
}

} // namespace dlc::runtime::nccl
