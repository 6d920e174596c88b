func.func @f(%a: tensor<1003xf32>, %b: tensor<1003xf32>) -> tensor<1003xf32> attributes {dl.entry} {
  %p = dl.mul %a, %b : tensor<1003xf32>
  %y = dl.tanh %p : tensor<1003xf32>
  return %y : tensor<1003xf32>
}
