// The 10-20-10 net of the golden curve: ReLU, mean squared error, batch 20.
module @mlp {
  dl.variable @fc1.weight : tensor<20x10xf32> role(parameter) init(#dl.zeros)
  dl.variable @fc1.bias : tensor<20xf32> role(parameter) init(#dl.zeros)
  dl.variable @fc2.weight : tensor<10x20xf32> role(parameter) init(#dl.zeros)
  dl.variable @fc2.bias : tensor<10xf32> role(parameter) init(#dl.zeros)

  func.func @train(%x: tensor<20x10xf32>, %y: tensor<20x10xf32>) -> tensor<f32> attributes {dl.entry} {
    %w1 = dl.read @fc1.weight : tensor<20x10xf32>
    %b1 = dl.read @fc1.bias : tensor<20xf32>
    %w2 = dl.read @fc2.weight : tensor<10x20xf32>
    %b2 = dl.read @fc2.bias : tensor<10xf32>
    %xw = dl.dot_general %x, %w1 batch [] x [] contract [1] x [1] : (tensor<20x10xf32>, tensor<20x10xf32>) -> tensor<20x20xf32>
    %b1b = dl.broadcast %b1 dims [1] : (tensor<20xf32>) -> tensor<20x20xf32>
    %z = dl.add %xw, %b1b : tensor<20x20xf32>
    %h = dl.relu %z : tensor<20x20xf32>
    %hw = dl.dot_general %h, %w2 batch [] x [] contract [1] x [1] : (tensor<20x20xf32>, tensor<10x20xf32>) -> tensor<20x10xf32>
    %b2b = dl.broadcast %b2 dims [1] : (tensor<10xf32>) -> tensor<20x10xf32>
    %o = dl.add %hw, %b2b : tensor<20x10xf32>
    %loss = dl.mse %o, %y : (tensor<20x10xf32>, tensor<20x10xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
