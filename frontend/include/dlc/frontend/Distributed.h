#pragma once

#include "dlc/frontend/Module.h"

#include <chrono>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Training in several processes, as torch.distributed has it. A job is the processes that train together; each has the
/// same number of members, one a device. Every rank calls what is here in the same order, except where it says so.
namespace dlc::distributed {

struct InitOptions {
  /// This process's members: "cpu", "cpu:4" (four on the cpu), "sim:2" (sim:0 and sim:1), "cuda:1" (of the host's GPUs
  /// the one of this local rank; see device()). Empty: DLC_DEVICES, else one on the cpu.
  std::string devices = {};
  /// What carries the collectives: "gloo", "mpi", "nccl", "shm", "inprocess". Empty: DLC_COMM, else what fits.
  std::string engine = {};
  /// "data:8": sums over the batch are taken in 8 parts and added as a binary tree, so that results have the same bits
  /// for every number of members that divides 8. A power of two; batch norm and scatters along an inner axis excepted.
  /// Empty: DLC_INVARIANT, else sums have no such order.
  std::string invariant = {};
  /// How long a rank waits for others. Empty: DLC_TIMEOUT, else 300 s.
  std::optional<std::chrono::milliseconds> timeout = {};
};

/// Joins the job that a launcher has described in the environment (MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE,
/// LOCAL_RANK, or mpirun's, srun's or Kubernetes' own), and waits for all its ranks; without one the process is a job
/// of its own. Once a process, and before anything has been computed.
void init(InitOptions options = {}, Where where = Where::current());
bool is_initialized();
/// Whether a launcher (dlc launch, mpirun, srun, …) has started this process as one of several.
bool is_launched(Where where = Where::current());

/// Number of this process, of all processes, of all members, and of this process among those of its host.
int64_t rank(Where where = Where::current());
int64_t world_size(Where where = Where::current());
int64_t num_members(Where where = Where::current());
int64_t local_rank(Where where = Where::current());
/// The device of this process (of its first member): where models and batches of the job belong.
Device device(Where where = Where::current());

/// Leaves the job once all ranks are here. Also done at the end of the program.
void shutdown(Where where = Where::current());
/// Returns when all ranks have called it.
void barrier(Where where = Where::current());

enum class ReduceOp { Sum, Avg, Max, Min };

// Collectives on tensors that each rank has a value of its own of. They run at once; inside a jitted function they make
// it one that is traced at every call.

/// Every rank's tensor becomes the reduction of all of them, in place.
void all_reduce(const Tensor &tensor, ReduceOp op = ReduceOp::Sum, Where where = Where::current());
/// Every rank's tensor becomes what `root` has, in place.
void broadcast(const Tensor &tensor, int64_t root = 0, Where where = Where::current());
/// The tensors of all ranks, in order; their types are equal.
std::vector<Tensor> all_gather(const Tensor &tensor, Where where = Where::current());
/// Of one tensor a rank: the reduction of what all ranks gave for this one.
Tensor reduce_scatter(const std::vector<Tensor> &parts, ReduceOp op = ReduceOp::Sum, Where where = Where::current());

// Tensors of the whole job. What is computed from a split one is computed by all members together, and every value read
// from it is the whole job's: item(), printing and data() gather, so all ranks call them.

/// The tensor whose rows are all ranks' rows, those of rank 0 first. Ranks may give different numbers of rows; each new
/// pattern compiles what reads it once more. With `invariant`, rows that another rank has in a tensor of so many go
/// there, so that bits do not depend on who gave them.
Tensor from_local(const Tensor &rows, Where where = Where::current());
/// A tensor that every rank has, its rows split among the members; each keeps its own.
Tensor shard(const Tensor &tensor, Where where = Where::current());
/// This rank's rows, as a tensor of its own; a tensor that is not split is returned as it is.
Tensor to_local(const Tensor &tensor, Where where = Where::current());
/// Whether the rows are split among the members.
bool is_split(const Tensor &tensor, Where where = Where::current());

/// Runs the function in `processes` processes that are one job, as its ranks 0, 1, …, on this host, and waits for them.
/// The first one that throws, or ends otherwise, ends the others; its rank and message come back as an Error.
///
/// The processes are forked, so the caller may have no threads but its own: call it before anything of dlc has
/// computed, best at the start of main. They share nothing with the caller, who is no rank.
void spawn(const std::function<void(int64_t rank)> &function, int64_t processes, Where where = Where::current());

namespace detail {
/// All ranks have the same variables with the same values; from now on loaders deal out batches.
void startDataParallel(const nn::Module &model, Where where);
} // namespace detail

/// What DataParallel gives: the model itself, by the names that PyTorch's scripts use.
template <typename M>
struct Replica {
  M module;

  auto operator()(Arg x)
    requires std::invocable<M &, Arg>
  {
    return module(x);
  }
  template <typename... A>
    requires(sizeof...(A) != 1 || !std::invocable<M &, Arg>)
  auto operator()(A &&...arguments) {
    return module(std::forward<A>(arguments)...);
  }
  auto parameters() const { return module.parameters(); }
  auto named_parameters() const { return module.named_parameters(); }
  /// With the model's own names: there is no "module." before them.
  auto state_dict() const { return module.state_dict(); }
  auto &train(bool on = true) { return module.train(on); }
  auto &eval() { return module.eval(); }
  void zero_grad() const { module.zero_grad(); }
};

/// Trains the model on all members of the job: makes sure that all ranks have the same state (rank 0's, with a remark
/// where another's differs), and from then on every DataLoader gives each member its rows of the batch. It wraps
/// nothing: the model itself may go on to be used.
///
/// Batch size, means and batch norm are those of the whole batch, of all ranks together.
template <std::derived_from<nn::Module> M>
// NOLINTNEXTLINE(readability-identifier-naming): PyTorch's name; a type could not be called as a statement of its own
Replica<M> DataParallel(M &model, Where where = Where::current()) {
  detail::startDataParallel(model, where);
  return {model};
}

} // namespace dlc::distributed
