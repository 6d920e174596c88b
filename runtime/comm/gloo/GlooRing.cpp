#include "comm/gloo/GlooRing.h"
#include "comm/host/BlockedSignals.h"

#include <cstring>
#include <exception>

#include <gloo/transport/unbound_buffer.h>

namespace dlc::runtime {

GlooRing::GlooRing(GlooContext &context, const Group &group, std::function<void(const std::string &)> failed)
    : context(context), nextName(group.members[size_t(group.rank + 1) % group.members.size()]),
      size(int(group.members.size())), before((group.rank + size - 1) % size), next((group.rank + 1) % size),
      failed(std::move(failed)) {
  if (size == 1)
    return;
  watched = context.buffer(next, false, &heard, sizeof heard);
  BlockedSignals blocked;
  thread = std::thread([this] { watch(); });
}

GlooRing::~GlooRing() {
  if (size == 1)
    return;
  watched->abortWaitRecv();
  thread.join();
}

void GlooRing::watch() {
  std::string text;
  try {
    watched->recv(next, kSlot);
    if (!watched->waitRecv(GlooContext::kNever) || !heard.failed)
      return;
    text.assign(heard.text, strnlen(heard.text, sizeof heard.text));
  } catch (const std::exception &error) {
    text = "lost " + nextName + ": " + error.what();
  }
  failed(text);
}

void GlooRing::tell(const std::string &text) noexcept {
  std::lock_guard guard(telling);
  if (hasTold || size == 1)
    return;
  hasTold = true;
  told.failed = !text.empty();
  std::strncpy(told.text, text.c_str(), sizeof told.text - 1);
  try {
    // A member that does not read is stopped or stuck; then the connections may close, which is next anyway.
    auto buffer = context.buffer(before, true, &told, sizeof told);
    buffer->send(before, kSlot);
    buffer->waitSend(std::chrono::milliseconds(200));
  } catch (const std::exception &) {
    return; // it is gone itself
  }
}

} // namespace dlc::runtime
