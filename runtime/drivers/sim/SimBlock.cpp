#include "drivers/sim/SimBlock.h"

#include "drivers/sim/AccessChecker.h"
#include "drivers/sim/SimSite.h"

#include <algorithm>
#include <numeric>

namespace dlc {

namespace {

constexpr uint64_t kSharedAlignment = 128;
// A warp can meet under this many different masks in one block; kernels use one or two.
constexpr size_t kMaxMasks = 33;

std::string position(const uint32_t (&at)[3]) {
  return "(" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," + std::to_string(at[2]) + ")";
}

std::string of(uint32_t some, uint32_t all) { return std::to_string(some) + " of " + std::to_string(all); }

} // namespace

thread_local SimBlock *SimBlock::running_ = nullptr;

Status SimBlock::run(const SimLaunch &launch, uint64_t index) {
  begin(launch, index);
  bool byWarp = launch.options->order == SimOrder::Warp || launch.options->order == SimOrder::WarpReverse;
  size_t group = byWarp ? kWarpLanes : count_;
  while (alive_ && !failed_) {
    bool progress = false;
    for (size_t first = 0; first < count_ && !failed_; first += group)
      while (sweep(first, std::min<size_t>(first + group, count_))) {
        progress = true;
        if (!byWarp || failed_)
          break;
      }
    if (!failed_)
      endRound(progress);
  }
  running_ = nullptr;
  if (failed_)
    dropFibers();
  return std::exchange(error_, Status());
}

void SimBlock::begin(const SimLaunch &launch, uint64_t index) {
  running_ = this;
  launch_ = launch;
  const auto &grid = launch.kernel->grid, &block = launch.kernel->block;
  uint32_t count = block[0] * block[1] * block[2];
  if (threads_.size() < count)
    threads_.resize(count);
  uint32_t x = uint32_t(index % grid[0]), y = uint32_t(index / grid[0] % grid[1]);
  uint32_t z = uint32_t(index / (uint64_t(grid[0]) * grid[1]));
  for (uint32_t i = 0; i < count; ++i) {
    SimThread &thread = threads_[i];
    thread.thread[0] = i % block[0];
    thread.thread[1] = i / block[0] % block[1];
    thread.thread[2] = i / (block[0] * block[1]);
    std::copy(block.begin(), block.end(), thread.blockSize);
    std::copy(grid.begin(), grid.end(), thread.gridSize);
    thread.block[0] = x;
    thread.block[1] = y;
    thread.block[2] = z;
    thread.lane = i % kWarpLanes;
    thread.index = i;
    thread.done = false;
    thread.fiber = nullptr;
    thread.waitsFor = nullptr;
    thread.uncommitted.clear();
    thread.committed.clear();
  }
  if (count_ != count || launch.options->order == SimOrder::Random) {
    count_ = count;
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0);
  }
  arrange();
  alive_ = count;
  atBarrier_ = 0;
  sharedBytes_ = 0;
  failed_ = false;
  for (uint32_t warp = 0; warp * kWarpLanes < count; ++warp)
    meetings_[warp].clear();
  if (launch.checker)
    launch.checker->beginBlock(*this, index);
}

void SimBlock::arrange() {
  switch (launch_.options->order) {
  case SimOrder::Random:
    // The same order of a block whichever thread of the host runs it.
    random_.seed(launch_.options->seed * 0x9E3779B97F4A7C15 + threads_[0].block[0] + 1000003ull * threads_[0].block[1]);
    std::shuffle(order_.begin(), order_.end(), random_);
    return;
  case SimOrder::Forward:
  case SimOrder::Warp:
    if (order_.front() != 0)
      std::reverse(order_.begin(), order_.end());
    return;
  case SimOrder::Reverse:
  case SimOrder::WarpReverse:
    if (order_.back() != 0)
      std::reverse(order_.begin(), order_.end());
    return;
  }
}

// Runs every thread of the range that can, once; whether any could.
bool SimBlock::sweep(size_t first, size_t last) {
  bool any = false;
  sweepEnd_ = last;
  for (cursor_ = first; cursor_ < last;) {
    SimThread &thread = threads_[order_[cursor_++]];
    if (thread.done || thread.parked())
      continue;
    any = true;
    if (!resume(thread))
      return true;
  }
  return any;
}

// False: the launch has failed.
bool SimBlock::resume(SimThread &thread) {
  if (!thread.fiber)
    thread.fiber = freshFiber();
  if (!thread.fiber) {
    failed_ = true;
    error_ = describe(nullptr, "no memory for the stacks of the block's threads");
    return false;
  }
  current_ = &thread;
  thread.fiber->enter();
  return !failed_;
}

