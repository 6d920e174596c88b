func.func @f(%x: tensor<9x40xf32>, %i: tensor<33xi64> {dl.test = "index:9"}, %u: tensor<33x40xf32>) -> tensor<9x40xf32> attributes {dl.entry} {
  %y = dl.scatter %x, %i, %u axis 0 kind(add) : (tensor<9x40xf32>, tensor<33xi64>, tensor<33x40xf32>) -> tensor<9x40xf32>
  return %y : tensor<9x40xf32>
}
