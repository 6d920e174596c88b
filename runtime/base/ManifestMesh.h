#pragma once

#include "base/ObjectReader.h"
#include "dlc/runtime/Manifest.h"

namespace dlc {

/// Reads the manifest's "mesh", "collectives" and "fingerprint", where there are any; faults go to `fault`.
void readMesh(ObjectReader &manifest, Manifest &into, Status &fault);

/// Reads a value's "sharding", if it has one.
std::optional<ShardingInfo> readSharding(ObjectReader &value, Status &fault);

/// Adds to the manifest's JSON what a program without a mesh does not have.
void addMeshJson(const Manifest &manifest, nlohmann::json &root);

nlohmann::json shardingJson(const ShardingInfo &sharding);

/// Collectives and shardings fit the mesh, the entries and the sites.
Status checkMesh(const Manifest &manifest);

} // namespace dlc
