// RUN: sed -e 's/f32/bf16/g' %S/invariant.mlir > %t.1.mlir
// RUN: sed -e 's/"data" = 1 of/"data" = 2 of/' %t.1.mlir > %t.2.mlir
// RUN: sed -e 's/"data" = 1 of/"data" = 8 of/' %t.1.mlir > %t.8.mlir
// RUN: dlc compile %t.1.mlir -o %t.1.so
// RUN: dlc compile %t.2.mlir -o %t.2.so
// RUN: dlc compile %t.8.mlir -o %t.8.so
// RUN: dlc run %t.1.so --steps 5 --save-state %t.1.safetensors | FileCheck %s
// RUN: dlc run %t.2.so --devices=cpu:2 --steps 5 --save-state %t.2.safetensors
// RUN: dlc run %t.8.so --devices=cpu:8 --steps 5 --save-state %t.8.safetensors
// RUN: cmp %t.1.safetensors %t.2.safetensors
// RUN: cmp %t.1.safetensors %t.8.safetensors
// RUN: sed -e 's/"data" = 1 of/"data" = 2 of/' %S/invariant.mlir > %t.two.mlir
// RUN: dlc compile %S/invariant.mlir --amp=fp16 -o %t.one.so
// RUN: dlc compile %t.two.mlir --amp=fp16 -o %t.two.so
// RUN: dlc run %t.one.so --steps 5 --save-state %t.one.safetensors | FileCheck %s
// RUN: dlc run %t.two.so --devices=cpu:2 --steps 5 --save-state %t.two.safetensors
// RUN: cmp %t.one.safetensors %t.two.safetensors

// invariant.mlir in bf16, and in fp16 autocast: parts of a sum that members hold are f32, rounded behind the reduction.
// CHECK-NOT: nan
// CHECK-NOT: inf
