func.func @f(%x: tensor<2x3x11x13xf32>) -> tensor<2x3x6x7xf32> attributes {dl.entry} {
  %y = dl.max_pool %x kernel [3, 3] strides [2, 2] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x3x11x13xf32>) -> tensor<2x3x6x7xf32>
  return %y : tensor<2x3x6x7xf32>
}
