#pragma once

#include "dlc/frontend/Optim.h"

#include <memory>
#include <string>

namespace dlc {

namespace detail {
struct ScalerState;
}

struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  /// So many steps in a row without an infinity or NaN let the scale grow; 0: it never changes.
  int64_t growth_interval = 2000;
  /// Without, the scale never changes; steps are skipped all the same.
  bool dynamic = true;
  /// Without, all functions do what they would at scale 1, and check nothing.
  bool enabled = true;
  /// Prefix of the state's names.
  std::string name = "scaler";
};

/// Keeps the gradients of 16-bit computations in range: multiplies losses, divides gradients, skips steps in which one
/// is infinite or NaN, and adapts the factor, as torch.amp.GradScaler does. Everything is recorded, so inside jit it
/// costs no visit to the host. Calls out of order are Errors. Copies of the handle share the state.
///
///     scaler.scale(loss).backward();
///     scaler.unscale_(optimizer); // to clip or read gradients; else step() does it
///     nn::utils::clip_grad_norm_(model.parameters(), 1);
///     scaler.step(optimizer);
///     scaler.update();
class GradScaler {
public:
  explicit GradScaler(GradScalerOptions options = {}, Where where = Where::current());

  /// loss times the scale; its gradients are marked as scaled.
  Tensor scale(const Tensor &loss, Where where = Where::current()) const;
  /// Divides the gradients of the optimizer's parameters by the scale, and notes whether all are finite. Once between
  /// two calls of update(), behind the last backward().
  void unscale_(const optim::Optimizer &optimizer, Where where = Where::current());
  /// unscale_() unless it has been called, then the optimizer's step, which leaves parameters, state and counts as they
  /// are if a gradient was not finite.
  void step(optim::Optimizer &optimizer, Where where = Where::current());
  /// The scale for the next step: less after a skipped one, more after growth_interval others. It stays finite. Legal
  /// without step().
  void update(Where where = Where::current());

  /// The scale now; a demand, as item() is. 1 unless enabled.
  double get_scale(Where where = Where::current()) const;
  bool is_enabled() const;
  /// `scaler.scale` and `scaler.growth_tracker`, the number of steps since the scale last changed.
  StateDict state_dict() const;
  void load_state_dict(const StateDict &state, LoadOptions options = {}, Where where = Where::current());

private:
  std::shared_ptr<detail::ScalerState> state;
};

namespace nn::utils {

// Gradient transforms; on what is in `.grad`, tensors without one are left out. Scaled gradients are an Error: call
// scaler.unscale_(optimizer) before. Under DataParallel gradients are those of the whole batch.

/// Scales all gradients together so that their norm, as of one vector, is at most max_norm: times max_norm / (norm +
/// 1e-6) where that is below 1, PyTorch's formula. Returns the norm before, a tensor.
Tensor clip_grad_norm_(const std::vector<Parameter> &parameters, double max_norm, Where where = Where::current());
/// Every element into [-clip_value, clip_value]; NaN stays.
void clip_grad_value_(const std::vector<Parameter> &parameters, double clip_value, Where where = Where::current());
/// Each tensor gets mean 0 and variance 1: (g - mean) / (deviation + eps), deviation² the mean of (g - mean)².
void standardize_grad_(const std::vector<Parameter> &parameters, double eps = 1e-8, Where where = Where::current());
/// Subtracts the mean over all dims but the first from tensors of two or more dims. H. Yong et al., "Gradient
/// centralization", ECCV 2020.
void centralize_grad_(const std::vector<Parameter> &parameters, Where where = Where::current());

} // namespace nn::utils
} // namespace dlc
