// RUN: dlc compile %s -o %t.so
// RUN: dlc inspect %t.so | FileCheck %s
// RUN: dlc inspect %t.so --json | FileCheck %s --check-prefix=JSON
// RUN: not dlc inspect %s 2>&1 | FileCheck %s --check-prefix=TEXT

// CHECK: entries
// CHECK-NEXT: predict(x: f32[2,3]) -> (y: f32[2,3]){{ +}}planned peak {{[0-9]+}} bytes
// CHECK: variables
// CHECK-NEXT: layer.weight{{ +}}parameter{{ +}}f32[2,3]{{ +}}uniform [-0.5, 0.5)
// CHECK: parameter{{ +}}64
// JSON: "entries":[{"arguments":[{"name":"x","shape":[2,3],"type":"f32"}],"name":"predict"
// TEXT: not a dlc artifact: expected an ELF file

dl.variable @layer.weight : tensor<2x3xf32> role(parameter) init(#dl.uniform<-0.5, 0.5>)

func.func @predict(%x: tensor<2x3xf32> {dl.name = "x"}) -> (tensor<2x3xf32> {dl.name = "y"}) attributes {dl.entry} {
  %w = dl.read @layer.weight : tensor<2x3xf32>
  %y = dl.add %x, %w : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
