// RUN: dlc-opt %s -canonicalize | FileCheck %s

// Constants fold in the op's own type.
// CHECK-LABEL: func.func @rounds_to_f32(
// CHECK: dl.constant dense<0.100000024> : tensor<2xf32>
func.func @rounds_to_f32() -> tensor<2xf32> {
  %a = dl.constant dense<1.1> : tensor<2xf32>
  %b = dl.constant dense<1.0> : tensor<2xf32>
  %y = dl.sub %a, %b : tensor<2xf32>
  return %y : tensor<2xf32>
}

// NUM-07 and a chain of types.
// CHECK-LABEL: func.func @saturates(
// CHECK: dl.constant dense<[0, 2147483647, -2147483648, -3, 300]> : tensor<5xi32>
func.func @saturates() -> tensor<5xi32> {
  %x = dl.constant dense<[0x7FC00000, 0x7F800000, 0xFF800000, -3.7, 300.0]> : tensor<5xf32>
  %y = dl.cast %x : tensor<5xf32> to tensor<5xi32>
  return %y : tensor<5xi32>
}

// A large i64 is rounded once: by way of double it would become 2^60.
// CHECK-LABEL: func.func @rounds_once(
// CHECK: dl.constant dense<1.15292164E+18> : tensor<f32>
func.func @rounds_once() -> tensor<f32> {
  %x = dl.constant dense<1152921573326323713> : tensor<i64>
  %y = dl.cast %x : tensor<i64> to tensor<f32>
  return %y : tensor<f32>
}

// NUM-03 and NUM-05.
// CHECK-LABEL: func.func @edges(
// CHECK-DAG: dl.constant dense<[-2147483648, 0]> : tensor<2xi32>
// CHECK-DAG: dl.constant dense<0x7FC00000> : tensor<2xf32>
func.func @edges() -> (tensor<2xi32>, tensor<2xf32>) {
  %a = dl.constant dense<[-2147483648, 7]> : tensor<2xi32>
  %b = dl.constant dense<[-1, 0]> : tensor<2xi32>
  %q = dl.div %a, %b : tensor<2xi32>
  %n = dl.constant dense<0x7FC00000> : tensor<2xf32>
  %z = dl.constant dense<0.0> : tensor<2xf32>
  %m = dl.maximum %z, %n : tensor<2xf32>
  %r = dl.relu %m : tensor<2xf32>
  return %q, %r : tensor<2xi32>, tensor<2xf32>
}

// A splat of any size folds, other constants up to 1024 elements.
// CHECK-LABEL: func.func @splat(
// CHECK: dl.constant dense<3.000000e+00> : tensor<512x512xf32>
func.func @splat() -> tensor<512x512xf32> {
  %a = dl.constant dense<1.0> : tensor<512x512xf32>
  %b = dl.constant dense<2.0> : tensor<512x512xf32>
  %y = dl.add %a, %b : tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// Polynomials differ from the host's functions in the last bit: never folded.
// CHECK-LABEL: func.func @functions_stay(
// CHECK: dl.exp
// CHECK: dl.tanh
func.func @functions_stay() -> tensor<f32> {
  %x = dl.constant dense<1.0> : tensor<f32>
  %e = dl.exp %x : tensor<f32>
  %t = dl.tanh %e : tensor<f32>
  return %t : tensor<f32>
}

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[I]]
func.func @identities(%x: tensor<4xf32>, %i: tensor<4xi32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %one = dl.constant dense<1.0> : tensor<4xf32>
  %zero = dl.constant dense<0.0> : tensor<4xf32>
  %minus_zero = dl.constant dense<-0.0> : tensor<4xf32>
  %izero = dl.constant dense<0> : tensor<4xi32>
  %a = dl.mul %one, %x : tensor<4xf32>
  %b = dl.div %x, %one : tensor<4xf32>
  %c = dl.sub %x, %zero : tensor<4xf32>
  %d = dl.add %x, %minus_zero : tensor<4xf32>
  %n = dl.neg %x : tensor<4xf32>
  %e = dl.neg %n : tensor<4xf32>
  %f = dl.add %i, %izero : tensor<4xi32>
  return %a, %b, %c, %d, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// x + 0 changes -0, x - (-0) too, x * 0 a NaN, x - x an infinity: none of them folds.
// CHECK-LABEL: func.func @not_identities(
// CHECK: dl.add
// CHECK: dl.sub
// CHECK: dl.mul
// CHECK: dl.sub
func.func @not_identities(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = dl.constant dense<0.0> : tensor<4xf32>
  %minus_zero = dl.constant dense<-0.0> : tensor<4xf32>
  %a = dl.add %x, %zero : tensor<4xf32>
  %b = dl.sub %x, %minus_zero : tensor<4xf32>
  %c = dl.mul %x, %zero : tensor<4xf32>
  %d = dl.sub %x, %x : tensor<4xf32>
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Only a cast to a type that holds every value may be undone.
// CHECK-LABEL: func.func @casts
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>)
// CHECK: %[[HALF:.*]] = dl.cast %[[I]] : tensor<4xi32> to tensor<4xf32>
// CHECK: %[[BACK:.*]] = dl.cast %[[HALF]] : tensor<4xf32> to tensor<4xi32>
// CHECK: return %[[X]], %[[I]], %[[BACK]]
func.func @casts(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  %a = dl.cast %x : tensor<4xf32> to tensor<4xf64>
  %b = dl.cast %a : tensor<4xf64> to tensor<4xf32>
  %c = dl.cast %i : tensor<4xi32> to tensor<4xf64>
  %d = dl.cast %c : tensor<4xf64> to tensor<4xi32>
  %e = dl.cast %i : tensor<4xi32> to tensor<4xf32>
  %f = dl.cast %e : tensor<4xf32> to tensor<4xi32>
  return %b, %d, %f : tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}

// A quotient by a power of two is a product; by another number it is not.
// CHECK-LABEL: func.func @power_of_two(
// CHECK: %[[EIGHTH:.*]] = dl.constant dense<1.250000e-01> : tensor<4xf32>
// CHECK: dl.mul %{{.*}}, %[[EIGHTH]]
// CHECK: dl.div
func.func @power_of_two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %eight = dl.constant dense<8.0> : tensor<4xf32>
  %three = dl.constant dense<3.0> : tensor<4xf32>
  %a = dl.div %x, %eight : tensor<4xf32>
  %b = dl.div %x, %three : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @select_not
// CHECK-SAME: (%[[C:.*]]: tensor<4xi1>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT: dl.select %[[C]], %[[B]], %[[A]]
func.func @select_not(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %n = dl.not %c : tensor<4xi1>
  %y = dl.select %n, %a, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}
