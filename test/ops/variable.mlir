// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK: dl.variable @zeros : tensor<2x3xf32> role(parameter) init(#dl.zeros)
dl.variable @zeros : tensor<2x3xf32> role(parameter) init(#dl.zeros)
// CHECK: dl.variable @lr : tensor<f64> role(hyper) init(#dl.constant<1.000000e-02 : f64>)
dl.variable @lr : tensor<f64> role(hyper) init(#dl.constant<0.01 : f64>)
// CHECK: dl.variable @fc1.weight : tensor<2x3xf32> role(parameter) init(#dl.uniform<-3.000000e-01 : f64, 3.000000e-01 : f64, offset = 4>)
dl.variable @fc1.weight : tensor<2x3xf32> role(parameter) init(#dl.uniform<-0.3 : f64, 0.3 : f64, offset = 4>)
// CHECK: dl.variable @noise : tensor<4xf32> role(buffer) init(#dl.normal<0.000000e+00 : f64, 1.000000e+00 : f64>)
dl.variable @noise : tensor<4xf32> role(buffer) init(#dl.normal<0.0 : f64, 1.0 : f64>)
// CHECK: dl.variable @step : tensor<i64> role(counter) init(dense<7> : tensor<i64>) slot(<"counter.i64", 64, 8>)
dl.variable @step : tensor<i64> role(counter) init(dense<7> : tensor<i64>) slot(#dl.slot<"counter.i64", 64, 8>)
