#include "drivers/sim/AccessChecker.h"

#include "drivers/sim/SimBlock.h"
#include "drivers/sim/SimSite.h"

#include <algorithm>

namespace dlc {

namespace {

constexpr uint8_t kUnwritten = 0, kWritten = 1, kCopying = 2;

std::string count(uint64_t number, const char *what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

const char *verb(uint32_t access) {
  switch (access) {
  case DLC_SIM_LOAD:
    return "reads ";
  case DLC_SIM_STORE:
    return "writes ";
  default:
    return "updates ";
  }
}

} // namespace

void AccessChecker::beginLaunch(const SimKernel &kernel, void *const *pointers, GlobalShadow &memory) {
  kernel_ = &kernel;
  clock_.beginLaunch();
  operands_.clear();
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    auto [bytes, access] = kernel.operands[i];
    if (bytes && !memory.range(pointers[i], size_t(bytes)).written) {
      if (access == SimAccess::Read || access == SimAccess::ReadWrite)
        memory.markWritten(pointers[i], size_t(bytes));
      else
        memory.markUnwritten(pointers[i], size_t(bytes));
    }
    operands_.push_back({static_cast<const char *>(pointers[i]), uint64_t(bytes), access, {}});
  }
  for (Operand &operand : operands_) // marking may have moved what an earlier one found
    operand.shadow = memory.range(operand.base, operand.bytes);
}

void AccessChecker::beginBlock(SimBlock &block, uint64_t index) {
  block_ = &block;
  blockIndex_ = uint32_t(index);
  sharedBytes_ = 0;
  const auto &shape = kernel_->block;
  clock_.beginBlock(shape[0] * shape[1] * shape[2]);
}

void AccessChecker::setShared(char *base, uint64_t bytes) {
  shared_ = base;
  sharedBytes_ = bytes;
  if (sharedCellMemory_.size() < bytes)
    sharedCellMemory_.resize(bytes);
  sharedCells_ = sharedCellMemory_.data();
  sharedWrittenMemory_.assign(bytes, kUnwritten);
  sharedWritten_ = sharedWrittenMemory_.data();
}

// False: nothing is known about the memory, which is wrong for a pointer into no operand.
bool AccessChecker::locate(const DlcSimSite &site, const char *pointer, Place &place) const {
  if (place.shared()) {
    // Without a variable the access may go anywhere in the block's memory.
    uint64_t begin = site.variable ? site.offset : 0;
    place.extent = site.variable ? site.bytes : sharedBytes_;
    place.offset = pointer - (shared_ + begin);
    if (!isOutside(place)) {
      uint64_t at = begin + uint64_t(place.offset);
      place.shadow = {sharedCells_ + at, sharedWritten_ + at};
    }
    return true;
  }
  auto find = [&](const Operand &operand) {
    return pointer >= operand.base && pointer + place.bytes <= operand.base + operand.bytes;
  };
  auto operand = site.operand >= 0 && size_t(site.operand) < operands_.size()
                     ? operands_.begin() + site.operand
                     : std::find_if(operands_.begin(), operands_.end(), find);
  if (operand == operands_.end())
    return false;
  place.operand = operand - operands_.begin();
  place.extent = operand->bytes;
  place.offset = pointer - operand->base;
  if (!isOutside(place) && operand->shadow.written)
    place.shadow = {operand->shadow.cells + place.offset, operand->shadow.written + place.offset};
  return true;
}

bool AccessChecker::isOutside(const Place &place) const {
  return place.offset < 0 || uint64_t(place.offset) + place.bytes > place.extent;
}

const AccessStamp *AccessChecker::findRace(const SimThread &thread, const Place &place, const ShadowCell &cell) const {
  auto unordered = [&](const AccessStamp &before) {
    // Shared memory is new in each block; what an earlier one left in the cells means nothing.
    return !(place.shared() && !clock_.ofThisBlock(before)) && !clock_.ordered(before, thread.index);
  };
  uint32_t access = place.site->access;
  if (unordered(cell.writer) && !(access == DLC_SIM_ATOMIC && cell.writer.atomic))
    return &cell.writer;
  if (access == DLC_SIM_LOAD)
    return nullptr;
  if (unordered(cell.reader))
    return &cell.reader;
  return unordered(cell.otherReader) ? &cell.otherReader : nullptr;
}

uint64_t AccessChecker::firstWrong(const SimThread &thread, const Place &place) const {
  bool reads = place.site->access != DLC_SIM_STORE;
  for (uint64_t i = 0; i < place.bytes; ++i) {
    uint8_t state = place.shadow.written[i];
    if (state == kCopying || (reads && state == kUnwritten) || findRace(thread, place, place.shadow.cells[i]))
      return i;
  }
  return place.bytes;
}

void AccessChecker::record(const SimThread &thread, const Place &place) {
  AccessStamp now = clock_.now(thread.index, place.site->access == DLC_SIM_ATOMIC);
  bool writes = place.site->access != DLC_SIM_LOAD;
  if (writes)
    std::fill_n(place.shadow.written, place.bytes, kWritten);
  for (uint64_t i = 0; i < place.bytes; ++i) {
    ShadowCell &cell = place.shadow.cells[i];
    if (writes) {
      cell.writer = now;
      cell.writerBlock = blockIndex_;
      continue;
    }
    if (cell.reader.thread != now.thread || cell.readerBlock != blockIndex_)
      cell.otherReader = cell.reader;
    cell.reader = now;
    cell.readerBlock = blockIndex_;
  }
}

std::string AccessChecker::nameOf(const Place &place) const {
  if (!place.shared())
    return "operand " + std::to_string(place.operand);
  return place.site->variable ? "shared variable '" + std::string(place.site->variable) + "'" : "shared memory";
}

std::string AccessChecker::nameOf(const AccessStamp &stamp, uint32_t block) const {
  auto at = [](const std::array<uint32_t, 3> &shape, uint32_t index) {
    return "(" + std::to_string(index % shape[0]) + "," + std::to_string(index / shape[0] % shape[1]) + "," +
           std::to_string(index / (shape[0] * shape[1])) + ")";
  };
  std::string name = "thread " + at(kernel_->block, stamp.thread);
  return clock_.ofThisBlock(stamp) ? name : name + " of block " + at(kernel_->grid, block);
}

std::string AccessChecker::describeOutside(const Place &place) const {
  std::string what = verb(place.site->access) + count(place.bytes, "byte");
  if (!place.shared() && place.operand < 0)
    return what + " outside every operand of the kernel; check the index";
  return what + " at offset " + std::to_string(place.offset) + " of " + nameOf(place) + ", which has " +
         count(place.extent, "byte") + "; check the index and the guard of the last threads";
}

std::string AccessChecker::describeUnaligned(const Place &place) const {
  return verb(place.site->access) + count(place.bytes, "byte") + " at offset " + std::to_string(place.offset) + " of " +
         nameOf(place) + ", an address that is no multiple of " + std::to_string(place.site->alignment) +
         "; use narrower accesses, or check the index";
}

std::string AccessChecker::describeWrong(const SimThread &thread, const Place &place, uint64_t byte) const {
  std::string what =
      verb(place.site->access) + ("offset " + std::to_string(place.offset + int64_t(byte))) + " of " + nameOf(place);
  uint8_t state = place.shadow.written[byte];
  if (state == kCopying)
    return what + ", where an asynchronous copy may still be under way; wait for it, then pass a barrier";
  const ShadowCell &cell = place.shadow.cells[byte];
  const AccessStamp *before = findRace(thread, place, cell);
  if (!before)
    return what + ", which nobody has written; initialize it, or check the index";
  bool wrote = before == &cell.writer;
  const char *advice = clock_.ofThisBlock(*before)
                           ? "; nothing orders the two: a barrier is missing, or the threads' parts overlap"
                           : "; nothing orders two blocks: give each its own part, use atomics or a second kernel";
  return what + ", which " + nameOf(*before, wrote ? cell.writerBlock : cell.readerBlock) +
         (!wrote           ? " read"
          : before->atomic ? " updated"
                           : " wrote") +
         advice;
}

void AccessChecker::access(SimThread &thread, const DlcSimSite &site, const void *pointer, uint64_t bytes) {
  Place place;
  place.site = &site;
  place.bytes = bytes;
  bool known = locate(site, static_cast<const char *>(pointer), place);
  if (!known || isOutside(place)) {
    block_->report(thread, describeOutside(place) + describeSite(&site));
    SimBlock::abandon(thread);
  }
  if (reinterpret_cast<uintptr_t>(pointer) & (site.alignment - 1)) {
    block_->report(thread, describeUnaligned(place) + describeSite(&site));
    SimBlock::abandon(thread);
  }
  if (place.operand >= 0 && site.access != DLC_SIM_LOAD && operands_[place.operand].access == SimAccess::Read) {
    block_->report(thread,
                   verb(site.access) + nameOf(place) + ", which the kernel may only read" + describeSite(&site));
    SimBlock::abandon(thread);
  }
  if (!place.shadow.written)
    return;
  if (uint64_t wrong = firstWrong(thread, place); wrong < bytes) {
    block_->report(thread, describeWrong(thread, place, wrong) + describeSite(&site));
    SimBlock::abandon(thread);
  }
  record(thread, place);
}

void AccessChecker::beginCopy(SimThread &thread, const DlcSimSite &site, const void *to, uint64_t bytes) {
  access(thread, site, to, bytes);
  uint8_t *state = sharedWritten_ + (static_cast<const char *>(to) - shared_);
  std::fill_n(state, bytes, kCopying);
}

void AccessChecker::finishCopy(SimThread &thread, const DlcSimSite &site, const void *to, uint64_t bytes) {
  uint8_t *state = sharedWritten_ + (static_cast<const char *>(to) - shared_);
  std::fill_n(state, bytes, kWritten); // first: the copy's own end is no conflict with it
  access(thread, site, to, bytes);
}

} // namespace dlc
