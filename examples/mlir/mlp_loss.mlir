// A 10-20-10 network and its loss, nothing else: `dlc compile --train=sgd` adds the gradients, the optimizer's state and
// the updates.
module @mlp {
  dl.variable @fc1.weight : tensor<20x10xf32> role(parameter) init(#dl.uniform<-0.31622776, 0.31622776>)
  dl.variable @fc1.bias : tensor<20xf32> role(parameter) init(#dl.uniform<-0.31622776, 0.31622776, offset = 1>)
  dl.variable @fc2.weight : tensor<10x20xf32> role(parameter) init(#dl.uniform<-0.2236068, 0.2236068, offset = 2>)
  dl.variable @fc2.bias : tensor<10xf32> role(parameter) init(#dl.uniform<-0.2236068, 0.2236068, offset = 3>)

  func.func @train(%x: tensor<8x10xf32> {dl.name = "x"}, %y: tensor<8xi64> {dl.name = "y", dl.test = "index:10"})
      -> (tensor<f32> {dl.name = "loss"}) attributes {dl.entry, dl.check_gradient} {
    %w1 = dl.read @fc1.weight : tensor<20x10xf32>
    %b1 = dl.read @fc1.bias : tensor<20xf32>
    %w2 = dl.read @fc2.weight : tensor<10x20xf32>
    %b2 = dl.read @fc2.bias : tensor<10xf32>

    %xw = dl.dot_general %x, %w1 batch [] x [] contract [1] x [1] : (tensor<8x10xf32>, tensor<20x10xf32>) -> tensor<8x20xf32>
    %b1b = dl.broadcast %b1 dims [1] : (tensor<20xf32>) -> tensor<8x20xf32>
    %h = dl.add %xw, %b1b : tensor<8x20xf32>
    %a = dl.tanh %h : tensor<8x20xf32>

    %aw = dl.dot_general %a, %w2 batch [] x [] contract [1] x [1] : (tensor<8x20xf32>, tensor<10x20xf32>) -> tensor<8x10xf32>
    %b2b = dl.broadcast %b2 dims [1] : (tensor<10xf32>) -> tensor<8x10xf32>
    %logits = dl.add %aw, %b2b : tensor<8x10xf32>

    %loss = dl.cross_entropy %logits, %y : (tensor<8x10xf32>, tensor<8xi64>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
