func.func @f(%x: tensor<70x97xf32>) -> tensor<97x70xf32> attributes {dl.entry} {
  %y = dl.transpose %x permutation [1, 0] : (tensor<70x97xf32>) -> tensor<97x70xf32>
  return %y : tensor<97x70xf32>
}
