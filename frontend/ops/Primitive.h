#pragma once

#include "record/Storage.h"
#include "record/Trace.h"

/// Recording of single dl operations, from which the user's functions are composed.
namespace dlc::ops {

using record::TypeRef;
using record::ValueRef;
using Line = std::source_location;
using Ints = std::vector<int64_t>;

using dlc::isFloat;
inline int64_t rank(const ValueRef &value) { return static_cast<int64_t>(value->type->shape.size()); }
/// A dimension counted from the front; an Error named after the function when it is out of range.
int64_t wrapDim(const char *function, int64_t dim, int64_t rank, const Line &line);
/// Ascending, without repetition; none means all.
Ints wrapDims(const char *function, const Dims &dims, int64_t rank, const Line &line);

// Results have the operands' type.
ValueRef unary(const char *op, const ValueRef &x, const Line &line);
ValueRef binary(const char *op, const ValueRef &a, const ValueRef &b, const Line &line);
/// predicate: eq ne lt le gt ge.
ValueRef compare(const char *predicate, const ValueRef &a, const ValueRef &b, const Line &line);
ValueRef select(const ValueRef &condition, const ValueRef &a, const ValueRef &b, const Line &line);
ValueRef cast(const ValueRef &x, DType dtype, const Line &line);
ValueRef stopGradient(const ValueRef &x, const Line &line);

ValueRef number(double value, DType dtype, const Line &line);
/// A number repeated over a shape.
ValueRef splat(double value, DType dtype, const Ints &shape, const Line &line);
ValueRef iota(DType dtype, const Ints &shape, int64_t axis, const Line &line);

ValueRef reshape(const ValueRef &x, const Ints &shape, const Line &line);
/// `parts` of `size` rows each, from row `first` on; which rows go together is open where members share them.
ValueRef microBatches(const ValueRef &x, int64_t first, int64_t parts, int64_t size, const Line &line);
ValueRef permute(const ValueRef &x, const Ints &order, const Line &line);
/// dims[i] is the result's dimension of dimension i of x.
ValueRef broadcast(const ValueRef &x, const Ints &shape, const Ints &dims, const Line &line);
/// To a shape by PyTorch's rule, which the caller has checked.
ValueRef broadcastTo(const ValueRef &x, const Ints &shape, const Line &line);
ValueRef slice(const ValueRef &x, const Ints &starts, const Ints &limits, const Ints &strides, const Line &line);
ValueRef pad(const ValueRef &x, const ValueRef &value, const Ints &lo, const Ints &hi, const Ints &interior,
             const Line &line);

/// Over axes that disappear; op is the mnemonic of a reduction.
ValueRef reduce(const char *op, const ValueRef &x, const Ints &axes, const Line &line);
ValueRef dotGeneral(const ValueRef &a, const ValueRef &b, const Ints &lhsBatch, const Ints &rhsBatch,
                    const Ints &lhsContract, const Ints &rhsContract, const Line &line);

/// The common shape of PyTorch's broadcasting; an Error names both shapes.
Ints broadcastShapes(const char *function, const Ints &a, const Ints &b, const Line &line);
/// Element types by kind, as PyTorch's promotion orders them.
DType promote(DType a, DType b);
/// Where an operation on these runs if it is not the host; null where all are on the host.
record::Place *commonPlace(std::span<const Arg> args);
/// Operands of one dtype and one shape, by PyTorch's promotion and broadcasting.
std::vector<ValueRef> unify(const char *function, std::span<const Arg> args);
/// The dtype `unify` would give.
DType resultType(std::span<const Arg> args);
/// The operand's value; a number becomes a constant of the dtype (or of its own kind's default).
ValueRef valueOf(const Arg &arg, std::optional<DType> dtype = {});
/// The value of a tensor of floats; an Error otherwise.
ValueRef floatOf(const char *function, const Arg &arg);
/// The same after integers became f32.
ValueRef asFloat(const Arg &arg);

inline Tensor wrap(ValueRef value) { return record::makeTensor(std::move(value)); }

} // namespace dlc::ops
