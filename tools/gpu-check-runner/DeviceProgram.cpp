#include "DeviceProgram.h"

#include "Clock.h"

#include "dlc/runtime/Fill.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dlc::gpucheck {

StatusOr<std::unique_ptr<DeviceProgram>> DeviceProgram::load(const Context &context, const std::string &file,
                                                             const std::string &entry) {
  auto made = std::make_unique<DeviceProgram>();
  auto executable = Executable::load(context.path(file));
  if (!executable.ok())
    return executable.status();
  made->executable = executable.take();
  std::optional<size_t> found = made->executable->findEntry(entry);
  if (!found)
    return Status(StatusCode::InvalidInput, file + " has no entry '" + entry + "'");
  made->index = *found;
  auto session = Session::create({.threads = 1, .device = context.device});
  if (!session.ok())
    return session.status();
  made->session_ = session.take();
  auto program = made->session_->attach(made->executable);
  if (!program.ok())
    return program.status();
  made->program = program.take();
  if (Status status = made->prepare(); !status.ok())
    return status;
  return made;
}

// What is in the stream uses the memory below.
DeviceProgram::~DeviceProgram() {
  if (session_)
    (void)session_->synchronize();
}

Status DeviceProgram::prepare() {
  auto add = [&](const ValueInfo &value, std::vector<DlcBuffer> &to) -> Status {
    auto arena = session_->device().allocate(value.name, value.type.bytes());
    if (!arena.ok())
      return arena.status();
    to.push_back({arena->base(), value.type.bytes()});
    memory.push_back(arena.take());
    return {};
  };
  for (size_t i = 0; i < entry().arguments.size(); ++i) {
    const TensorType &type = entry().arguments[i].type;
    if (Status status = add(entry().arguments[i], arguments); !status.ok())
      return status;
    HostBuffer values(type.bytes());
    InitialValue initial;
    if (isFloat(type.dtype))
      initial = {InitialValue::Kind::Uniform, -1, 1, i, nullptr};
    if (Status status = fill(values.data(), type.dtype, type.elements(), initial, 1); !status.ok())
      return status;
    if (Status status = setArgument(i, values.data()); !status.ok())
      return status;
  }
  for (const ValueInfo &result : entry().results)
    if (Status status = add(result, results); !status.ok())
      return status;
  return {};
}

int64_t DeviceProgram::bytes() const {
  int64_t sum = 0;
  for (const auto *buffers : {&arguments, &results})
    for (const DlcBuffer &buffer : *buffers)
      sum += buffer.bytes;
  return sum;
}

Status DeviceProgram::setArgument(size_t argument, const void *data) {
  return session_->upload(arguments[argument].data, data, arguments[argument].bytes);
}

Status DeviceProgram::start() { return program->callOnDevice(index, arguments, results); }

StatusOr<double> DeviceProgram::result() {
  DType dtype = entry().results.at(0).type.dtype;
  HostBuffer value(8);
  if (Status status = session_->download(value.data(), results[0].data, byteSize(dtype)); !status.ok())
    return status;
  if (dtype == DType::F64) {
    double exact = 0;
    std::memcpy(&exact, value.data(), sizeof exact);
    return exact;
  }
  float single = 0;
  std::memcpy(&single, value.data(), sizeof single);
  return dtype == DType::F32 ? double(single) : std::nan("");
}

StatusOr<double> DeviceProgram::secondsOfCall(double seconds) {
  auto timed = [&](int64_t calls) -> StatusOr<double> {
    double begin = now();
    for (int64_t i = 0; i < calls; ++i)
      if (Status status = start(); !status.ok())
        return status;
    if (Status status = session_->synchronize(); !status.ok())
      return status;
    return (now() - begin) / double(calls);
  };
  double best = 0;
  int64_t calls = 3; // the first of them lazily made, the second captured
  for (int round = 0; round < 5; ++round) {
    StatusOr<double> took = timed(calls);
    if (!took.ok())
      return took.status();
    if (round >= 2)
      best = round == 2 ? *took : std::min(best, *took);
    if (round < 2)
      calls = std::clamp<int64_t>(int64_t(seconds / 3 / std::max(*took, 1e-7)), 1, 20'000);
  }
  return best;
}

} // namespace dlc::gpucheck
