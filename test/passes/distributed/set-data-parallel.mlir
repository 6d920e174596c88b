// RUN: dlc-opt %s -dl-set-data-parallel | FileCheck %s

dl.mesh @mesh ["data" = 4]

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %{{.*}}: tensor<7x784xf32> {dl.name = "x", dl.sharding = #dl.sharding<[data, _]>}
// CHECK-SAME: %{{.*}}: tensor<7xi64> {dl.sharding = #dl.sharding<[data]>}
// CHECK-SAME: %{{.*}}: tensor<f32>,
// CHECK-SAME: %{{.*}}: tensor<5x5xf32> {dl.sharding = #dl.sharding<[_, _]>}
func.func @step(%x: tensor<7x784xf32> {dl.name = "x"}, %y: tensor<7xi64>, %s: tensor<f32>,
                %kept: tensor<5x5xf32> {dl.sharding = #dl.sharding<[_, _]>}) attributes {dl.entry} {
  return
}

// CHECK-LABEL: func.func private @no_entry(tensor<7xf32>)
func.func private @no_entry(tensor<7xf32>)
