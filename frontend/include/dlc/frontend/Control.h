#pragma once

#include "dlc/frontend/Jit.h"

#include <functional>

namespace dlc {

struct ScanOptions {
  /// From the last slice to the first.
  bool reverse = false;
};

namespace detail {

/// f of one step: carried values and slices in, next carried values and slices of the stacked results out.
using ScanBody = std::function<void(const Flat &carried, const Flat &slices, Flat &next, Flat &stacked)>;
void scan(const Flat &carried, const Flat &sliced, const ScanBody &body, ScanOptions options, Flat &last, Flat &stacked,
          Where where);

using Branch = std::function<void(Flat &results)>;
void cond(const Arg &predicate, const Branch &taken, const Branch &otherwise, Flat &results);

void checkpoint(const Branch &f, Flat &results, Where where);

/// f whose inner values no backward() keeps.
template <typename F>
struct Checkpointed {
  F f;
  Where where;

  template <typename... Xs>
  auto operator()(const Xs &...xs) {
    using Result = std::decay_t<std::invoke_result_t<F &, const Xs &...>>;
    Flat results;
    checkpoint([&](Flat &out) { flatten<Result>(f(xs...), out); }, results, where);
    FlatReader reader{results};
    return unflatten<Result>(reader);
  }
};

using MicroBatchLoss = std::function<Tensor(const Tensor &x, const Tensor &y)>;
Tensor accumulate(int64_t n, const MicroBatchLoss &loss, const Tensor &x, const Tensor &y, Where where);

} // namespace detail

/// f(carry, x) -> {next carry, y} over the slices x of `xs` along dim 0, one after the other: returns the last carry
/// and the y of all steps, stacked along dim 0. Carry, xs and y are tensors, or vectors, tuples and structs of them, as
/// in jit; every carry has the shapes and dtypes of `init`. f is recorded once, whatever the number of steps; tensors
/// it captures are the same in every step, those it changes in place (running statistics) go on from step to step.
/// Gradients flow through all of it.
template <typename F, typename Carry, typename Slices>
auto scan(F &&f, const Carry &init, const Slices &xs, ScanOptions options = {}, Where where = Where::current()) {
  using Step = std::decay_t<std::invoke_result_t<F &, Carry, Slices>>; // std::pair<Carry, Y>
  using Y = typename Step::second_type;
  detail::Flat carried, sliced, last, stacked;
  detail::flatten(init, carried);
  detail::flatten(xs, sliced);
  auto body = [&](const detail::Flat &carry, const detail::Flat &slices, detail::Flat &next, detail::Flat &ys) {
    detail::FlatReader carryReader{carry}, sliceReader{slices};
    Carry now = detail::unflatten<Carry>(carryReader);
    Step step = f(std::move(now), detail::unflatten<Slices>(sliceReader));
    detail::flatten<Carry>(step.first, next);
    detail::flatten<Y>(step.second, ys);
  };
  detail::scan(carried, sliced, body, options, last, stacked, where);
  detail::FlatReader lastReader{last}, stackedReader{stacked};
  Carry end = detail::unflatten<Carry>(lastReader);
  return std::pair<Carry, Y>(std::move(end), detail::unflatten<Y>(stackedReader));
}

/// f() if the predicate, a bool of one element, holds, else g(); only one of them runs. Both return tensors of the same
/// shapes and dtypes (or vectors, tuples, structs of them) and may use and change tensors from outside. Gradients of
/// what only the other one uses are zeros.
template <typename F, typename G>
auto cond(Arg predicate, F &&f, G &&g) {
  using Result = std::decay_t<std::invoke_result_t<F &>>;
  detail::Flat results;
  detail::cond(
      predicate, [&](detail::Flat &out) { detail::flatten<Result>(f(), out); },
      [&](detail::Flat &out) { detail::flatten<Result>(g(), out); }, results);
  detail::FlatReader reader{results};
  return detail::unflatten<Result>(reader);
}

/// f as a function whose inner values are not kept for backward(), which computes them again from f's inputs and what f
/// uses from outside: less memory for more time, the same bits. What f returns are tensors, or vectors, tuples and
/// structs of them; random numbers in f are the same again, and tensors it changes in place (running statistics) change
/// once.
template <typename F>
auto checkpoint(F f, Where where = Where::current()) {
  return detail::Checkpointed<F>{std::move(f), where};
}

/// checkpoint(f)(x).
template <typename F, typename X>
auto checkpoint(F f, const X &x, Where where = Where::current()) {
  return checkpoint(std::move(f), where)(x);
}

/// checkpoint(f)(x, y).
template <typename F, typename X, typename Y>
auto checkpoint(F f, const X &x, const Y &y, Where where = Where::current()) {
  return checkpoint(std::move(f), where)(x, y);
}

/// Adds to `.grad` what backward() of the mean loss of the batch would, in the memory of a part of it: cuts x and y
/// along dim 0 into at most n micro-batches of equal size (the last may be shorter) and takes f(x, y), the mean loss of
/// a micro-batch, of each, weighted by its rows. Returns the mean loss of the batch. Call `optimizer.step()` behind it.
/// f is recorded once for the equal ones; it calls no backward() itself. In a job whose batches are split each
/// micro-batch has rows of all members. With `invariant` n times the members must divide its parts (an Error), and
/// batches whose rows they do not divide are taken in one.
template <typename F>
Tensor accumulate(int64_t n, F &&f, const Tensor &x, const Tensor &y, Where where = Where::current()) {
  return detail::accumulate(
      n, [&](const Tensor &part, const Tensor &target) -> Tensor { return f(part, target); }, x, y, where);
}

} // namespace dlc
