// RUN: dlc-check %s -mesh=data=2
// RUN: dlc-check %s -mesh=data=3
// RUN: dlc-check %s -mesh=data=4
// RUN: dlc-opt %s -dl-set-mesh=axes=data=2 -dl-set-data-parallel -dl-frontend-pipeline -dl-partition-pipeline | FileCheck %s

// The rows that count are known only when the step runs: their number is a sum of its own, once.
// CHECK-LABEL: func.func @adamw(
// CHECK-COUNT-5: dl.all_reduce sum(data)
// CHECK-NOT: dl.all_
// CHECK: return
dl.variable @conv : tensor<3x2x3x3xf32> role(parameter) init(#dl.uniform<-0.3, 0.3>)
dl.variable @bias : tensor<3xf32> role(parameter) init(#dl.uniform<-0.3, 0.3>)
dl.variable @fc : tensor<5x12xf32> role(parameter) init(#dl.uniform<-0.3, 0.3>)
dl.variable @m : tensor<3x2x3x3xf32> role(optimizer_state) init(#dl.uniform<-0.1, 0.1>)
dl.variable @v : tensor<3x2x3x3xf32> role(optimizer_state) init(#dl.uniform<0.1, 0.2>)
dl.variable @step : tensor<i64> role(counter) init(#dl.constant<3.0>)
dl.variable @lr : tensor<f64> role(hyper) init(#dl.constant<0.01>)
dl.variable @beta1 : tensor<f64> role(hyper) init(#dl.constant<0.9>)
dl.variable @beta2 : tensor<f64> role(hyper) init(#dl.constant<0.999>)
dl.variable @eps : tensor<f64> role(hyper) init(#dl.constant<0.001>)
dl.variable @decay : tensor<f64> role(hyper) init(#dl.constant<0.01>)

func.func @adamw(%x: tensor<5x2x4x4xf32> {dl.test = "distinct"},
                 %y: tensor<5xi64> {dl.value = dense<[1, -100, 4, 0, -100]> : tensor<5xi64>}) -> tensor<f32> attributes {dl.entry} {
  %w = dl.read @conv : tensor<3x2x3x3xf32>
  %b = dl.read @bias : tensor<3xf32>
  %fc = dl.read @fc : tensor<5x12xf32>
  %0 = dl.conv %x, %w strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<5x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<5x3x4x4xf32>
  %1 = dl.broadcast %b dims [1] : (tensor<3xf32>) -> tensor<5x3x4x4xf32>
  %2 = dl.add %0, %1 : tensor<5x3x4x4xf32>
  %3 = dl.relu %2 : tensor<5x3x4x4xf32>
  %4 = dl.max_pool %3 kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<5x3x4x4xf32>) -> tensor<5x3x2x2xf32>
  %5 = dl.reshape %4 : (tensor<5x3x2x2xf32>) -> tensor<5x12xf32>
  %6 = dl.dot_general %5, %fc batch [] x [] contract [1] x [1] : (tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x5xf32>
  %loss = dl.cross_entropy %6, %y {label_smoothing = 0.1 : f64} : (tensor<5x5xf32>, tensor<5xi64>) -> tensor<f32>
  %g:3 = dl.gradient %loss wrt %w, %b, %fc : tensor<f32>, tensor<3x2x3x3xf32>, tensor<3xf32>, tensor<5x12xf32>
  %m = dl.read @m : tensor<3x2x3x3xf32>
  %v = dl.read @v : tensor<3x2x3x3xf32>
  %step = dl.read @step : tensor<i64>
  %lr = dl.read @lr : tensor<f64>
  %beta1 = dl.read @beta1 : tensor<f64>
  %beta2 = dl.read @beta2 : tensor<f64>
  %eps = dl.read @eps : tensor<f64>
  %decay = dl.read @decay : tensor<f64>
  %wn, %mn, %vn = dl.adamw %w, %g#0, %m, %v step %step lr %lr betas %beta1, %beta2 eps %eps weight_decay %decay
      : (tensor<3x2x3x3xf32>, tensor<3x2x3x3xf32>, tensor<3x2x3x3xf32>, tensor<3x2x3x3xf32>, tensor<i64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>)
      -> (tensor<3x2x3x3xf32>, tensor<3x2x3x3xf32>, tensor<3x2x3x3xf32>)
  %bn = dl.sgd %b, %g#1 lr %lr weight_decay %decay : (tensor<3xf32>, tensor<3xf32>, tensor<f64>, tensor<f64>) -> tensor<3xf32>
  %fcn = dl.sgd %fc, %g#2 lr %lr weight_decay %decay : (tensor<5x12xf32>, tensor<5x12xf32>, tensor<f64>, tensor<f64>) -> tensor<5x12xf32>
  dl.write @conv, %wn : tensor<3x2x3x3xf32>
  dl.write @m, %mn : tensor<3x2x3x3xf32>
  dl.write @v, %vn : tensor<3x2x3x3xf32>
  dl.write @bias, %bn : tensor<3xf32>
  dl.write @fc, %fcn : tensor<5x12xf32>
  return %loss : tensor<f32>
}
