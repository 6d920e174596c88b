#include "drivers/sim/SimServices.h"

#include "drivers/sim/AccessChecker.h"
#include "drivers/sim/AsyncCopies.h"
#include "drivers/sim/SimBlock.h"
#include "drivers/sim/TensorCore.h"
#include "drivers/sim/WarpOps.h"

namespace dlc {

static DlcSimThread *self() { return &SimBlock::running()->current(); }

static void *shared(DlcSimThread *, uint64_t bytes) { return SimBlock::running()->shared(bytes); }

static void barrier(DlcSimThread *thread, const DlcSimSite *site) {
  SimBlock::running()->barrier(simThread(thread), site);
}

static void access(DlcSimThread *thread, const DlcSimSite *site, const void *pointer, uint64_t bytes) {
  if (AccessChecker *checker = SimBlock::running()->checker())
    checker->access(simThread(thread), *site, pointer, bytes);
}

const DlcSimApi *simServices() {
  static const DlcSimApi services = {
      DLC_SIM_ABI_VERSION, sizeof(DlcSimApi), self,       shared,         barrier,           sim::warpBarrier,
      sim::shuffle,        sim::vote,         sim::match, sim::copyAsync, sim::commitCopies, sim::waitCopies,
      sim::loadMatrix,     sim::multiply,     access};
  return &services;
}

} // namespace dlc
