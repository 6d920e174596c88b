// RUN: dlc-opt %s -dl-simplify | FileCheck %s

// CHECK-LABEL: func.func @twice_the_same
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK: %[[SUM:.*]] = dl.add %[[X]], %[[Y]]
// CHECK-NEXT: %[[PRODUCT:.*]] = dl.mul %[[SUM]], %[[SUM]]
// CHECK-NEXT: return %[[PRODUCT]]
func.func @twice_the_same(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dl.add %x, %y : tensor<4xf32>
  %1 = dl.add %x, %y : tensor<4xf32>
  %2 = dl.mul %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
