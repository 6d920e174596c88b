func.func @f(%a: tensor<4011xf32>, %b: tensor<4011xf32>) -> tensor<4011xf32> attributes {dl.entry} {
  %p = dl.mul %a, %b : tensor<4011xf32>
  %y = dl.tanh %p : tensor<4011xf32>
  return %y : tensor<4011xf32>
}
