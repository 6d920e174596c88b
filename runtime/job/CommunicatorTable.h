#pragma once

#include "dlc/runtime/Communicator.h"
#include "dlc/runtime/Manifest.h"
#include "dlc/runtime/Rendezvous.h"
#include "job/FlightRecorder.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dlc::runtime {

/// The communicators of this process's members, made at their first use and kept.
class CommunicatorTable {
public:
  /// `names` are what messages call all members, `devices` where those of this process are; `perProcess` belong to each
  /// process. `engine` may be "auto".
  CommunicatorTable(Store &store, const Contract &contract, std::vector<std::string> names,
                    std::vector<std::string> devices, int perProcess, std::string engine);
  ~CommunicatorTable();

  /// Between these members, in this order; `member` is one of them. `fixedOrder`: sums have one order whatever the
  /// engine. `onHost`: elements are there, or have to come there.
  StatusOr<Communicator *> get(const std::string &name, const std::vector<int> &members, int member, int channel,
                               bool fixedOrder = false, bool onHost = true);

  /// What they did last.
  std::vector<ChannelRecord> history() const;

  /// Ends all there are; there will be no others.
  void abort(const Status &why) noexcept;

private:
  struct Key {
    int member, channel;
    bool fixedOrder;
    bool onHost; ///< of members on devices, whose engine may leave elements there
    std::string name;
    std::vector<int> members;
    auto operator<=>(const Key &) const = default;
  };

  StatusOr<std::unique_ptr<Communicator>> create(const Key &key, const std::string &name);
  std::string engineFor(const Key &key) const;
  const std::string &deviceOf(int member) const { return devices_[size_t(member % perProcess_)]; }
  std::string nameFor(const Key &key);

  Store &store_;
  const Contract &contract_;
  std::vector<std::string> names_, devices_;
  int perProcess_;
  std::string engine_;
  mutable std::mutex lock_;
  std::map<Key, std::unique_ptr<Communicator>> made_;
  Status failure_;
};

/// The members that differ from `member` only along these axes, ascending, itself included.
std::vector<int> groupOf(const MeshInfo &mesh, const std::vector<std::string> &axes, int member);

} // namespace dlc::runtime
