// Products by cuBLASLt (its fake, over device memory) against sums by hand.
#include "CallMachine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using namespace dlc;
using namespace dlc::test;
using Epilogue = MatMulCall::Epilogue;
using Matrix = MatMulCall::Matrix;

namespace {

enum Operand : size_t { kLeft, kRight, kResult, kBias, kAux, kWorkspace };

/// A product, with how it lies in memory.
struct Case {
  DType from = DType::F32, to = DType::F32;
  bool flipLeft = false, flipRight = false;
  int64_t batch = 1, rows = 5, columns = 8, terms = 7, padding = 0, offset = 0;
  bool sharedRight = false; ///< the same right matrix for all of a batch
  Epilogue epilogue = Epilogue::None;
  bool tf32 = false;
  int64_t workspace = 4096;

  LibraryCall call() const;
  std::vector<Elements> operands() const;
};

Matrix matrixOf(size_t operand, DType dtype, int64_t rows, int64_t columns, bool flip, const Case &what) {
  Matrix matrix;
  matrix.operand = int64_t(operand);
  matrix.offset = what.offset * byteSize(dtype);
  matrix.dtype = dtype;
  matrix.rowStride = flip ? 1 : columns + what.padding;
  matrix.columnStride = flip ? rows + what.padding : 1;
  matrix.batchStride =
      what.batch > 1 ? (flip ? columns * matrix.columnStride : rows * matrix.rowStride) + what.padding : 0;
  return matrix;
}

LibraryCall Case::call() const {
  MatMulCall product;
  product.batch = batch;
  product.rows = rows;
  product.columns = columns;
  product.terms = terms;
  product.left = matrixOf(kLeft, from, rows, terms, flipLeft, *this);
  product.right = matrixOf(kRight, from, terms, columns, flipRight, *this);
  if (sharedRight)
    product.right.batchStride = 0;
  product.result = matrixOf(kResult, to, rows, columns, false, *this);
  product.epilogue = epilogue;
  product.bias = hasBias(epilogue) ? int64_t(kBias) : -1;
  product.aux = epilogue == Epilogue::GeluGrad ? int64_t(kAux) : -1;
  product.tf32 = tf32;
  LibraryCall call;
  call.what = product;
  if (workspace > 0) {
    call.workspace = kWorkspace;
    call.workspaceOffset = 256;
    call.workspaceBytes = workspace;
  }
  return call;
}

int64_t lastOf(const Matrix &matrix, int64_t batch, int64_t rows, int64_t columns) {
  return matrix.offset / byteSize(matrix.dtype) + (batch - 1) * matrix.batchStride + (rows - 1) * matrix.rowStride +
         (columns - 1) * matrix.columnStride;
}

std::vector<Elements> Case::operands() const {
  MatMulCall product = std::get<MatMulCall>(call().what);
  int64_t results = lastOf(product.result, batch, rows, columns) + 1;
  return {Elements::random(from, lastOf(product.left, batch, rows, terms) + 1, 1),
          Elements::random(from, lastOf(product.right, batch, terms, columns) + 1, 2),
          Elements::filled(to, results + 3, 1234),
          Elements::random(to, columns, 3),
          Elements::random(to, results, 4),
          Elements::filled(DType::F32, workspace / 4 + 64 + 8, 0)};
}

double finish(Epilogue epilogue, double value, double bias, double aux) {
  constexpr double kCubic = 0.044715;
  double slope = std::sqrt(2 / std::numbers::pi);
  auto gelu = [&](double x) { return x / 2 * (1 + std::tanh(slope * (x + kCubic * x * x * x))); };
  switch (epilogue) {
  case Epilogue::None:
    return value;
  case Epilogue::Bias:
    return value + bias;
  case Epilogue::Relu:
    return std::max(value, 0.0);
  case Epilogue::ReluBias:
    return std::max(value + bias, 0.0);
  case Epilogue::Gelu:
    return gelu(value);
  case Epilogue::GeluBias:
    return gelu(value + bias);
  case Epilogue::GeluGrad:
    break;
  }
  // By differences: not the formula that is under test.
  constexpr double kStep = 1e-5;
  return value * (gelu(aux + kStep) - gelu(aux - kStep)) / (2 * kStep);
}

/// What a product is, by its definition; what it does not write stays.
std::vector<double> expected(const MatMulCall &product, const std::vector<Elements> &operands) {
  std::vector<double> result = operands[kResult].values;
  auto at = [](const Matrix &matrix, int64_t b, int64_t i, int64_t j) {
    return size_t(matrix.offset / byteSize(matrix.dtype) + b * matrix.batchStride + i * matrix.rowStride +
                  j * matrix.columnStride);
  };
  for (int64_t b = 0; b < product.batch; ++b)
    for (int64_t i = 0; i < product.rows; ++i)
      for (int64_t j = 0; j < product.columns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < product.terms; ++k)
          sum +=
              operands[kLeft].values[at(product.left, b, i, k)] * operands[kRight].values[at(product.right, b, k, j)];
        // The aux starts with its operand.
        size_t place = at(product.result, b, i, j),
               first = size_t(product.result.offset / byteSize(product.result.dtype));
        result[place] =
            finish(product.epilogue, sum, operands[kBias].values[size_t(j)], operands[kAux].values[place - first]);
      }
  return result;
}

std::string textOf(const Case &what) {
  return std::string(name(what.from)) + " to " + std::string(name(what.to)) + (what.flipLeft ? ", left flipped" : "") +
         (what.flipRight ? ", right flipped" : "") + ", batch " + std::to_string(what.batch) + ", " +
         std::string(name(what.epilogue)) + ", padding " + std::to_string(what.padding);
}

