#pragma once

#include "comm/nccl/NcclApi.h"
#include "drivers/cuda/CudaApi.h"

#include <memory>
#include <string>

namespace dlc::runtime {

/// What a channel has on its device: a stream for collectives, one for copies that never waits for other members, and
/// two places for elements.
class NcclDevice {
public:
  /// `name` as in "cuda:1".
  static StatusOr<std::unique_ptr<NcclDevice>> open(const std::string &name);
  /// Where it is on the host's buses, which is the same in all processes: "0000:17:00.0".
  static StatusOr<std::string> addressOf(const std::string &name);
  ~NcclDevice();
  NcclDevice(const NcclDevice &) = delete;
  NcclDevice &operator=(const NcclDevice &) = delete;

  /// The calling thread's calls are for this device from now on.
  Status use() const;

  enum Place : int { In, Out };
  /// The address of a place with room for so many bytes; what it held may be lost.
  StatusOr<char *> room(Place place, int64_t bytes);
  /// Both return when the copy is done.
  Status upload(char *to, const void *from, int64_t bytes) const;
  Status download(void *to, const char *from, int64_t bytes) const;

  /// Marks the end of the collectives so far.
  Status mark() const;
  /// Whether the mark is reached.
  StatusOr<bool> reached() const;

  CUstream stream() const { return collectives; }

private:
  NcclDevice(const CudaApi &api, std::string name) : api(api), name(std::move(name)) {}
  static StatusOr<std::unique_ptr<NcclDevice>> named(const std::string &name);
  Status check(int result, std::string_view function) const;
  StatusOr<CUdevice> find();
  Status prepare(CUdevice found);

  struct Buffer {
    CUdeviceptr address = 0;
    int64_t bytes = 0;
  };

  const CudaApi &api;
  const std::string name;
  CUdevice device = -1; ///< -1: its context is not ours to give back
  CUcontext context = nullptr;
  CUstream collectives = nullptr, copies = nullptr;
  CUevent end = nullptr;
  Buffer buffers[2];
};

} // namespace dlc::runtime
