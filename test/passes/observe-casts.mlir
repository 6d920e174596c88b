// RUN: dlc-opt %s -dl-observe-casts | FileCheck %s

// CHECK-LABEL: func.func @entry
// CHECK-SAME: -> (tensor<4xf32>, tensor<f32> {dl.name = "cast.0.max"}, tensor<f32> {dl.name = "cast.0.min"})
// CHECK: %[[C:.*]] = dl.cast %[[X:.*]] {dl.reason = "because"}
// CHECK: %[[A:.*]] = dl.abs %[[X]] : tensor<4xf32>
// CHECK: %[[Z:.*]] = dl.compare eq, %[[A]]
// CHECK: %[[S:.*]] = dl.select %[[Z]], %{{.*}}, %[[A]]
// CHECK: %[[MOST:.*]] = dl.reduce_max %[[A]] over [0]
// CHECK: %[[LEAST:.*]] = dl.reduce_min %[[S]] over [0]
// CHECK: return %{{.*}}, %[[MOST]], %[[LEAST]]
func.func @entry(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %0 = dl.cast %x {dl.reason = "because"} : tensor<4xf32> to tensor<4xbf16>
  %1 = dl.cast %0 : tensor<4xbf16> to tensor<4xf32>
  return %1 : tensor<4xf32>
}
