#pragma once

#include "dlc/ir/TensorBuilder.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/BitVector.h"

#include <utility>

namespace dlc::dl {

/// The gradient of the loss with respect to a value, of the value's type; null means zero everywhere.
/// With a mask (i1, same shape), elements where it is false are exactly 0 and came from a branch not taken: scaling
/// keeps them 0 whatever the local derivative is.
struct Cotangent {
  mlir::Value value;
  mlir::Value mask;
  explicit operator bool() const { return static_cast<bool>(value); }
};

/// Whether a derivative can flow from the operation's results into this operand.
bool carriesDerivative(mlir::Operation *op, unsigned operand);

/// Differentiates blocks inside an op, for the rules of ops with regions.
class BlockAdjoint {
public:
  virtual ~BlockAdjoint() = default;

  /// Appends to `adjoint`, a block without ops, what computes the cotangents of the arguments of `forward` from
  /// `seeds`, those of the yielded values (null: zero), and reads values of `forward`. One value an argument; null
  /// where it is not in `active` or the cotangent is zero. Composite ops of `forward` without a rule are decomposed.
  virtual llvm::FailureOr<llvm::SmallVector<mlir::Value>> differentiate(mlir::Block &forward,
                                                                        const llvm::BitVector &active,
                                                                        llvm::ArrayRef<mlir::Value> seeds,
                                                                        mlir::Block &adjoint) = 0;
};

/// What a reverse-mode rule sees and produces for one op. New ops are inserted at the builder's insertion point.
class AdjointBuilder {
public:
  /// `needs[i]`: operand i wants a contribution. `results`: one cotangent a result, null for zero.
  AdjointBuilder(mlir::OpBuilder &builder, mlir::Operation *op, llvm::ArrayRef<Cotangent> results,
                 llvm::BitVector needs, BlockAdjoint *blocks = nullptr)
      : builder(builder), op(op), results(results.begin(), results.end()), needed(std::move(needs)), blocks(blocks) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return op->getLoc(); }
  /// For the forward values a rule needs.
  TensorBuilder tensors() { return TensorBuilder(builder, getLoc()); }
  bool needs(unsigned operand) const { return needed.test(operand); }
  Cotangent cotangent(unsigned result = 0) const { return results[result]; }

  /// Adds to the operand's gradient; a null cotangent adds nothing.
  void addTo(unsigned operand, Cotangent contribution);
  void addTo(unsigned operand, mlir::Value contribution) { addTo(operand, Cotangent{contribution, {}}); }

  /// g * d, exactly 0 where g is masked out.
  Cotangent scale(Cotangent g, mlir::Value d);
  /// g / d, exactly 0 where g is masked out.
  Cotangent divide(Cotangent g, mlir::Value d);
  Cotangent negate(Cotangent g);
  /// g where `predicate` holds, else 0 with the mask set: for rules that choose a branch.
  Cotangent route(mlir::Value predicate, Cotangent g);

  /// Differentiates a block of the op.
  BlockAdjoint &getBlocks() { return *blocks; }
  /// Says that `with`, which has the op's operands and results and then results more, takes its place; the op is left
  /// to the caller of the rule, who erases it.
  void replaceOp(mlir::Operation *with) { replacement = with; }
  mlir::Operation *getReplacement() const { return replacement; }

  llvm::ArrayRef<std::pair<unsigned, Cotangent>> contributions() const { return added; }

private:
  mlir::OpBuilder &builder;
  mlir::Operation *op;
  llvm::SmallVector<Cotangent> results;
  llvm::BitVector needed;
  BlockAdjoint *blocks;
  mlir::Operation *replacement = nullptr;
  llvm::SmallVector<std::pair<unsigned, Cotangent>> added;
};

} // namespace dlc::dl
