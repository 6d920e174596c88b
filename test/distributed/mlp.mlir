// RUN: dlc-check %s -mesh=data=2
// RUN: dlc-check %s -mesh=data=3
// RUN: dlc-check %s -mesh=data=4
// RUN: dlc-opt %s -dl-set-mesh=axes=data=3 -dl-set-data-parallel -dl-frontend-pipeline -dl-partition-pipeline | FileCheck %s

// Seven rows on two, three or four members. What all members hold before the update is the loss, and each gradient once.
// CHECK-LABEL: func.func @sgd(
// CHECK-COUNT-5: dl.all_reduce sum(data)
// CHECK-NOT: dl.all_
// CHECK: return
dl.variable @w1 : tensor<6x5xf32> role(parameter) init(#dl.uniform<-0.4, 0.4>)
dl.variable @b1 : tensor<6xf32> role(parameter) init(#dl.uniform<-0.4, 0.4>)
dl.variable @w2 : tensor<4x6xf32> role(parameter) init(#dl.uniform<-0.4, 0.4>)
dl.variable @b2 : tensor<4xf32> role(parameter) init(#dl.uniform<-0.4, 0.4>)
dl.variable @buffer : tensor<6x5xf32> role(optimizer_state) init(#dl.uniform<-0.1, 0.1>)
dl.variable @lr : tensor<f64> role(hyper) init(#dl.constant<0.1>)
dl.variable @decay : tensor<f64> role(hyper) init(#dl.constant<0.01>)
dl.variable @momentum : tensor<f64> role(hyper) init(#dl.constant<0.9>)

func.func @sgd(%x: tensor<7x5xf32>, %t: tensor<7x4xf32>) -> tensor<f32> attributes {dl.entry} {
  %w1 = dl.read @w1 : tensor<6x5xf32>
  %b1 = dl.read @b1 : tensor<6xf32>
  %w2 = dl.read @w2 : tensor<4x6xf32>
  %b2 = dl.read @b2 : tensor<4xf32>
  %0 = dl.dot_general %x, %w1 batch [] x [] contract [1] x [1] : (tensor<7x5xf32>, tensor<6x5xf32>) -> tensor<7x6xf32>
  %1 = dl.broadcast %b1 dims [1] : (tensor<6xf32>) -> tensor<7x6xf32>
  %2 = dl.add %0, %1 : tensor<7x6xf32>
  %3 = dl.relu %2 : tensor<7x6xf32>
  %4 = dl.dot_general %3, %w2 batch [] x [] contract [1] x [1] : (tensor<7x6xf32>, tensor<4x6xf32>) -> tensor<7x4xf32>
  %5 = dl.broadcast %b2 dims [1] : (tensor<4xf32>) -> tensor<7x4xf32>
  %6 = dl.add %4, %5 : tensor<7x4xf32>
  %loss = dl.mse %6, %t : (tensor<7x4xf32>, tensor<7x4xf32>) -> tensor<f32>
  %g:4 = dl.gradient %loss wrt %w1, %b1, %w2, %b2 : tensor<f32>, tensor<6x5xf32>, tensor<6xf32>, tensor<4x6xf32>, tensor<4xf32>
  %lr = dl.read @lr : tensor<f64>
  %decay = dl.read @decay : tensor<f64>
  %momentum = dl.read @momentum : tensor<f64>
  %buffer = dl.read @buffer : tensor<6x5xf32>
  %w1n, %buffern = dl.sgd %w1, %g#0 lr %lr weight_decay %decay buffer %buffer momentum %momentum
      : (tensor<6x5xf32>, tensor<6x5xf32>, tensor<f64>, tensor<f64>, tensor<6x5xf32>, tensor<f64>) -> (tensor<6x5xf32>, tensor<6x5xf32>)
  %b1n = dl.sgd %b1, %g#1 lr %lr weight_decay %decay : (tensor<6xf32>, tensor<6xf32>, tensor<f64>, tensor<f64>) -> tensor<6xf32>
  %w2n = dl.sgd %w2, %g#2 lr %lr weight_decay %decay : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f64>, tensor<f64>) -> tensor<4x6xf32>
  %b2n = dl.sgd %b2, %g#3 lr %lr weight_decay %decay : (tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>) -> tensor<4xf32>
  dl.write @w1, %w1n : tensor<6x5xf32>
  dl.write @b1, %b1n : tensor<6xf32>
  dl.write @w2, %w2n : tensor<4x6xf32>
  dl.write @b2, %b2n : tensor<4xf32>
  dl.write @buffer, %buffern : tensor<6x5xf32>
  return %loss : tensor<f32>
}
