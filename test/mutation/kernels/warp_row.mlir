func.func @f(%x: tensor<5x300xf32>) -> tensor<5x300xf32> attributes {dl.entry} {
  %y = dl.softmax %x axis 1 : tensor<5x300xf32>
  return %y : tensor<5x300xf32>
}