/// The largest difference, of which the type allows one.
double difference(runtime::Device &device, const Case &what) {
  std::vector<Elements> operands = what.operands();
  std::vector<double> right = expected(std::get<MatMulCall>(what.call().what), operands);
  Status status = runCall(device, what.call(), operands, kResult);
  EXPECT_TRUE(status.ok()) << status.message() << " for " << textOf(what);
  double largest = 0;
  for (size_t i = 0; i < right.size(); ++i)
    largest = std::max(largest, std::abs(operands[kResult].values[i] - right[i]) / (1 + std::abs(right[i])));
  return largest;
}

class MatMulCalls : public testing::Test {
protected:
  void SetUp() override {
    StatusOr<std::unique_ptr<runtime::Device>> opened = openCallDevice();
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
  }
  void expectRight(const Case &what) {
    EXPECT_LT(difference(*device, what), Elements::tolerance(what.to)) << textOf(what);
  }
  std::unique_ptr<runtime::Device> device;
};

constexpr Epilogue kEpilogues[] = {Epilogue::None, Epilogue::Bias,     Epilogue::Relu,    Epilogue::ReluBias,
                                   Epilogue::Gelu, Epilogue::GeluBias, Epilogue::GeluGrad};
constexpr std::pair<DType, DType> kTypes[] = {{DType::F32, DType::F32},
                                              {DType::F16, DType::F16},
                                              {DType::F16, DType::F32},
                                              {DType::BF16, DType::BF16},
                                              {DType::BF16, DType::F32}};

TEST_F(MatMulCalls, EveryEpilogueInEveryType) {
  for (auto [from, to] : kTypes)
    for (Epilogue epilogue : kEpilogues)
      expectRight({.from = from, .to = to, .epilogue = epilogue});
}

TEST_F(MatMulCalls, OperandsStoredByRowsAndByColumns) {
  for (bool flipLeft : {false, true})
    for (bool flipRight : {false, true})
      for (int64_t padding : {0, 8})
        for (Epilogue epilogue : {Epilogue::None, Epilogue::GeluBias, Epilogue::GeluGrad})
          expectRight({.flipLeft = flipLeft, .flipRight = flipRight, .padding = padding, .epilogue = epilogue});
}

TEST_F(MatMulCalls, ManyAtOnce) {
  for (bool flip : {false, true})
    for (bool shared : {false, true})
      for (Epilogue epilogue : kEpilogues)
        expectRight({.flipLeft = flip, .batch = 3, .padding = 8, .sharedRight = shared, .epilogue = epilogue});
}

TEST_F(MatMulCalls, VectorsAndSingleElements) {
  for (int64_t rows : {1, 5})
    for (int64_t columns : {1, 3})
      for (int64_t terms : {1, 6})
        for (bool flip : {false, true})
          expectRight({.flipLeft = flip,
                       .flipRight = flip,
                       .rows = rows,
                       .columns = columns,
                       .terms = terms,
                       .epilogue = Epilogue::ReluBias});
}

TEST_F(MatMulCalls, PartsOfOperands) {
  for (int64_t offset : {1, 4, 6})
    expectRight({.from = DType::BF16, .to = DType::F32, .padding = 3, .offset = offset, .epilogue = Epilogue::Bias});
}

TEST_F(MatMulCalls, WithAndWithoutWorkspace) {
  for (int64_t workspace : {0, 16, 256, 300, 1 << 16})
    expectRight({.epilogue = Epilogue::Gelu, .workspace = workspace});
}

// TF32 has 10 bits of fraction; without it f32 keeps its 23.
TEST_F(MatMulCalls, Tf32OnlyWhereItIsAllowed) {
  double tf32 = difference(*device, {.tf32 = true});
  EXPECT_GT(tf32, 5e-5);
  EXPECT_LT(tf32, 1e-2);
  EXPECT_LT(difference(*device, {}), Elements::tolerance(DType::F32));
}

TEST_F(MatMulCalls, WhatTheLibraryCannotDoIsSaidWhenLoading) {
  Case odd{.columns = 9, .epilogue = Epilogue::GeluGrad};
  std::vector<Elements> operands = odd.operands();
  EXPECT_EQ(runCall(*device, odd.call(), operands, kResult).message(),
            "cuda:0: model.cpp:10: dl.dot_general: kernel 'k0': cuBLASLt has no gradient of gelu for rows or matrices "
            "whose strides are no multiples of 8; compile with --matmul=generated");
}

TEST_F(MatMulCalls, AnOperandBetweenPlacesIsRefused) {
  Case what;
  std::vector<Elements> operands = what.operands();
  std::unique_ptr<runtime::Stream> stream = device->createStream().take();
  std::vector<DeviceElements> memory;
  std::vector<void *> pointers;
  for (Elements &each : operands) {
    Elements longer = each;
    longer.values.resize(longer.values.size() + 8);
    memory.push_back(DeviceElements::make(*device, *stream, longer).take());
    pointers.push_back(memory.back().base());
  }
  pointers[kRight] = static_cast<char *>(pointers[kRight]) + 4;
  std::unique_ptr<runtime::Kernels> kernels =
      device->load(makeCalls({callKernel(what.call(), operands, kResult)}).take()).take();
  EXPECT_EQ(kernels->launch(*stream, 0, pointers.data(), "step").message(),
            "cuda:0: step: model.cpp:10: dl.dot_general: kernel 'k0': operand 1 is not at a multiple of 16 bytes");
  EXPECT_TRUE(device->failure().ok());
}

TEST_F(MatMulCalls, TheDeviceSaysWhichLibrariesThereAre) {
  EXPECT_EQ(device->libraries(), (std::vector<std::string>{"cublaslt", "cudnn"}));
}

} // namespace
