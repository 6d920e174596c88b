// A 10-20-10 network with its whole training step written out: forward, loss, gradients, SGD. `dlc compile mlp.mlir`.
module @mlp {
  dl.variable @fc1.weight : tensor<20x10xf32> role(parameter) init(#dl.uniform<-0.31622776, 0.31622776>)
  dl.variable @fc1.bias : tensor<20xf32> role(parameter) init(#dl.uniform<-0.31622776, 0.31622776, offset = 1>)
  dl.variable @fc2.weight : tensor<10x20xf32> role(parameter) init(#dl.uniform<-0.2236068, 0.2236068, offset = 2>)
  dl.variable @fc2.bias : tensor<10xf32> role(parameter) init(#dl.uniform<-0.2236068, 0.2236068, offset = 3>)
  dl.variable @opt.lr : tensor<f64> role(hyper) init(#dl.constant<0.1>)
  dl.variable @opt.weight_decay : tensor<f64> role(hyper) init(#dl.constant<0.0>)

  func.func @train(%x: tensor<8x10xf32> {dl.name = "x"}, %y: tensor<8xi64> {dl.name = "y", dl.test = "index:10"})
      -> (tensor<f32> {dl.name = "loss"}) attributes {dl.entry} {
    %w1 = dl.read @fc1.weight : tensor<20x10xf32>
    %b1 = dl.read @fc1.bias : tensor<20xf32>
    %w2 = dl.read @fc2.weight : tensor<10x20xf32>
    %b2 = dl.read @fc2.bias : tensor<10xf32>

    // hidden = tanh(x w1ᵀ + b1)
    %xw = dl.dot_general %x, %w1 batch [] x [] contract [1] x [1] : (tensor<8x10xf32>, tensor<20x10xf32>) -> tensor<8x20xf32>
    %b1b = dl.broadcast %b1 dims [1] : (tensor<20xf32>) -> tensor<8x20xf32>
    %h = dl.add %xw, %b1b : tensor<8x20xf32>
    %a = dl.tanh %h : tensor<8x20xf32>

    // logits = hidden w2ᵀ + b2
    %aw = dl.dot_general %a, %w2 batch [] x [] contract [1] x [1] : (tensor<8x20xf32>, tensor<10x20xf32>) -> tensor<8x10xf32>
    %b2b = dl.broadcast %b2 dims [1] : (tensor<10xf32>) -> tensor<8x10xf32>
    %logits = dl.add %aw, %b2b : tensor<8x10xf32>
    %loss = dl.cross_entropy %logits, %y : (tensor<8x10xf32>, tensor<8xi64>) -> tensor<f32>

    %g:4 = dl.gradient %loss wrt %w1, %b1, %w2, %b2
      : tensor<f32>, tensor<20x10xf32>, tensor<20xf32>, tensor<10x20xf32>, tensor<10xf32>

    %lr = dl.read @opt.lr : tensor<f64>
    %wd = dl.read @opt.weight_decay : tensor<f64>
    %w1n = dl.sgd %w1, %g#0 lr %lr weight_decay %wd
      : (tensor<20x10xf32>, tensor<20x10xf32>, tensor<f64>, tensor<f64>) -> tensor<20x10xf32>
    %b1n = dl.sgd %b1, %g#1 lr %lr weight_decay %wd : (tensor<20xf32>, tensor<20xf32>, tensor<f64>, tensor<f64>) -> tensor<20xf32>
    %w2n = dl.sgd %w2, %g#2 lr %lr weight_decay %wd
      : (tensor<10x20xf32>, tensor<10x20xf32>, tensor<f64>, tensor<f64>) -> tensor<10x20xf32>
    %b2n = dl.sgd %b2, %g#3 lr %lr weight_decay %wd : (tensor<10xf32>, tensor<10xf32>, tensor<f64>, tensor<f64>) -> tensor<10xf32>
    dl.write @fc1.weight, %w1n : tensor<20x10xf32>
    dl.write @fc1.bias, %b1n : tensor<20xf32>
    dl.write @fc2.weight, %w2n : tensor<10x20xf32>
    dl.write @fc2.bias, %b2n : tensor<10xf32>
    return %loss : tensor<f32>
  }
}
