// Convolutions and their gradients by cuDNN (its fake, over device memory) against sums by hand.
#include "CallMachine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

using namespace dlc;
using namespace dlc::test;
using Kind = ConvCall::Kind;
using Tensor = ConvCall::Tensor;
using Sizes = std::vector<int64_t>;

namespace {

enum Operand : size_t { kInput, kWeight, kOutput, kWorkspace };

struct Case {
  DType dtype = DType::F32;
  int64_t batch = 2, channels = 4, results = 6, groups = 1;
  Sizes spatial = {7, 6}, window = {3, 2}, strides = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  bool channelsLast = false;
  bool tf32 = false;
  int64_t workspace = 1 << 14, rowPadding = 0;

  ConvCall call(Kind kind) const;
};

/// Strides without gaps, in the order given or with the channels last; rows `gap` elements apart.
Sizes stridesOf(const Sizes &extents, bool channelsLast, int64_t gap) {
  Sizes strides(extents.size());
  int64_t step = channelsLast ? extents[1] : 1;
  for (size_t i = extents.size(); i-- > 2;) {
    strides[i] = step;
    step = step * extents[i] + (i + 1 == extents.size() ? gap : 0);
  }
  strides[1] = channelsLast ? 1 : step;
  strides[0] = channelsLast ? step : step * extents[1];
  return strides;
}

Tensor tensorOf(size_t operand, const Sizes &extents, bool channelsLast, int64_t gap) {
  return {int64_t(operand), 0, extents, stridesOf(extents, channelsLast, gap)};
}

ConvCall Case::call(Kind kind) const {
  Sizes x = {batch, channels}, w = {results, channels / groups}, y = {batch, results};
  for (size_t i = 0; i < spatial.size(); ++i) {
    x.push_back(spatial[i]);
    w.push_back(window[i]);
    y.push_back((spatial[i] + 2 * padding[i] - (window[i] - 1) * dilation[i] - 1) / strides[i] + 1);
  }
  ConvCall call;
  call.kind = kind;
  call.dtype = dtype;
  call.input = tensorOf(kInput, x, channelsLast, rowPadding);
  call.weight = tensorOf(kWeight, w, channelsLast, 0);
  call.output = tensorOf(kOutput, y, channelsLast, rowPadding);
  call.strides = strides;
  call.padding = padding;
  call.dilation = dilation;
  call.groups = groups;
  call.tf32 = tf32;
  return call;
}

/// Each place of a box, the last axis fastest.
void forEach(const Sizes &extents, const std::function<void(const Sizes &)> &body) {
  Sizes place(extents.size(), 0);
  for (;;) {
    body(place);
    size_t axis = extents.size();
    while (axis > 0 && ++place[axis - 1] == extents[axis - 1])
      place[--axis] = 0;
    if (axis == 0)
      return;
  }
}

size_t at(const Tensor &tensor, const Sizes &place) {
  int64_t sum = 0;
  for (size_t i = 0; i < place.size(); ++i)
    sum += place[i] * tensor.strides[i];
  return size_t(sum);
}

int64_t spanOf(const Tensor &tensor) {
  Sizes last = tensor.extents;
  for (int64_t &each : last)
    --each;
  return int64_t(at(tensor, last)) + 1;
}

/// By the definition: y[n, k, o] = sum over c, t of x[n, c, o * stride - padding + t * dilation] * w[k, c, t], and the
/// gradients of a sum of y's elements times dy are what x and w are multiplied with there. Others stay.
std::vector<double> expected(const ConvCall &call, const std::vector<Elements> &operands) {
  size_t written = call.kind == Kind::Forward ? kOutput : call.kind == Kind::InputGrad ? kInput : kWeight;
  std::vector<double> result = operands[written].values;
  const Tensor *tensors[] = {&call.input, &call.weight, &call.output};
  forEach(tensors[written]->extents, [&](const Sizes &place) { result[at(*tensors[written], place)] = 0; });
  int64_t perGroup = call.output.extents[1] / call.groups;
  forEach(call.output.extents, [&](const Sizes &out) {
    Sizes taps = call.weight.extents;
    taps[0] = 1;
    forEach(taps, [&](const Sizes &tap) {
      Sizes in = {out[0], out[1] / perGroup * call.weight.extents[1] + tap[1]}, weight = tap;
      weight[0] = out[1];
      for (size_t i = 2; i < out.size(); ++i) {
        in.push_back(out[i] * call.strides[i - 2] - call.padding[i - 2] + tap[i] * call.dilation[i - 2]);
        if (in[i] < 0 || in[i] >= call.input.extents[i])
          return;
      }
      size_t places[] = {at(call.input, in), at(call.weight, weight), at(call.output, out)};
      size_t first = written == kInput ? kWeight : kInput, second = written == kOutput ? kWeight : kOutput;
      result[places[written]] += operands[first].values[places[first]] * operands[second].values[places[second]];
    });
  });
  return result;
}

class ConvCalls : public testing::Test {
protected:
  void SetUp() override {
    StatusOr<std::unique_ptr<runtime::Device>> opened = openCallDevice();
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
  }