// After every thread has run as far as it could: the barrier opens, or nothing ever will.
void SimBlock::endRound(bool progress) {
  if (!alive_)
    return;
  if (atBarrier_ == alive_) {
    if (alive_ != count_) {
      failed_ = true;
      error_ =
          describe(nullptr, "the barrier" + describeSite(barrierSite_) + " is reached by " + of(atBarrier_, count_) +
                                " threads and the others have returned; every thread must reach it");
      return;
    }
    atBarrier_ = 0;
    barrierSite_ = nullptr;
    ++barrierPhase_;
    if (launch_.checker)
      launch_.checker->orderBlock();
    return;
  }
  if (progress)
    return;
  failed_ = true;
  std::string message = "deadlock: " + of(atBarrier_, alive_) + " running threads wait at a barrier" +
                        describeSite(barrierSite_) + ", the others in a warp operation that some of its lanes skip";
  error_ = describe(nullptr, message);
}

// Fibers whose threads will never end.
void SimBlock::dropFibers() {
  idleFibers_.clear();
  for (auto &fiber : fibers_) {
    fiber->restart();
    idleFibers_.push_back(fiber.get());
  }
}

Fiber *SimBlock::freshFiber() {
  if (idleFibers_.empty()) {
    std::unique_ptr<Fiber> fiber = Fiber::create(runThreads, this);
    if (!fiber)
      return nullptr;
    idleFibers_.push_back(fiber.get());
    fibers_.push_back(std::move(fiber));
  }
  Fiber *fiber = idleFibers_.back();
  idleFibers_.pop_back();
  return fiber;
}

// What a fiber does: threads from beginning to end. It goes on with the next one of the order as long as that has not
// begun, and is idle otherwise.
void SimBlock::runThreads(void *argument) {
  SimBlock &block = *static_cast<SimBlock *>(argument);
  while (true) {
    Fiber *fiber = block.current_->fiber;
    block.launch_.kernel->function(block.launch_.pointers);
    block.current_->done = true;
    --block.alive_;
    SimThread *next = block.cursor_ < block.sweepEnd_ ? &block.threads_[block.order_[block.cursor_]] : nullptr;
    if (next && !next->done && !next->fiber) {
      ++block.cursor_;
      next->fiber = fiber;
      block.current_ = next;
      continue;
    }
    block.idleFibers_.push_back(fiber);
    fiber->leave();
  }
}

void SimBlock::park(SimThread &thread, const uint64_t &counter) {
  thread.waitsFor = &counter;
  thread.seen = counter;
  thread.fiber->leave();
  thread.waitsFor = nullptr;
}

void SimBlock::barrier(SimThread &thread, const DlcSimSite *site) {
  if (barrierSite_ && site != barrierSite_ && launch_.checker) {
    report(thread, "reaches the barrier" + describeSite(site) + " while others wait at the barrier" +
                       describeSite(barrierSite_) + "; all threads of a block must reach the same one");
    abandon(thread);
  }
  barrierSite_ = site;
  ++atBarrier_;
  park(thread, barrierPhase_);
}

Meeting &SimBlock::meetingOf(SimThread &thread, uint32_t mask) {
  uint32_t lanes = std::min(kWarpLanes, count_ - thread.warp() * kWarpLanes);
  uint32_t present = lanes == kWarpLanes ? ~0u : (1u << lanes) - 1;
  mask &= present;
  if (!(mask >> thread.lane & 1)) {
    report(thread, "calls a warp operation whose mask leaves the calling lane out");
    abandon(thread);
  }
  auto &meetings = meetings_[thread.warp()];
  for (Meeting &meeting : meetings)
    if (meeting.mask == mask)
      return meeting;
  if (meetings.empty())
    meetings.reserve(kMaxMasks); // they must not move: lanes wait at them
  if (meetings.size() == kMaxMasks) {
    report(thread, "uses more than " + std::to_string(kMaxMasks) + " different masks in one warp");
    abandon(thread);
  }
  meetings.emplace_back().mask = mask;
  return meetings.back();
}

void *SimBlock::shared(uint64_t bytes) {
  if (bytes > sharedBytes_) {
    sharedMemory_.resize(std::max<size_t>(sharedMemory_.size(), bytes + kSharedAlignment));
    auto address = reinterpret_cast<uintptr_t>(sharedMemory_.data());
    sharedBase_ = sharedMemory_.data() + (-address & (kSharedAlignment - 1));
    sharedBytes_ = bytes;
    std::memset(sharedBase_, 0xFF, bytes); // NaN: a read of what nobody wrote shows
    if (launch_.checker)
      launch_.checker->setShared(sharedBase_, bytes);
  }
  return sharedBase_;
}

void SimBlock::report(const SimThread &thread, const std::string &message) {
  failed_ = true;
  error_ = describe(&thread, message);
}

Status SimBlock::describe(const SimThread *thread, const std::string &message) const {
  std::string text = "kernel '" + launch_.kernel->name + "', block " + position(threads_[0].block);
  if (thread)
    text += ", thread " + position(thread->thread);
  return Status(StatusCode::Internal, text + ": " + message);
}

} // namespace dlc
