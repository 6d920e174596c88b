#pragma once

#include "record/Value.h"

#include "dlc/frontend/Tensor.h"

namespace dlc::record {

/// What backward() left in a leaf.
struct Leaf {
  bool requiresGrad = false;
  Tensor gradient;
  /// Set while the gradient is that of a scaled loss.
  std::optional<Scaled> scaled;
  /// zero_grad() left zeros, which are of any scale.
  bool zero = false;
  /// Set when an optimizer has used the gradient since it was made.
  std::optional<Site> used;
  /// Set when that was in a recorded function, which did not keep it.
  std::optional<Site> spent;
};

/// What of a leaf steers how it is used.
struct LeafFacts {
  bool hasGradient, spent, zero;
  const LossScale *scaledBy;
  bool stale;
  bool operator==(const LeafFacts &) const = default;
};
LeafFacts factsOf(const Leaf &leaf);

/// What views share: the current value and how often it changed. Its place stays, unless state is moved.
struct Storage : Counted {
  explicit Storage(ValueRef value);
  ~Storage();

  const ValueRef &value() const { return current; }
  /// A new current value; counts no version.
  void replace(ValueRef value);
  Leaf &leaf();

  uint64_t version = 0;
  /// Set for state: parameters, buffers, optimizer state, hyper-parameters.
  std::shared_ptr<Variable> variable;
  std::unique_ptr<Leaf> leafData;
  /// A recorded function reads it by identity.
  bool captured = false;
  /// Number of the recording that made it; 0: made outside.
  uint64_t birth = 0;
  /// Counts all storages of the process: later ones are larger.
  const uint64_t serial;

private:
  ValueRef current;
};
void destroy(Storage *storage);
/// The next number of a storage.
uint64_t nextSerial();

/// One step from a base to a view of it.
struct ViewStep {
  enum Kind : uint8_t { Reshape, Permute, Slice, Expand } kind;
  TypeRef type;                 // of the view
  std::vector<int64_t> a, b, c; // permutation, or starts / stops / steps
};

/// What a Tensor handle points to.
struct Impl : Counted {
  Ref<Storage> storage;
  std::vector<ViewStep> chain;
  TypeRef type = nullptr;
  /// Strides in elements, as PyTorch would have them; they decide whether reshape aliases.
  std::vector<int64_t> strides;
  /// Position of the first element in the storage, in elements.
  int64_t offset = 0;
  bool detached = false;
  /// The view's value when the storage's was `cachedBase`.
  ValueRef cached, cachedBase;
};
using ImplRef = Ref<Impl>;
void destroy(Impl *impl);

std::vector<int64_t> denseStrides(TypeRef type);
/// A tensor with a storage of its own.
Tensor makeTensor(ValueRef value);
Tensor makeTensor(Ref<Storage> storage);
/// The impl; an Error when the handle is empty.
Impl &implOf(const Tensor &tensor, const std::source_location &where);
/// Where the tensor lives.
Place &placeOf(const Tensor &tensor, const std::source_location &where);
/// The value now, views replayed, ready to be an operand.
ValueRef valueOf(const Tensor &tensor, const std::source_location &where);
/// The view of a concrete base without recording anything: its memory, or a copy if its elements are scattered. Null
/// where they are scattered and not on the host, or lie with other members of the job.
ValueRef viewInPlace(const Impl &view, const std::source_location &where);
/// In-place write: through a view the base changes.
void write(const Tensor &tensor, ValueRef value, const char *name, const std::source_location &where);

} // namespace dlc::record
