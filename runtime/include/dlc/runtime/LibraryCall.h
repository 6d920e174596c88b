#pragma once

#include "dlc/runtime/DType.h"

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace dlc {

/// result[b, i, j] = epilogue(sum over k of left[b, i, k] * right[b, k, j]), summed in f32 whatever the elements are.
/// left and right have one type; the result has it, too, or f32.
struct MatMulCall {
  /// A matrix in an operand of the kernel. Either columnStride is 1 and rowStride at least the columns, or rowStride is
  /// 1 and columnStride at least the rows; of the result always the first.
  struct Matrix {
    int64_t operand = 0;
    int64_t offset = 0; ///< bytes
    DType dtype = DType::F32;
    int64_t rowStride = 1, columnStride = 1; ///< elements
    int64_t batchStride = 0;                 ///< elements; 0: each product has the same one
    friend bool operator==(const Matrix &, const Matrix &) = default;
  };

  /// What is done to an element of the result: v + bias[j], max(v, 0), gelu(v) in its tanh form, v * gelu'(aux).
  enum class Epilogue : uint8_t { None, Bias, Relu, ReluBias, Gelu, GeluBias, GeluGrad };

  int64_t batch = 1, rows = 1, columns = 1, terms = 1;
  Matrix left, right, result;
  Epilogue epilogue = Epilogue::None;
  int64_t bias = -1; ///< operand: `columns` elements of the result's type; -1: none
  int64_t aux = -1;  ///< operand: in type and strides as the result, from its first byte on; -1: none
  bool tf32 = false; ///< products of f32 may be taken with 10 bits of fraction
  friend bool operator==(const MatMulCall &, const MatMulCall &) = default;
};

/// Whether a call with this epilogue has a bias.
constexpr bool hasBias(MatMulCall::Epilogue epilogue) {
  return epilogue == MatMulCall::Epilogue::Bias || epilogue == MatMulCall::Epilogue::ReluBias ||
         epilogue == MatMulCall::Epilogue::GeluBias;
}

/// "gelu_bias", as in the manifest.
std::string_view name(MatMulCall::Epilogue epilogue);

/// A convolution (without flip of the weight) or one of its gradients, summed in f32. Padding is the same on both
/// sides.
struct ConvCall {
  enum class Kind : uint8_t { Forward, InputGrad, WeightGrad }; ///< which of the three tensors is the result

  /// [batch, channels, spatial…] in an operand of the kernel; of the weight [results, channels of a group, spatial…].
  struct Tensor {
    int64_t operand = 0;
    int64_t offset = 0;                    ///< bytes
    std::vector<int64_t> extents, strides; ///< elements
    friend bool operator==(const Tensor &, const Tensor &) = default;
  };

  Kind kind = Kind::Forward;
  DType dtype = DType::F32; ///< of all three
  Tensor input, weight, output;
  std::vector<int64_t> strides, padding, dilation; ///< by spatial dimension
  int64_t groups = 1;
  bool tf32 = false; ///< products of f32 may be taken with 10 bits of fraction
  friend bool operator==(const ConvCall &, const ConvCall &) = default;
};

/// "input_grad", as in the manifest.
std::string_view name(ConvCall::Kind kind);

/// A launch that a vendor's library does.
struct LibraryCall {
  std::variant<MatMulCall, ConvCall> what;
  int64_t workspace = -1; ///< operand with memory for the library; -1: none
  int64_t workspaceOffset = 0, workspaceBytes = 0;

  /// "cublaslt" or "cudnn".
  std::string_view library() const;
  friend bool operator==(const LibraryCall &, const LibraryCall &) = default;
};

} // namespace dlc
