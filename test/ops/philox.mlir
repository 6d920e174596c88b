// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// The known answers of the paper's reference implementation (Random123, kat_vectors): words 0 and 1 of counter and key
// all zeros, all ones, and the digits of pi.
// CHECK-LABEL: func.func @philox(
// CHECK: dl.philox %{{.*}}, %{{.*}}, %{{.*}} : tensor<3xi64> to tensor<3xi32>
func.func @philox(
    %seed: tensor<3xi64> {dl.value = dense<[0, 0xFFFFFFFFFFFFFFFF, 0x299F31D0A4093822]> : tensor<3xi64>},
    %offset: tensor<3xi64> {dl.value = dense<[0, 0xFFFFFFFFFFFFFFFF, 0x0370734413198A2E]> : tensor<3xi64>},
    %index: tensor<3xi64> {dl.value = dense<[0, 0xFFFFFFFFFFFFFFFF, 0x85A308D3243F6A88]> : tensor<3xi64>})
    -> (tensor<3xi32>, tensor<3xi64>)
    attributes {dl.expect = [dense<[0x6627E8D5, 0x408F276D, 0xD16CFE09]> : tensor<3xi32>,
                             dense<[0x6627E8D5E169C58D, 0x408F276D41C83B0E, 0xD16CFE0994FDCCEB]> : tensor<3xi64>]} {
  %word = dl.philox %seed, %offset, %index : tensor<3xi64> to tensor<3xi32>
  %words = dl.philox %seed, %offset, %index : tensor<3xi64> to tensor<3xi64>
  return %word, %words : tensor<3xi32>, tensor<3xi64>
}
