#include "dlc/runtime/Executable.h"

#include "base/Elf.h"
#include "base/MappedFile.h"

#include <dlfcn.h>

namespace dlc {

namespace {

StatusOr<Manifest> manifestOf(const MappedFile &file) {
  StatusOr<std::span<const std::byte>> section = elfSection(file.bytes(), ".dlc.manifest");
  if (!section.ok())
    return section.status();
  std::string_view text(reinterpret_cast<const char *>(section->data()), section->size());
  // The section may be padded with zeros after the text.
  return Manifest::parse(text.substr(0, text.find('\0')));
}

} // namespace

StatusOr<Manifest> readManifest(const std::string &path) {
  StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file.ok())
    return file.status().withContext(path);
  StatusOr<Manifest> manifest = manifestOf(**file);
  if (!manifest.ok())
    return manifest.status().withContext(path);
  return manifest;
}

// What later readers of the image rely on.
static Status checkTables(const Executable &executable) {
  const Manifest &manifest = executable.manifest();
  for (size_t i = 0; i < manifest.entries.size(); ++i)
    if ((executable.hasEntries() && !executable.entry(i)) ||
        (executable.hasDeviceEntries() && !executable.deviceEntry(i)))
      return {StatusCode::InvalidInput, "the image has no code for entry '" + manifest.entries[i].name + "'"};
  std::span<const DlcSimKernel> kernels = executable.simKernels();
  if (!kernels.empty() && kernels.size() != manifest.kernels.size())
    return {StatusCode::InvalidInput, "the manifest names " + std::to_string(manifest.kernels.size()) +
                                          " kernels, the image has " + std::to_string(kernels.size())};
  for (size_t i = 0; i < kernels.size(); ++i)
    if (!kernels[i] && !manifest.kernels[i].call)
      return {StatusCode::InvalidInput, "the image has no code for kernel '" + manifest.kernels[i].name + "'"};
  if (!kernels.empty() && !executable.simApi())
    return {StatusCode::InvalidInput, "the image has kernels for sim, but no place for their services"};
  return {};
}

StatusOr<std::shared_ptr<const Executable>> Executable::fromImage(const DlcImage &image,
                                                                  std::shared_ptr<const void> owner) {
  if (image.abi >> 16 != DLC_ABI_VERSION >> 16)
    return Status(StatusCode::InvalidInput, "compiled for ABI " + std::to_string(image.abi >> 16) +
                                                ", this runtime has ABI " + std::to_string(DLC_ABI_VERSION >> 16) +
                                                "; compile again");
  StatusOr<Manifest> manifest = Manifest::parse({image.manifest, image.manifestBytes});
  if (!manifest.ok())
    return manifest.status();
  if (manifest->entries.size() != image.entryCount)
    return Status(StatusCode::InvalidInput, "the manifest names " + std::to_string(manifest->entries.size()) +
                                                " entries, the image has " + std::to_string(image.entryCount));
  std::shared_ptr<const Executable> executable(new Executable(manifest.take(), &image, std::move(owner)));
  if (Status status = checkTables(*executable); !status.ok())
    return status;
  return executable;
}

StatusOr<std::shared_ptr<const Executable>> Executable::load(const std::string &path) {
  StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file.ok())
    return file.status().withContext(path);
  Status checked = checkSelfContained((*file)->bytes());
  StatusOr<Manifest> manifest = checked.ok() ? manifestOf(**file) : checked;
  if (!manifest.ok())
    return manifest.status().withContext(path);
  // dlopen searches the library path for a bare name.
  std::string location = path.find('/') == std::string::npos ? "./" + path : path;
  std::shared_ptr<void> handle(dlopen(location.c_str(), RTLD_NOW | RTLD_LOCAL), [](void *library) {
    if (library)
      dlclose(library);
  });
  if (!handle)
    return Status(StatusCode::InvalidInput, path + ": cannot be loaded: " + dlerror());
  auto function = reinterpret_cast<DlcImageFunction>(dlsym(handle.get(), "dlc_image_v1"));
  if (!function)
    return Status(StatusCode::InvalidInput, path + ": not a dlc artifact: expected the symbol dlc_image_v1");
  StatusOr<std::shared_ptr<const Executable>> result = fromImage(*function(), std::move(handle));
  if (!result.ok())
    return result.status().withContext(path);
  return result;
}

std::optional<size_t> Executable::findEntry(std::string_view name) const {
  for (size_t index = 0; index < manifest_.entries.size(); ++index)
    if (manifest_.entries[index].name == name)
      return index;
  return std::nullopt;
}

std::span<const DlcSimKernel> Executable::simKernels() const {
  if (!since(1) || !image->simKernels)
    return {};
  return {image->simKernels, image->simKernelCount};
}

std::span<const DlcDeviceCode> Executable::deviceCode() const {
  if (!since(1) || !image->deviceCode)
    return {};
  return {image->deviceCode, image->deviceCodeCount};
}

Status Executable::notCompiledFor(const DeviceId &device, std::string_view target) const {
  std::string has;
  for (const std::string &each : manifest_.targets)
    has += (has.empty() ? "" : ", ") + each;
  return {StatusCode::InvalidInput, device.str() + ": the program was compiled for " + (has.empty() ? "nothing" : has) +
                                        "; compile it with --target=" + std::string(target)};
}

const void *Executable::initialData(uint64_t offset, uint64_t bytes) const {
  if (offset > image->initialBytes || image->initialBytes - offset < bytes)
    return nullptr;
  return static_cast<const char *>(image->initial) + offset;
}

} // namespace dlc
