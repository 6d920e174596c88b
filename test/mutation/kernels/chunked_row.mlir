func.func @f(%x: tensor<2x40003xf32>) -> tensor<2xf32> attributes {dl.entry} {
  %y = dl.reduce_sum %x over [1] : (tensor<2x40003xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
