func.func @f(%x: tensor<300x50xf32>) -> tensor<50xf32> attributes {dl.entry} {
  %y = dl.reduce_sum %x over [0] : (tensor<300x50xf32>) -> tensor<50xf32>
  return %y : tensor<50xf32>
}
