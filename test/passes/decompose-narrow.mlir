// RUN: dlc-opt %s -dl-decompose | FileCheck %s
// RUN: dlc-opt %s -dl-autodiff -dl-decompose | FileCheck %s --check-prefix=ADJOINT

// A composite of 16 bits computes in f32 from its first step to its last.
// CHECK-LABEL: func.func @loss
// CHECK: %[[D:.*]] = dl.sub %{{.*}}, %{{.*}} : tensor<4x8xf32>
// CHECK: %[[MEAN:.*]] = dl.div
// CHECK: dl.cast %[[MEAN]] : tensor<f32> to tensor<bf16>
// CHECK-NOT: tensor<4x8xbf16>
// CHECK: return
func.func @loss(%x: tensor<4x8xbf16>, %t: tensor<4x8xbf16>) -> tensor<bf16> {
  %y = dl.mse %x, %t : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<bf16>
  return %y : tensor<bf16>
}

// So does its derivative.
// ADJOINT-LABEL: func.func @gradient
// ADJOINT-NOT: dl.mul {{.*}}bf16
// ADJOINT-NOT: dl.sub {{.*}}bf16
// ADJOINT: return
func.func @gradient(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %y = dl.softmax %x axis 1 : tensor<4x8xbf16>
  %z = dl.logsumexp %y over [0, 1] : (tensor<4x8xbf16>) -> tensor<bf16>
  %g = dl.gradient %z wrt %x : tensor<bf16>, tensor<4x8xbf16>
  return %g : tensor<4x8xbf16>
}
