#include "job/CommunicatorTable.h"

#include <algorithm>
#include <chrono>

namespace dlc::runtime {

CommunicatorTable::CommunicatorTable(Store &store, const Contract &contract, std::vector<std::string> names,
                                     std::vector<std::string> devices, int perProcess, std::string engine)
    : store_(store), contract_(contract), names_(std::move(names)), devices_(std::move(devices)),
      perProcess_(perProcess), engine_(std::move(engine)) {}

CommunicatorTable::~CommunicatorTable() = default;

StatusOr<Communicator *> CommunicatorTable::get(const std::string &name, const std::vector<int> &members, int member,
                                                int channel, bool fixedOrder, bool onHost) {
  // Operations of the two ways would meet in another order on each member if they shared a channel.
  bool either = deviceOf(member).starts_with("cuda:") && (engine_ == "auto" || engine_ == "nccl");
  Key key{member, channel, fixedOrder, onHost || !either, name, members};
  std::string groupName;
  {
    std::lock_guard guard(lock_);
    if (auto found = made_.find(key); found != made_.end())
      return found->second.get();
    if (!failure_.ok())
      return failure_;
    groupName = nameFor(key);
  }
  // Without the lock: other members of this process are waited for here.
  StatusOr<std::unique_ptr<Communicator>> created = create(key, groupName);
  if (!created.ok())
    return created.status();
  std::lock_guard guard(lock_);
  if (!failure_.ok()) {
    (*created)->abort(failure_);
    return failure_;
  }
  return made_.emplace(std::move(key), created.take()).first->second.get();
}

std::vector<ChannelRecord> CommunicatorTable::history() const {
  std::lock_guard guard(lock_);
  std::vector<ChannelRecord> channels;
  channels.reserve(made_.size());
  for (const auto &[key, communicator] : made_)
    channels.push_back({perProcess_ == 1 ? std::string() : names_[size_t(key.member)], key.name, key.channel,
                        std::string(communicator->engine()), communicator->history()});
  return channels;
}

void CommunicatorTable::abort(const Status &why) noexcept {
  std::lock_guard guard(lock_);
  if (failure_.ok())
    failure_ = why;
  for (auto &[key, communicator] : made_)
    communicator->abort(why);
}

StatusOr<std::unique_ptr<Communicator>> CommunicatorTable::create(const Key &key, const std::string &name) {
  StatusOr<CommunicatorFactory *> factory = CommunicatorFactory::open(engineFor(key));
  if (!factory.ok())
    return factory.status();
  Group group{name, int(std::find(key.members.begin(), key.members.end(), key.member) - key.members.begin()), {}};
  for (int member : key.members)
    group.members.push_back(names_[size_t(member)]);
  if (!key.onHost || engine_ == "nccl")
    group.device = deviceOf(key.member);
  return (*factory)->create(store_, group, key.channel, contract_.generation,
                            std::chrono::steady_clock::now() + contract_.timeout, {key.fixedOrder, {}});
}

std::string CommunicatorTable::engineFor(const Key &key) const {
  auto process = [&](int member) { return member / perProcess_; };
  bool together = std::all_of(key.members.begin(), key.members.end(),
                              [&](int member) { return process(member) == process(key.members.front()); });
  // Devices may have a way of their own in a process too, and one who asks for NCCL wants it.
  bool byDevices = engine_ == "nccl" || (engine_ == "auto" && !key.onHost);
  return together && !byDevices ? "inprocess" : engine_;
}

/// The group's name, unlike that of other groups: axes of one name may belong to several meshes, and each axis has a
/// group at each place along the others.
std::string CommunicatorTable::nameFor(const Key &key) {
  std::string name = key.name;
  if (key.members.size() != names_.size())
    name += "." + std::to_string(key.members.front());
  int same = 0;
  for (const auto &[other, communicator] : made_)
    same += other.member == key.member && other.channel == key.channel && other.name == key.name &&
            other.members.size() == key.members.size() && other.members.front() == key.members.front();
  return same == 0 ? name : name + "." + std::to_string(same + 1);
}

static std::vector<int64_t> coordinatesOf(const MeshInfo &mesh, int64_t member) {
  std::vector<int64_t> coordinates(mesh.axes.size());
  for (size_t i = mesh.axes.size(); i-- > 0; member /= mesh.axes[i].size)
    coordinates[i] = member % mesh.axes[i].size;
  return coordinates;
}

std::vector<int> groupOf(const MeshInfo &mesh, const std::vector<std::string> &axes, int member) {
  std::vector<int64_t> mine = coordinatesOf(mesh, member);
  std::vector<int> members;
  for (int other = 0; other < mesh.size(); ++other) {
    std::vector<int64_t> theirs = coordinatesOf(mesh, other);
    bool same = true;
    for (size_t i = 0; i < mine.size(); ++i)
      same &= mine[i] == theirs[i] || std::find(axes.begin(), axes.end(), mesh.axes[i].name) != axes.end();
    if (same)
      members.push_back(other);
  }
  return members;
}

} // namespace dlc::runtime
