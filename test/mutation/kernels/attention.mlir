func.func @f(%q: tensor<2x2x70x16xf32>, %k: tensor<2x2x70x16xf32>, %v: tensor<2x2x70x16xf32>) -> tensor<2x2x70x16xf32> attributes {dl.entry} {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.25
    : (tensor<2x2x70x16xf32>, tensor<2x2x70x16xf32>, tensor<2x2x70x16xf32>) -> (tensor<2x2x70x16xf32>, tensor<2x2x70xf32>)
  return %y : tensor<2x2x70x16xf32>
}
