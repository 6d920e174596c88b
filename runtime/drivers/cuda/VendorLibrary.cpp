#include "drivers/cuda/VendorLibrary.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace dlc::runtime {

const char *VendorLibrary::replacement() {
  const char *path = std::getenv("DLC_GPU_LIBRARY");
  return path && *path ? path : nullptr;
}

Status VendorLibrary::load(std::initializer_list<Symbol> symbols) const {
  const char *replaced = replacement(), *opened = replaced ? replaced : name;
  void *library = dlopen(opened, RTLD_NOW | RTLD_LOCAL);
  std::string why = library ? "" : dlerror();
  if (!library && replaced)
    return {StatusCode::InvalidInput, "DLC_GPU_LIBRARY: " + why};
  if (!library && older)
    library = dlopen(opened = older, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    // One that is there may lack another one.
    std::string first = name;
    bool isAbsent = why.starts_with(first + ": cannot open shared object file");
    return {StatusCode::InvalidInput, std::string(absent) + first +
                                          (isAbsent ? " was not found" : " cannot be loaded (" + why + ")") +
                                          std::string(install)};
  }
  for (const auto &[field, symbol] : symbols) {
    *field = dlsym(library, symbol);
    if (!*field && !partial)
      return {StatusCode::InvalidInput, std::string(opened) + " has no " + symbol + std::string(renew)};
  }
  return {};
}

} // namespace dlc::runtime
