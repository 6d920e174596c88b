// RUN: dlc-opt %s -dl-fingerprint=terms=a --mlir-print-debuginfo | FileCheck %s --check-prefix=A
// RUN: dlc-opt %s -dl-fingerprint=terms=a | dlc-opt -dl-fingerprint=terms=b | FileCheck %s --check-prefix=A
// RUN: dlc-opt %s -dl-fingerprint=terms=a | grep -o 'fingerprint = "[0-9a-f]*"' > %t.a
// RUN: sed -e 's/^  //' %s | dlc-opt -dl-fingerprint=terms=a | grep -o 'fingerprint = "[0-9a-f]*"' | diff %t.a -
// RUN: dlc-opt %s -dl-fingerprint=terms=b | grep -o 'fingerprint = "[0-9a-f]*"' | not diff %t.a - > /dev/null
// RUN: sed -e 's/neg/exp/' %s | dlc-opt -dl-fingerprint=terms=a | grep -o 'fingerprint = "[0-9a-f]*"' | not diff %t.a - > /dev/null
// RUN: sed -e 's/= 2\]/= 3]/' %s | dlc-opt -dl-fingerprint=terms=a | grep -o 'fingerprint = "[0-9a-f]*"' | not diff %t.a - > /dev/null
// RUN: grep -v 'dl.mesh' %s | dlc-opt -dl-fingerprint=terms=a | FileCheck %s --check-prefix=NONE

// The hash has 64 digits, is the same wherever the text stands, and another one for other terms, ops or meshes.
// A: module attributes {dl.fingerprint = "{{[0-9a-f]+}}"}
// NONE-NOT: dl.fingerprint =
dl.mesh @mesh ["data" = 2]
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %y = dl.neg %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
