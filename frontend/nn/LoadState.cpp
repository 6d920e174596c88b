#include "nn/ModuleNode.h"
#include "ops/Primitive.h"
#include "record/Transfer.h"

namespace dlc::record {

namespace {
struct Fault {
  std::vector<std::string> missing, unexpected, differing;
};

void list(std::string &text, const char *what, const std::vector<std::string> &names) {
  if (names.empty())
    return;
  text += (text.empty() ? "" : "; ") + std::string(what) + " " + std::to_string(names.size()) + ": ";
  for (size_t i = 0; i < names.size(); ++i)
    text += (i ? ", " : "") + names[i];
}

std::string difference(const std::string &name, const Tensor &own, const Tensor &given) {
  if (own.shape() != given.shape())
    return name + " is " + own.shape().str() + ", file has " + given.shape().str();
  return name + " is " + std::string(dlc::name(own.dtype())) + ", file has " + std::string(dlc::name(given.dtype()));
}
} // namespace

void loadState(const StateDict &own, const StateDict &given, bool strict, const std::source_location &where) {
  Fault fault;
  for (const auto &[name, tensor] : own) {
    const Tensor *found = given.find(name);
    if (!found)
      fault.missing.push_back(name);
    else if (found->shape() != tensor.shape() || found->dtype() != tensor.dtype())
      fault.differing.push_back(difference(name, tensor, *found));
  }
  for (const auto &[name, tensor] : given)
    if (!own.contains(name))
      fault.unexpected.push_back(name);
  std::string text;
  if (strict) {
    list(text, "missing", fault.missing);
    list(text, "unexpected", fault.unexpected);
  }
  list(text, "shape differs", fault.differing);
  if (!text.empty())
    fail(ErrorKind::State, "load_state_dict: " + text, where);
  for (const auto &[name, tensor] : own)
    if (const Tensor *found = given.find(name))
      hostWrite(nn::detail::variableOf(tensor), readOnHost(*found, where).data, where);
}

} // namespace dlc::record
