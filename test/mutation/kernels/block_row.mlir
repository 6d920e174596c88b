func.func @f(%x: tensor<3x3001xf32>) -> tensor<3x3001xf32> attributes {dl.entry} {
  %y = dl.softmax %x axis 1 : tensor<3x3001xf32>
  return %y : tensor<3x3001xf32>
}
