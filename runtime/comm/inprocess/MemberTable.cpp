#include "comm/inprocess/MemberTable.h"

#include <thread>

namespace dlc::runtime {

void MemberTable::announce() {
  // A sleeper counts itself before it looks at what we just wrote, so either it sees that or we see it.
  if (sleepers == 0)
    return;
  std::lock_guard guard(lock);
  changed.notify_all();
}

Status MemberTable::fail(const Status &why) {
  std::lock_guard guard(lock);
  if (!failed) {
    failure_ = why;
    failed = true;
  }
  changed.notify_all();
  return failure_;
}

Status MemberTable::failure() const {
  std::lock_guard guard(lock);
  return failure_;
}

Status MemberTable::lost(int member) {
  return fail({StatusCode::PeerFailed, names[size_t(member)] + " has left group '" + name + "'"});
}

void MemberTable::settle() const {
  for (int m = 0; m < size(); ++m)
    while (members[size_t(m)].visiting)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
}

} // namespace dlc::runtime
