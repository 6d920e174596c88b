#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dlc::dl {

/// A dense row-major tensor of the reference evaluator: floats are held as double, integers and i1 (0 or 1) as int64_t.
struct ReferenceTensor {
  /// Zeros of a static type.
  explicit ReferenceTensor(mlir::RankedTensorType type);
  /// The elements of a constant; fails for a resource that is not there.
  static llvm::FailureOr<ReferenceTensor> fromElements(mlir::ElementsAttr elements);

  mlir::DenseElementsAttr toElements() const;
  bool isFloat() const { return mlir::isa<mlir::FloatType>(type.getElementType()); }
  int64_t size() const { return isFloat() ? int64_t(floats.size()) : int64_t(integers.size()); }
  llvm::ArrayRef<int64_t> shape() const { return type.getShape(); }
  /// Element `i` in row-major order, whatever the type.
  double at(int64_t i) const { return isFloat() ? floats[i] : double(integers[i]); }
  /// Floats to the declared type, nearest even.
  void roundFloats();
  /// Integers to the declared width, wrapping; i1 to 0 or 1.
  void wrapIntegers();

  mlir::RankedTensorType type;
  std::vector<double> floats;
  std::vector<int64_t> integers;
};

/// Values of variables by name.
using ReferenceState = std::map<std::string, ReferenceTensor>;

/// Double: floats stay doubles whatever the declared type, for checks. Declared: each op's results are rounded to their
/// type (the correctly rounded value where the op is one operation), for constant folding.
enum class ReferencePrecision { Double, Declared };

/// One of the members that evaluate a program together.
class ReferenceMember {
public:
  virtual ~ReferenceMember() = default;
  /// Its number in the mesh.
  virtual int64_t number() const = 0;
  /// Waits for all members to come to this op; gives the operands of each, by number. Fails, with an error of the op,
  /// when another member comes to another op or ends.
  virtual llvm::FailureOr<std::vector<std::vector<ReferenceTensor>>>
  exchange(mlir::Operation *op, llvm::ArrayRef<ReferenceTensor> operands) = 0;
};

/// What evaluation of one op may see.
struct ReferenceContext {
  ReferencePrecision precision = ReferencePrecision::Double;
  ReferenceState *state = nullptr;
  ReferenceMember *member = nullptr; ///< null: a program without collectives
};

/// The op's results from the written formula; never from emitScalar, decompose or buildAdjoint. Types must be static.
/// Fails with a located error for an op without a reference (gradient: expand it first).
llvm::FailureOr<llvm::SmallVector<ReferenceTensor>>
evaluate(mlir::Operation *op, llvm::ArrayRef<ReferenceTensor> operands, ReferenceContext context = {});

/// The results of a one-block function of dl ops. Reads take from `state`; writes change it at once.
llvm::FailureOr<llvm::SmallVector<ReferenceTensor>>
evaluateFunction(mlir::func::FuncOp function, llvm::ArrayRef<ReferenceTensor> arguments, ReferenceState &state,
                 ReferencePrecision precision = ReferencePrecision::Double);

/// A terminated block: the terminator's operands.
llvm::FailureOr<llvm::SmallVector<ReferenceTensor>>
evaluateBlock(mlir::Block &block, llvm::ArrayRef<ReferenceTensor> arguments, ReferenceContext context);

/// Arguments and state of one member, and what it made of them.
struct ReferenceShare {
  std::vector<ReferenceTensor> arguments;
  ReferenceState state;
  std::vector<ReferenceTensor> results = {};
};

/// A local program (after dl-partition), evaluated by all members of its mesh at once, each in a thread of its own.
/// Changes results and states; one share a member, by number.
llvm::LogicalResult evaluateMembers(mlir::func::FuncOp function, llvm::MutableArrayRef<ReferenceShare> shares);

} // namespace dlc::dl
