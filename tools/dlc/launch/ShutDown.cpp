#include "launch/ShutDown.h"

#include <algorithm>

namespace dlc::launch {

void ShutDown::begin(Time now, std::chrono::milliseconds grace) {
  if (asked())
    return;
  deadline_ = phase_ == Phase::Waiting ? std::min(deadline_, now + grace) : now + grace;
  phase_ = Phase::Waiting;
}

void ShutDown::kill(Time now) {
  if (phase_ == Phase::Killed)
    return;
  phase_ = Phase::Killed;
  deadline_ = now + kKilled;
  again_ = now;
}

ShutDown::Step ShutDown::due(Time now) {
  if (phase_ == Phase::Waiting && now >= deadline_) {
    phase_ = Phase::Asked;
    deadline_ = now + termTime_;
    return Step::Ask;
  }
  if (phase_ == Phase::Asked && now >= deadline_)
    kill(now);
  if (phase_ != Phase::Killed || now < again_)
    return Step::None;
  if (now >= deadline_)
    return Step::GiveUp;
  again_ = now + kAgain;
  return Step::Kill;
}

std::optional<Time> ShutDown::next() const {
  if (phase_ == Phase::Running)
    return {};
  return phase_ == Phase::Killed ? again_ : deadline_;
}

} // namespace dlc::launch
