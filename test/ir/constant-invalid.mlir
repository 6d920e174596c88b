// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @absent() -> tensor<2xf32> {
  // expected-error @+1 {{expects 8 bytes of resource 'absent', got 0}}
  %y = dl.constant dense_resource<absent> : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// expected-error @+1 {{expects 12 bytes of resource 'short', got 8}}
dl.variable @w : tensor<3xf32> role(parameter) init(dense_resource<short> : tensor<3xf32>)

{-#
  dialect_resources: { builtin: { short: "0x040000000000803F000000C0" } }
#-}
