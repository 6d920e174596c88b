#include "drivers/cuda/LaunchLog.h"

#include <utility>

namespace dlc::runtime {

std::string LaunchLog::Launch::str() const {
  const Manifest &manifest = executable->manifest();
  const KernelInfo &info = manifest.kernels[kernel];
  return entry + ": " + manifest.place(uint64_t(info.site)) + ": kernel '" + info.name + "'";
}

std::string LaunchLog::Span::str() const {
  return count == 0 ? "" : first.str() + (count > 1 ? " to " + last.str() : "");
}

void LaunchLog::add(const void *stream, Launch launch) {
  std::lock_guard guard(lock);
  auto captured = noted.find(stream);
  Span &span = captured == noted.end() ? streams[stream] : captured->second;
  if (span.count++ == 0)
    span.first = launch;
  span.last = std::move(launch);
}

void LaunchLog::add(const void *stream, const Span &added) {
  if (added.count == 0)
    return;
  std::lock_guard guard(lock);
  Span &span = streams[stream];
  if (span.count == 0)
    span.first = added.first;
  span.count += added.count;
  span.last = added.last;
}

void LaunchLog::beginNote(const void *stream) {
  std::lock_guard guard(lock);
  noted[stream] = {};
}

LaunchLog::Span LaunchLog::endNote(const void *stream) {
  std::lock_guard guard(lock);
  Span span = std::move(noted[stream]);
  noted.erase(stream);
  return span;
}

void LaunchLog::done(const void *stream) {
  std::lock_guard guard(lock);
  streams.erase(stream);
}

void LaunchLog::clear() {
  std::lock_guard guard(lock);
  streams.clear();
}

std::string LaunchLog::suspects() const {
  std::lock_guard guard(lock);
  std::string text;
  int64_t count = 0;
  for (const auto &[stream, span] : streams) {
    count += span.count;
    text += (text.empty() ? "" : "; ") + span.str();
  }
  if (count > 1)
    text = "one of " + std::to_string(count) + " kernels (" + text + "); DLC_CUDA_SYNC=1 tells which";
  return text;
}

} // namespace dlc::runtime
