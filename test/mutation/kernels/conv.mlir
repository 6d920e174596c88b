func.func @f(%x: tensor<2x5x9x11xf32>, %w: tensor<7x5x3x3xf32>) -> tensor<2x7x9x11xf32> attributes {dl.entry} {
  %y = dl.conv %x, %w strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<2x5x9x11xf32>, tensor<7x5x3x3xf32>) -> tensor<2x7x9x11xf32>
  return %y : tensor<2x7x9x11xf32>
}
