// Bad input: one located sentence, exit code 1; wrong usage: 2; a limit: 3.
// RUN: split-file %s %t
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/undeclared.mlir -o %t/m.so 2>&1 | FileCheck %s --check-prefix=UNDECLARED
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/types.mlir -o %t/m.so 2>&1 | FileCheck %s --check-prefix=TYPES
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/unused.mlir -o %t/m.so 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/empty.mlir -o %t/m.so 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/narrow.mlir -o %t/m.so 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/unranked.mlir -o %t/m.so 2>&1 | FileCheck %s --check-prefix=UNRANKED
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/names.mlir -o %t/m.so 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/none.mlir -o %t/m.so 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/good.mlir --cpu z80 -o %t/m.so 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/good.mlir --print-ir-after dl-fusion -o %t/m.so 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: %S/Inputs/expect_exit.sh 1 dlc compile %t/good.mlir -o %t/no/such/folder/m.so 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: %S/Inputs/expect_exit.sh 2 dlc compile %t/good.mlir 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: %S/Inputs/expect_exit.sh 2 dlc frobnicate 2>&1 | FileCheck %s --check-prefix=COMMAND
// RUN: %S/Inputs/expect_exit.sh 2 dlc compile %t/good.mlir --memory-limit=-1 -o %t/m.so 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: %S/Inputs/expect_exit.sh 3 dlc compile %t/identity.mlir --memory-limit 100 -o %t/m.so 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: %S/Inputs/expect_exit.sh 3 dlc compile %t/good.mlir --memory-limit 600 -o %t/m.so 2>&1 | FileCheck %s --check-prefix=LIMIT
// RUN: %S/Inputs/expect_exit.sh 3 dlc compile %t/good.mlir --activation-budget 100 -o %t/m.so 2>&1 | FileCheck %s --check-prefix=BUDGET

// UNDECLARED: undeclared.mlir:2:19: error: use of undeclared SSA value name
// TYPES: types.mlir:2:{{[0-9]+}}: error: {{.*}}tensor<4xf32>{{.*}}tensor<5xf32>
// UNUSED: unused.mlir:3:{{[0-9]+}}: error:
// EMPTY: no entry: mark a func.func with the attribute dl.entry
// NARROW: narrow.mlir:1:1: error: {{.*}}tensors of f64, f32, f16, bf16, i64, i32, i8 or i1 with a static shape, got 'tensor<3xi16>'
// UNRANKED: unranked.mlir:1:1: error: {{.*}}got 'tensor<*xf32>'
// NAMES: names.mlir:1:1: error: expects different names of the arguments of 'f', got two 'x'
// NONE: none.mlir: expected a file with MLIR text, found none
// CPU: unknown cpu 'z80'; expected host, x86-64-v3 or x86-64-v4
// PASS: no pass is named 'dl-fusion'
// FOLDER: no/such/folder
// OUTPUT: --output
// COMMAND: A subcommand is required
// ALONE: error: entry 'f' expects to need at most 100 bytes, got 128
// ALONE: note: what is not an activation needs 128 bytes alone
// NEGATIVE: --memory-limit: {{.*}}-1
// LIMIT: good.mlir:1:{{[0-9]+}}: error: {{.*}}at most 600 bytes, got
// LIMIT: good.mlir:2:{{[0-9]+}}: note: 256 bytes live at the peak, in use there
// LIMIT: note: 16 bit instead of 32 would save about {{[0-9]+}} bytes
// LIMIT: note: half the batch would save about {{[0-9]+}} bytes
// LIMIT: note: bytes by class: activations {{[0-9]+}}, arguments and results 512, constants 0
// BUDGET: error: {{.*}}at most 100 bytes of activations, got

//--- undeclared.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %y = dl.add %x, %z : tensor<4xf32>
  return %y : tensor<4xf32>
}
//--- types.mlir
func.func @f(%x: tensor<4xf32>, %z: tensor<5xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %y = "dl.add"(%x, %z) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
//--- unused.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %l = dl.constant dense<1.0> : tensor<f32>
  %g = dl.gradient %l wrt %x : tensor<f32>, tensor<4xf32>
  return %g : tensor<4xf32>
}
//--- empty.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
//--- narrow.mlir
func.func @f(%x: tensor<3xi16>) -> tensor<3xi16> attributes {dl.entry} {
  return %x : tensor<3xi16>
}
//--- unranked.mlir
func.func @f(%x: tensor<*xf32>) -> tensor<*xf32> attributes {dl.entry} {
  return %x : tensor<*xf32>
}
//--- names.mlir
func.func @f(%a: tensor<3xf32> {dl.name = "x"}, %b: tensor<3xf32> {dl.name = "x"}) -> tensor<3xf32> attributes {dl.entry} {
  return %a : tensor<3xf32>
}
//--- identity.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  return %x : tensor<4xf32>
}

//--- good.mlir
func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {dl.entry} {
  %a = dl.dot_general %x, %x batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = dl.dot_general %a, %x batch [] x [] contract [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %b : tensor<8x8xf32>
}
