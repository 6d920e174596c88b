#pragma once

#include "dlc/ir/Reference.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <type_traits>

namespace dlc::dl {

using ReferenceOperands = llvm::ArrayRef<ReferenceTensor>;
/// Zeros of the result types, to be filled. Integer results may overflow their width: they are wrapped afterwards.
using ReferenceResults = llvm::MutableArrayRef<ReferenceTensor>;

/// The formulas by op name. One registration function a family, in reference/<Family>.cpp.
class ReferenceRegistry {
public:
  using Function =
      std::function<llvm::LogicalResult(mlir::Operation *, ReferenceOperands, ReferenceResults, ReferenceContext)>;

  /// `function(op, operands, results)`, returning nothing.
  template <class Op, class F>
  void add(F function) {
    addWithContext<Op>([function](Op op, ReferenceOperands operands, ReferenceResults results, ReferenceContext) {
      function(op, operands, results);
      return llvm::success();
    });
  }

  /// `function(op, operands, results, context)`, returning a LogicalResult.
  template <class Op, class F>
  void addWithContext(F function) {
    functions[Op::getOperationName()] = [function](mlir::Operation *op, ReferenceOperands operands,
                                                   ReferenceResults results, ReferenceContext context) {
      return function(mlir::cast<Op>(op), operands, results, context);
    };
  }

  /// y[i] = onFloats(x0[i], x1[i], …) of doubles, or onIntegers of int64_t, by the result's type.
  template <class Op, class F, class I>
  void addPointwise(F onFloats, I onIntegers) {
    add<Op>([onFloats, onIntegers](Op, ReferenceOperands x, ReferenceResults y) {
      if (y[0].isFloat())
        mapElements(onFloats, &ReferenceTensor::floats, x, y[0].floats);
      else
        mapElements(onIntegers, &ReferenceTensor::integers, x, y[0].integers);
    });
  }

  /// The same for ops on floats only.
  template <class Op, class F>
  void addPointwise(F onFloats) {
    add<Op>([onFloats](Op, ReferenceOperands x, ReferenceResults y) {
      mapElements(onFloats, &ReferenceTensor::floats, x, y[0].floats);
    });
  }

  const Function *lookup(llvm::StringRef name) const {
    auto found = functions.find(name);
    return found == functions.end() ? nullptr : &found->second;
  }

private:
  template <class F, class T>
  static void mapElements(F function, std::vector<T> ReferenceTensor::*elements, ReferenceOperands x,
                          std::vector<T> &y) {
    for (size_t i = 0; i < y.size(); ++i)
      if constexpr (std::is_invocable_v<F, T, T, T>)
        y[i] = function((x[0].*elements)[i], (x[1].*elements)[i], (x[2].*elements)[i]);
      else if constexpr (std::is_invocable_v<F, T, T>)
        y[i] = function((x[0].*elements)[i], (x[1].*elements)[i]);
      else
        y[i] = function((x[0].*elements)[i]);
  }

  llvm::StringMap<Function> functions;
};

/// All families, filled once.
const ReferenceRegistry &referenceRegistry();

#define DLC_FAMILY(Name) void registerReference##Name(ReferenceRegistry &registry);
#include "dlc/ir/Families.inc"
#undef DLC_FAMILY

/// Row-major strides of a shape, in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Calls `function(index, i)` for each multi-index of the shape in row-major order; `i` counts them.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t> index, int64_t i)> function);

} // namespace dlc::dl
