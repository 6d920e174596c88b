#pragma once

#include "dlc/frontend/Module.h"
#include "record/Variable.h"

namespace dlc::nn::detail {

/// What handles of a module share.
struct ModuleNode : std::enable_shared_from_this<ModuleNode> {
  struct Child {
    std::string name;
    std::shared_ptr<ModuleNode> node;
  };
  struct NamedBuffer {
    std::string name;
    Buffer buffer;
    bool persistent;
  };
  std::vector<std::pair<std::string, Parameter>> parameters;
  std::vector<NamedBuffer> buffers;
  std::vector<Child> children;
  /// First parent and the name there; later parents share the module.
  std::weak_ptr<ModuleNode> parent;
  std::string nameInParent;
  std::string prefix;
  bool training = true;

  /// "conv1." for a child, "" for a root without a prefix.
  std::string path() const;
  ModuleNode &root();
  /// Own parameters, own buffers, then children: PyTorch's order. Each node is visited once.
  template <typename Visit>
  void walk(const std::string &path, Visit visit) {
    visit(*this, path);
    for (const Child &child : children)
      child.node->walk(path + child.name + ".", visit);
  }
};

/// While it lives, messages name the caller of a module.
class CallScope {
public:
  explicit CallScope(Where where);
  ~CallScope();
  CallScope(const CallScope &) = delete;
  CallScope &operator=(const CallScope &) = delete;

private:
  const trace::Scope *before;
};

/// Gives every variable of the root a place: one segment a role and element type, in state_dict order.
void placeRoot(ModuleNode &root);
record::Variable &variableOf(const Tensor &tensor);

} // namespace dlc::nn::detail

namespace dlc::record {
/// Copies the values of equal names into own state, once everything is checked; all faults in one Error.
void loadState(const StateDict &own, const StateDict &given, bool strict, const std::source_location &where);
} // namespace dlc::record
