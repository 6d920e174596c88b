#include "launch/Nodes.h"

#include "rendezvous/Digest.h"
#include "rendezvous/Secret.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace dlc::launch {
namespace {

using Clock = std::chrono::steady_clock;

/// Read as ranks read their job's contract.
StatusOr<runtime::Contract> contractOf(const Arguments &arguments, const runtime::Environment &base) {
  runtime::Environment variables;
  for (std::string_view name : {"DLC_SECRET", "DLC_SECRET_FILE", "DLC_TIMEOUT"})
    if (auto found = base.find(name); found != base.end())
      variables.insert(*found);
  if (!arguments.timeout.empty())
    variables["DLC_TIMEOUT"] = arguments.timeout;
  if (!arguments.secretFile.empty())
    variables["DLC_SECRET_FILE"] = arguments.secretFile;
  if (arguments.nodes > 1) {
    setPlace(variables, {arguments.nodeRank, arguments.nodes, 0, 1});
    variables["MASTER_ADDR"] = arguments.masterHost;
    variables["MASTER_PORT"] = std::to_string(arguments.masterPort);
  }
  return runtime::detectContract(variables);
}

} // namespace

StatusOr<std::unique_ptr<Nodes>> Nodes::meet(const Arguments &arguments, const runtime::Environment &base) {
  StatusOr<runtime::Contract> contract = contractOf(arguments, base);
  if (!contract.ok())
    return contract.status();
  std::unique_ptr<Nodes> nodes(new Nodes(arguments, contract.take()));
  if (arguments.nodes > 1)
    if (Status status = nodes->join(); !status.ok())
      return status;
  return nodes;
}

Status Nodes::join() {
  StatusOr<std::string> secret = runtime::readSecret(contract_);
  if (!secret.ok())
    return secret.status();
  secret_ = secret.take();
  StatusOr<std::unique_ptr<runtime::Store>> store = runtime::rendezvous(contract_);
  if (!store.ok())
    return store.status().withContext(
        "the launchers of the nodes do not meet (WORLD_SIZE is --nnodes here, rank --node-rank)");
  store_ = store.take();
  if (Status status = store_->setWhenLost(NodeRound::goneKey(contract_.rank), "gone"); !status.ok())
    return status;
  return placeRanks();
}

/// Nodes may have different numbers of ranks.
Status Nodes::placeRanks() {
  std::string prefix = "launch/ranks/";
  if (Status status = store_->set(prefix + std::to_string(contract_.rank), std::to_string(ranks_)); !status.ok())
    return status;
  worldSize_ = 0;
  for (int node = 0; node < contract_.worldSize; ++node) {
    StatusOr<std::string> text = store_->get(prefix + std::to_string(node), Clock::now() + contract_.timeout);
    if (!text.ok())
      return text.status().withContext("node " + std::to_string(node));
    if (node == contract_.rank)
      firstRank_ = worldSize_;
    int ranks = 0;
    std::from_chars(text->data(), text->data() + text->size(), ranks);
    worldSize_ += ranks;
  }
  return {};
}

StatusOr<MeetingPoint> Nodes::open(uint64_t generation, int &restartsLeft,
                                   std::function<void(const std::string &)> report) {
  std::string key = "launch/" + std::to_string(generation) + "/meeting", fresh;
  if (contract_.rank == 0) {
    StatusOr<MeetingPoint> point = serve(generation, fresh, std::move(report));
    if (!point.ok() || !store_)
      return point;
    Status status = store_->set(key, std::to_string(point->port) + " " + std::to_string(restartsLeft) + " " + fresh);
    return status.ok() ? point : status;
  }
  StatusOr<std::string> text =
      store_->get(key, Clock::now() + std::min(contract_.timeout, std::chrono::milliseconds(30'000)));
  if (!text.ok())
    return text.status().withContext("node 0 does not say where its ranks meet");
  MeetingPoint found = point(generation);
  std::istringstream words(*text);
  words >> found.port >> restartsLeft >> fresh;
  found.secret = secretOf(fresh);
  return found;
}

MeetingPoint Nodes::point(uint64_t generation) const {
  return {store_ ? contract_.masterAddress : "127.0.0.1", 0, "", generation};
}

StatusOr<MeetingPoint> Nodes::serve(uint64_t generation, std::string &fresh,
                                    std::function<void(const std::string &)> report) {
  StatusOr<runtime::Digest> nonce = runtime::drawNonce();
  if (!nonce.ok())
    return nonce.status();
  fresh = runtime::hex(runtime::view(*nonce));
  MeetingPoint made = point(generation);
  made.secret = secretOf(fresh);
  runtime::TcpStoreOptions options;
  options.address = made.host;
  options.secret = made.secret;
  options.generation = generation;
  options.report = std::move(report);
  server_.reset();
  StatusOr<std::unique_ptr<runtime::StoreServer>> server = runtime::serveStore(options);
  if (!server.ok())
    return server.status();
  server_ = server.take();
  made.port = server_->port();
  return made;
}

/// With several nodes it is made of their common secret and never sent.
std::string Nodes::secretOf(const std::string &fresh) const {
  return store_ ? runtime::hex(runtime::view(runtime::hmac(secret_, "dlc launch " + fresh))) : fresh;
}

std::unique_ptr<NodeRound> Nodes::begin(uint64_t generation) {
  return store_ ? std::make_unique<NodeRound>(*store_, contract_, generation, shutDownTime_) : nullptr;
}

void Nodes::leave() {
  if (!store_)
    return;
  runtime::Contract contract = contract_;
  contract.timeout = std::min(contract.timeout, std::chrono::milliseconds(5000)); // some may be lost
  (void)runtime::leave(*store_, contract);
}

} // namespace dlc::launch
