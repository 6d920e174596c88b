#pragma once

#include "dlc/runtime/Status.h"
#include "dlc/runtime/TensorView.h"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc {

class MappedFile;

/// Texts a safetensors file carries beside its tensors.
using SafetensorsMetadata = std::map<std::string, std::string>;

/// A checked safetensors file; copies share the mapping that the tensors' data points into.
///
/// Accepted is only what the format allows: a header of at most 100 MB that is one JSON object, unique names, known
/// keys and element types, bytes that match shape and type, and data without holes or overlap up to the file's end.
class Safetensors {
public:
  /// Maps and checks `path`; the file must not be shortened in place while this object lives.
  static StatusOr<Safetensors> open(const std::string &path);

  /// Checks a file's content in memory; `bytes` must outlive the result.
  static StatusOr<Safetensors> parse(std::span<const std::byte> bytes);

  /// All tensors in the order of their data.
  const std::vector<TensorView> &tensors() const { return tensors_; }

  /// The tensor of that name, or null; points into tensors().
  const TensorView *find(std::string_view name) const;

  const SafetensorsMetadata &metadata() const { return metadata_; }

private:
  std::shared_ptr<const MappedFile> file_;
  std::vector<TensorView> tensors_;
  std::map<std::string, size_t, std::less<>> indexOfName_;
  SafetensorsMetadata metadata_;
};

/// Writes a safetensors file, replacing `path` in one step: a failure or crash leaves the previous file.
///
/// Data are ordered by element size, largest first, then by name, so every tensor is aligned; two names of one storage
/// are written twice. Names must be unique UTF-8 and not "__metadata__".
Status writeSafetensors(const std::string &path, std::span<const TensorView> tensors,
                        const SafetensorsMetadata &metadata = {});

} // namespace dlc
