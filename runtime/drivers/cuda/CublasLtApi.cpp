#include "drivers/cuda/CublasLtApi.h"

#include "drivers/cuda/VendorLibrary.h"

#include <string>

namespace dlc::runtime::cublaslt {

namespace {

struct Advice {
  int result;
  const char *text;
};
constexpr Advice kAdvice[] = {
#define DLC_CUBLASLT_RESULT(ours, theirs, value, advice) {value, advice},
    DLC_CUBLASLT_RESULTS(DLC_CUBLASLT_RESULT)
#undef DLC_CUBLASLT_RESULT
};

constexpr VendorLibrary kLibrary = {"", "libcublasLt.so.13", "libcublasLt.so.12",
                                    "; install it, or compile with --matmul=generated",
                                    "; install cuBLAS 12 or newer, or compile with --matmul=generated"};

} // namespace

StatusOr<const Api *> Api::load() {
  static Api api;
  static const Status opened = kLibrary.load({
#define DLC_CUBLASLT_FIELD(result, name, ...) {reinterpret_cast<void **>(&api.name), #name},
      DLC_CUBLASLT_API(DLC_CUBLASLT_FIELD)
#undef DLC_CUBLASLT_FIELD
  });
  if (!opened.ok())
    return opened;
  return &api;
}

Status Api::status(int result, std::string_view function) const {
  if (result == kSuccess)
    return {};
  std::string message = std::string(function) + ": " + cublasLtGetStatusName(result);
  for (const Advice &each : kAdvice)
    if (each.result == result)
      message += std::string(": ") + each.text;
  return {result == kAllocFailed ? StatusCode::LimitExceeded : StatusCode::Internal, std::move(message)};
}

} // namespace dlc::runtime::cublaslt
