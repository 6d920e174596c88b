#include "Executor.h"

#include "job/Collectives.h"

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

static int32_t codeOf(DlcExecutor *executor, Status status) {
  if (status.ok())
    return DLC_OK;
  bool peer = status.code() == StatusCode::PeerFailed;
  executor->refusal = std::move(status);
  return peer ? DLC_PEER_FAILED : DLC_INTERNAL;
}

static int32_t launch(DlcExecutor *executor, uint32_t kernel, void *const *pointers) {
  return codeOf(executor, executor->replay->launch(kernel, pointers));
}

static int32_t copy(DlcExecutor *executor, void *to, const void *from, int64_t bytes) {
  return codeOf(executor, executor->replay->copy(to, from, bytes));
}

static int32_t fetch(DlcExecutor *executor, void *to, const void *from, int64_t bytes) {
  Status status = executor->replay->boundary();
  if (status.ok())
    status = executor->stream->copyToHost(to, from, bytes);
  return codeOf(executor, status.ok() ? executor->stream->synchronize() : status);
}

static int32_t collectiveStart(DlcExecutor *executor, uint32_t collective, const void *from, void *to) {
  runtime::Collectives *collectives = executor->collectives;
  if (!collectives)
    return codeOf(executor, {StatusCode::InvalidInput, "a program with collectives needs a job of several members"});
  return codeOf(executor, executor->team ? collectives->start(collective, from, to)
                                         : executor->replay->start(collective, from, to));
}

static int32_t collectiveWait(DlcExecutor *executor, uint32_t collective) {
  if (!executor->collectives)
    return collectiveStart(executor, collective, nullptr, nullptr);
  return codeOf(executor,
                executor->team ? executor->collectives->wait(collective) : executor->replay->wait(collective));
}

const DlcApi kCpuApi = {DLC_ABI_VERSION, sizeof(DlcApi),  parallelFor,    fail,   nullptr,
                        nullptr,         collectiveStart, collectiveWait, nullptr};
const DlcApi kDeviceApi = {DLC_ABI_VERSION, sizeof(DlcApi), nullptr, fail, launch, copy,
                           collectiveStart, collectiveWait, fetch};

} // namespace dlc
