#include "Executor.h"

namespace dlc {

static void parallelFor(DlcExecutor *executor, int64_t extent, int64_t grain, DlcRange fn, void *const *pointers,
                        const int64_t *dims) {
  executor->team->parallelFor(extent, grain, fn, pointers, dims);
}

static int32_t fail(DlcExecutor *executor, int32_t code, uint32_t site, int64_t detail) {
  executor->code = code;
  executor->site = site;
  executor->detail = detail;
  return code;
}

const DlcApi kCpuApi = {DLC_ABI_VERSION, sizeof(DlcApi), parallelFor, fail, nullptr, nullptr};

} // namespace dlc
