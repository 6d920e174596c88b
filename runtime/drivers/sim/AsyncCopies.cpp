#include "drivers/sim/AsyncCopies.h"

#include "drivers/sim/AccessChecker.h"
#include "drivers/sim/SimBlock.h"

#include <algorithm>

namespace dlc::sim {

static void perform(const AsyncCopy &copy) {
  uint32_t some = std::min(copy.bytes, copy.sourceBytes);
  std::memcpy(copy.to, copy.from, some);
  std::memset(static_cast<char *>(copy.to) + some, 0, copy.bytes - some);
}

static void finish(SimThread &thread, const std::vector<AsyncCopy> &copies) {
  SimBlock &block = *SimBlock::running();
  for (const AsyncCopy &copy : copies) {
    if (!block.eagerCopies())
      perform(copy);
    if (AccessChecker *checker = block.checker(); checker && copy.site)
      checker->finishCopy(thread, *copy.site, copy.to, copy.bytes);
  }
}

void copyAsync(DlcSimThread *self, const DlcSimSite *site, void *to, const void *from, uint32_t bytes,
               uint32_t sourceBytes) {
  SimThread &thread = simThread(self);
  SimBlock &block = *SimBlock::running();
  AsyncCopy copy{site, to, from, bytes, sourceBytes};
  if (AccessChecker *checker = block.checker(); checker && site)
    checker->beginCopy(thread, *site, to, bytes);
  if (block.eagerCopies())
    perform(copy);
  thread.uncommitted.push_back(copy);
}

void commitCopies(DlcSimThread *self) {
  SimThread &thread = simThread(self);
  thread.committed.emplace_back(std::move(thread.uncommitted));
  thread.uncommitted.clear();
}

void waitCopies(DlcSimThread *self, uint32_t pending) {
  SimThread &thread = simThread(self);
  if (pending == ~0u) {
    commitCopies(self);
    pending = 0;
  }
  if (thread.committed.size() <= pending)
    return;
  auto first = thread.committed.begin(), last = thread.committed.end() - pending;
  for (auto group = first; group != last; ++group)
    finish(thread, *group);
  thread.committed.erase(first, last);
}

} // namespace dlc::sim
