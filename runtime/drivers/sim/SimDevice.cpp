#include "drivers/sim/SimDevice.h"

#include "drivers/Driver.h"
#include "drivers/sim/SimStream.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace dlc::runtime {

namespace {

StatusOr<int64_t> numberFrom(const char *variable, int64_t least, int64_t most, int64_t otherwise) {
  const char *text = std::getenv(variable);
  if (!text)
    return otherwise;
  int64_t value = 0;
  const char *last = text + std::strlen(text);
  auto [end, error] = std::from_chars(text, last, value);
  if (error != std::errc() || end != last || value < least || value > most)
    return Status(StatusCode::InvalidInput, std::string(variable) + ": expected a number in [" + std::to_string(least) +
                                                ", " + std::to_string(most) + "], got '" + text + "'");
  return value;
}

StatusOr<int> count() {
  StatusOr<SimDeviceOptions> options = SimDeviceOptions::fromEnvironment();
  if (!options.ok())
    return options.status();
  if (options->devices == 0)
    return Status(StatusCode::InvalidInput, "DLC_SIM_DEVICES asks for none");
  return options->devices;
}

StatusOr<std::unique_ptr<Device>> open(int index) {
  StatusOr<SimDeviceOptions> options = SimDeviceOptions::fromEnvironment();
  if (!options.ok())
    return options.status();
  StatusOr<SimOptions> kernels = SimOptions::fromEnvironment();
  if (!kernels.ok())
    return kernels.status();
  return std::unique_ptr<Device>(new SimDevice(index, *options, *kernels));
}

} // namespace

const Driver kSimDriver = {"sim", count, open};

StatusOr<SimDeviceOptions> SimDeviceOptions::fromEnvironment() {
  SimDeviceOptions options;
  StatusOr<int64_t> devices = numberFrom("DLC_SIM_DEVICES", 0, 64, options.devices);
  StatusOr<int64_t> memory = numberFrom("DLC_SIM_MEMORY", 0, INT64_MAX, -1);
  for (const Status &status : {devices.status(), memory.status()})
    if (!status.ok())
      return status;
  options.devices = int(*devices);
  if (*memory >= 0)
    options.memory = *memory;
  if (const char *when = std::getenv("DLC_SIM_STREAM")) {
    if (std::strcmp(when, "late") != 0 && std::strcmp(when, "eager") != 0)
      return Status(StatusCode::InvalidInput,
                    "DLC_SIM_STREAM: expected late or eager, got '" + std::string(when) + "'");
    options.late = std::strcmp(when, "late") == 0;
  }
  return options;
}

SimDevice::SimDevice(int index, const SimDeviceOptions &options, const SimOptions &kernels)
    : Device({"sim", index}), late(options.late), memory_(id(), options.memory.value_or(Pages::installedBytes())),
      kernelOptions(kernels), schedule_(options.late) {}

std::string SimDevice::description() const {
  return std::string("simulated on the cpu, work is done ") + (late ? "when waited for" : "at once");
}

Status SimDevice::submit(const std::shared_ptr<SimSchedule::Queue> &queue, std::function<Status()> work) {
  schedule_.submit(queue, [this, work = std::move(work)] {
    if (!check().ok())
      return;
    if (Status status = work(); !status.ok())
      (void)fail(status.withContext(id().str()));
  });
  return check();
}

Status SimDevice::runGrid(const SimKernel &kernel, void *const *operands) {
  std::lock_guard guard(shadowLock);
  if (!engine)
    engine = std::make_unique<SimEngine>(kernelOptions);
  return engine->run(kernel, operands, &shadow);
}

StatusOr<std::unique_ptr<Stream>> SimDevice::createStream() {
  if (Status status = check(); !status.ok())
    return status;
  return std::unique_ptr<Stream>(new SimStream(*this));
}

StatusOr<std::unique_ptr<Event>> SimDevice::createEvent() {
  if (Status status = check(); !status.ok())
    return status;
  return std::unique_ptr<Event>(new SimEvent(*this));
}

StatusOr<Device::Block> SimDevice::reserve(std::string_view name, int64_t bytes) {
  StatusOr<char *> base = memory_.reserve(std::string(name), bytes);
  if (!base.ok())
    return base.status();
  note([&](GlobalShadow &known) { known.markUnwritten(*memory_.translate(*base, bytes), size_t(bytes)); });
  return Block{*base, memory_.reserved(*base)};
}

void SimDevice::release(const Block &block) {
  schedule_.finish();
  note([&](GlobalShadow &known) { known.forget(*memory_.translate(block.base, 1), size_t(block.reserved)); });
  memory_.release(block.base);
}

} // namespace dlc::runtime
