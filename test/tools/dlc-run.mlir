// A counter and a decaying weight: state lives in the artifact's session, checkpoints carry it on.
// RUN: dlc compile %s -o %t.so
// RUN: dlc run %t.so --entry step --save-state %t.one.safetensors | FileCheck %s --check-prefix=ONE
// RUN: dlc run %t.so --entry step --steps 3 --set rate=0.25 | FileCheck %s --check-prefix=THREE
// RUN: dlc run %t.so --entry step --state %t.one.safetensors | FileCheck %s --check-prefix=RESUMED
// RUN: not dlc run %t.so 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not dlc run %t.so --entry step --set speed=1 2>&1 | FileCheck %s --check-prefix=SETTING
// RUN: not dlc run %t.so --entry scale 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not dlc run %t.so --entry step --output %t.npy --output %t.npy 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not dlc run %t.so --entry step --state %s 2>&1 | FileCheck %s --check-prefix=STATE

// 8 * 0.5 = 4; then 8 * 0.25^3 = 0.125 with another rate; a resumed run goes on from 4.
// ONE: weight = 4
// ONE: count = 1
// THREE: weight = 0.125
// THREE: count = 3
// RESUMED: weight = 2
// RESUMED: count = 2
// ENTRY: dlc: expected --entry, one of: step, scale
// SETTING: dlc: no hyper-parameter 'speed'; there are: opt.rate
// MISSING: dlc: missing --input for argument 'x', f32[4]
// TWICE: --output: two results would be written to
// STATE: dlc-run.mlir: {{.*}}header

dl.variable @weight : tensor<f32> role(parameter) init(#dl.constant<8.0>)
dl.variable @opt.rate : tensor<f64> role(hyper) init(#dl.constant<0.5>)
dl.variable @count : tensor<i64> role(counter) init(#dl.zeros)

func.func @step() -> (tensor<f32> {dl.name = "weight"}, tensor<i64> {dl.name = "count"}) attributes {dl.entry} {
  %w = dl.read @weight : tensor<f32>
  %rate = dl.read @opt.rate : tensor<f64>
  %r = dl.cast %rate : tensor<f64> to tensor<f32>
  %new = dl.mul %w, %r : tensor<f32>
  dl.write @weight, %new : tensor<f32>
  %n = dl.read @count : tensor<i64>
  %one = dl.constant dense<1> : tensor<i64>
  %next = dl.add %n, %one : tensor<i64>
  dl.write @count, %next : tensor<i64>
  return %new, %next : tensor<f32>, tensor<i64>
}

func.func @scale(%x: tensor<4xf32> {dl.name = "x"}) -> (tensor<4xf32> {dl.name = "y"}) attributes {dl.entry} {
  %w = dl.read @weight : tensor<f32>
  %b = dl.broadcast %w dims [] : (tensor<f32>) -> tensor<4xf32>
  %y = dl.mul %x, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}