  double difference(const Case &what, Kind kind) {
    LibraryCall call;
    call.what = what.call(kind);
    const auto &conv = std::get<ConvCall>(call.what);
    if (what.workspace > 0) {
      call.workspace = kWorkspace;
      call.workspaceBytes = what.workspace;
    }
    std::vector<Elements> operands = {
        Elements::random(what.dtype, spanOf(conv.input), 1), Elements::random(what.dtype, spanOf(conv.weight), 2),
        Elements::random(what.dtype, spanOf(conv.output), 3), Elements::filled(DType::F32, what.workspace / 4 + 1, 0)};
    size_t written = kind == Kind::Forward ? kOutput : kind == Kind::InputGrad ? kInput : kWeight;
    std::vector<double> right = expected(conv, operands);
    Status status = runCall(*device, call, operands, written);
    EXPECT_TRUE(status.ok()) << status.message();
    double largest = 0;
    for (size_t i = 0; i < right.size(); ++i)
      largest = std::max(largest, std::abs(operands[written].values[i] - right[i]) / (1 + std::abs(right[i])));
    return largest;
  }

  void expectRight(const Case &what) {
    for (Kind kind : {Kind::Forward, Kind::InputGrad, Kind::WeightGrad})
      EXPECT_LT(difference(what, kind), Elements::tolerance(what.dtype)) << name(kind);
  }

  std::unique_ptr<runtime::Device> device;
};

TEST_F(ConvCalls, EveryKindInEveryType) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16})
    expectRight({.dtype = dtype});
}

TEST_F(ConvCalls, StridesPaddingAndDilation) {
  expectRight({.strides = {2, 1}});
  expectRight({.strides = {2, 3}, .padding = {1, 0}});
  expectRight({.padding = {2, 1}, .dilation = {2, 1}});
  expectRight({.spatial = {9, 8}, .strides = {3, 2}, .padding = {2, 2}, .dilation = {1, 3}});
}

TEST_F(ConvCalls, Groups) {
  expectRight({.groups = 2});
  expectRight({.channels = 6, .results = 6, .groups = 6, .padding = {1, 1}});
}

TEST_F(ConvCalls, OneToThreeAxes) {
  expectRight({.spatial = {9}, .window = {4}, .strides = {2}, .padding = {1}, .dilation = {2}});
  expectRight({.channels = 2,
               .results = 3,
               .spatial = {4, 5, 3},
               .window = {2, 3, 2},
               .strides = {1, 2, 1},
               .padding = {1, 0, 1},
               .dilation = {1, 1, 1}});
}

TEST_F(ConvCalls, ChannelsLastAndGaps) {
  expectRight({.channelsLast = true});
  expectRight({.padding = {1, 1}, .rowPadding = 3});
  expectRight({.groups = 2,
               .spatial = {9},
               .window = {4},
               .strides = {1},
               .padding = {0},
               .dilation = {1},
               .channelsLast = true});
}

TEST_F(ConvCalls, AnAlgorithmThatFitsTheWorkspace) {
  for (int64_t workspace : {0, 64, 1 << 10, 1 << 16})
    expectRight({.workspace = workspace});
}

// TF32 has 10 bits of fraction; without it f32 keeps its 23.
TEST_F(ConvCalls, Tf32OnlyWhereItIsAllowed) {
  for (Kind kind : {Kind::Forward, Kind::InputGrad, Kind::WeightGrad}) {
    double tf32 = difference({.tf32 = true}, kind);
    EXPECT_GT(tf32, 5e-5);
    EXPECT_LT(tf32, 1e-2);
  }
}

TEST_F(ConvCalls, WhatTheLibraryCannotDoIsSaidWhenLoading) {
  Case what;
  LibraryCall call;
  ConvCall conv = what.call(Kind::Forward);
  conv.weight.strides[2] = 1; // columns before rows
  conv.weight.strides[3] = 3;
  call.what = conv;
  std::vector<Elements> operands = {Elements::random(DType::F32, spanOf(conv.input), 1),
                                    Elements::random(DType::F32, spanOf(conv.weight), 2),
                                    Elements::random(DType::F32, spanOf(conv.output), 3)};
  EXPECT_EQ(runCall(*device, call, operands, kOutput).message(),
            "cuda:0: model.cpp:10: dl.dot_general: kernel 'k0': cuDNN has no weight that is stored neither by channels "
            "nor with channels last; compile with --conv=generated");
}

} // namespace
