#include "dlc/runtime/Session.h"

#include <cstring>

namespace dlc {

static Status invalid(const std::string &message) { return {StatusCode::InvalidInput, message}; }

static Status checkSize(const Session::Variable *variable, std::string_view name, size_t bytes) {
  if (!variable)
    return invalid("no variable is named '" + std::string(name) + "'");
  if (size_t(variable->type.bytes()) != bytes)
    return invalid("variable '" + std::string(name) + "' is " + variable->type.str() + " of " +
                   std::to_string(variable->type.bytes()) + " bytes, got " + std::to_string(bytes));
  return {};
}

Status Session::read(std::string_view name, std::span<std::byte> to) const {
  const Variable *variable = find(name);
  Status status = checkSize(variable, name, to.size());
  return status.ok() ? download(to.data(), variable->data, std::ssize(to)) : status;
}

Status Session::write(std::string_view name, std::span<const std::byte> from) {
  const Variable *variable = find(name);
  Status status = checkSize(variable, name, from.size());
  return status.ok() ? upload(variable->data, from.data(), std::ssize(from)) : status;
}

Status Session::save(const std::string &path) const {
  std::lock_guard guard(lock);
  std::vector<TensorView> tensors;
  tensors.reserve(variables_.size());
  std::vector<std::vector<std::byte>> copies;
  for (const auto &[name, variable] : variables_) {
    const void *data = variable.data;
    if (!device_.isHost()) {
      std::vector<std::byte> &copy = copies.emplace_back(size_t(variable.type.bytes()));
      if (Status status = stream_->copyToHost(copy.data(), data, variable.type.bytes()); !status.ok())
        return status;
      data = copy.data();
    }
    tensors.push_back({name, variable.type.dtype, variable.type.shape, data});
  }
  if (Status status = stream_->synchronize(); !status.ok())
    return status;
  return writeSafetensors(path, tensors);
}

Status Session::load(const std::string &path, bool strict) {
  StatusOr<Safetensors> file = Safetensors::open(path);
  if (!file.ok())
    return file.status();
  std::lock_guard guard(lock);
  std::string missing, unexpected, differs;
  for (const auto &[name, variable] : variables_) {
    const TensorView *tensor = file->find(name);
    if (!tensor)
      missing += " " + name;
    else if (TensorType type{tensor->dtype, tensor->shape}; type != variable.type)
      differs += " " + name + " is " + variable.type.str() + ", the file has " + type.str() + ";";
  }
  for (const TensorView &tensor : file->tensors())
    if (!variables_.contains(tensor.name))
      unexpected += " " + tensor.name;
  if (!differs.empty() || (strict && !(missing.empty() && unexpected.empty())))
    return invalid(path + ": does not fit the program; missing:" + (missing.empty() ? " none" : missing) +
                   "; unexpected:" + (unexpected.empty() ? " none" : unexpected) +
                   "; differing:" + (differs.empty() ? " none" : differs));
  for (const auto &[name, variable] : variables_)
    if (const TensorView *tensor = file->find(name))
      if (Status status = stream_->copyToDevice(variable.data, tensor->data, variable.type.bytes()); !status.ok())
        return status;
  if (Status status = stream_->synchronize(); !status.ok())
    return status;
  poisoned = false;
  return {};
}

} // namespace dlc
