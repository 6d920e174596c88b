// A 64-32-10 network on the handwritten digits, trained by SGD with momentum: two entries share the state. This is the module
// that the embedding test trains; `dlc compile digits.mlir -o digits.so`, then any program that links dlc::runtime runs it.
// RUN: dlc-check %s
module @digits {
  dl.variable @fc1.weight : tensor<32x64xf32> role(parameter) init(#dl.uniform<-0.125, 0.125>)
  dl.variable @fc1.bias : tensor<32xf32> role(parameter) init(#dl.uniform<-0.125, 0.125, offset = 1>)
  dl.variable @fc2.weight : tensor<10x32xf32> role(parameter) init(#dl.uniform<-0.17677669, 0.17677669, offset = 2>)
  dl.variable @fc2.bias : tensor<10xf32> role(parameter) init(#dl.uniform<-0.17677669, 0.17677669, offset = 3>)
  dl.variable @opt.momentum_buffer.fc1.weight : tensor<32x64xf32> role(optimizer_state) init(#dl.zeros)
  dl.variable @opt.momentum_buffer.fc1.bias : tensor<32xf32> role(optimizer_state) init(#dl.zeros)
  dl.variable @opt.momentum_buffer.fc2.weight : tensor<10x32xf32> role(optimizer_state) init(#dl.zeros)
  dl.variable @opt.momentum_buffer.fc2.bias : tensor<10xf32> role(optimizer_state) init(#dl.zeros)
  dl.variable @opt.lr : tensor<f64> role(hyper) init(#dl.constant<0.05>)
  dl.variable @opt.momentum : tensor<f64> role(hyper) init(#dl.constant<0.9>)
  dl.variable @opt.weight_decay : tensor<f64> role(hyper) init(#dl.constant<0.0>)

  func.func @train(%images: tensor<32x1x8x8xf32> {dl.name = "images"}, %labels: tensor<32xi64> {dl.name = "labels", dl.test = "index:10"})
      -> (tensor<f32> {dl.name = "loss"}) attributes {dl.entry} {
    %w1 = dl.read @fc1.weight : tensor<32x64xf32>
    %b1 = dl.read @fc1.bias : tensor<32xf32>
    %w2 = dl.read @fc2.weight : tensor<10x32xf32>
    %b2 = dl.read @fc2.bias : tensor<10xf32>

    // hidden = relu(x w1ᵀ + b1)
    %x = dl.reshape %images : (tensor<32x1x8x8xf32>) -> tensor<32x64xf32>
    %xw = dl.dot_general %x, %w1 batch [] x [] contract [1] x [1] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x32xf32>
    %b1b = dl.broadcast %b1 dims [1] : (tensor<32xf32>) -> tensor<32x32xf32>
    %h = dl.add %xw, %b1b : tensor<32x32xf32>
    %a = dl.relu %h : tensor<32x32xf32>

    // logits = hidden w2ᵀ + b2
    %aw = dl.dot_general %a, %w2 batch [] x [] contract [1] x [1] : (tensor<32x32xf32>, tensor<10x32xf32>) -> tensor<32x10xf32>
    %b2b = dl.broadcast %b2 dims [1] : (tensor<10xf32>) -> tensor<32x10xf32>
    %logits = dl.add %aw, %b2b : tensor<32x10xf32>

    %loss = dl.cross_entropy %logits, %labels : (tensor<32x10xf32>, tensor<32xi64>) -> tensor<f32>
    %g:4 = dl.gradient %loss wrt %w1, %b1, %w2, %b2
      : tensor<f32>, tensor<32x64xf32>, tensor<32xf32>, tensor<10x32xf32>, tensor<10xf32>

    %lr = dl.read @opt.lr : tensor<f64>
    %mu = dl.read @opt.momentum : tensor<f64>
    %wd = dl.read @opt.weight_decay : tensor<f64>
    %m0 = dl.read @opt.momentum_buffer.fc1.weight : tensor<32x64xf32>
    %w1n, %m0n = dl.sgd %w1, %g#0 lr %lr weight_decay %wd buffer %m0 momentum %mu
      : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<f64>, tensor<f64>, tensor<32x64xf32>, tensor<f64>) -> (tensor<32x64xf32>, tensor<32x64xf32>)
    dl.write @fc1.weight, %w1n : tensor<32x64xf32>
    dl.write @opt.momentum_buffer.fc1.weight, %m0n : tensor<32x64xf32>
    %m1 = dl.read @opt.momentum_buffer.fc1.bias : tensor<32xf32>
    %b1n, %m1n = dl.sgd %b1, %g#1 lr %lr weight_decay %wd buffer %m1 momentum %mu
      : (tensor<32xf32>, tensor<32xf32>, tensor<f64>, tensor<f64>, tensor<32xf32>, tensor<f64>) -> (tensor<32xf32>, tensor<32xf32>)
    dl.write @fc1.bias, %b1n : tensor<32xf32>
    dl.write @opt.momentum_buffer.fc1.bias, %m1n : tensor<32xf32>
    %m2 = dl.read @opt.momentum_buffer.fc2.weight : tensor<10x32xf32>
    %w2n, %m2n = dl.sgd %w2, %g#2 lr %lr weight_decay %wd buffer %m2 momentum %mu
      : (tensor<10x32xf32>, tensor<10x32xf32>, tensor<f64>, tensor<f64>, tensor<10x32xf32>, tensor<f64>) -> (tensor<10x32xf32>, tensor<10x32xf32>)
    dl.write @fc2.weight, %w2n : tensor<10x32xf32>
    dl.write @opt.momentum_buffer.fc2.weight, %m2n : tensor<10x32xf32>
    %m3 = dl.read @opt.momentum_buffer.fc2.bias : tensor<10xf32>
    %b2n, %m3n = dl.sgd %b2, %g#3 lr %lr weight_decay %wd buffer %m3 momentum %mu
      : (tensor<10xf32>, tensor<10xf32>, tensor<f64>, tensor<f64>, tensor<10xf32>, tensor<f64>) -> (tensor<10xf32>, tensor<10xf32>)
    dl.write @fc2.bias, %b2n : tensor<10xf32>
    dl.write @opt.momentum_buffer.fc2.bias, %m3n : tensor<10xf32>
    return %loss : tensor<f32>
  }

  func.func @evaluate(%images: tensor<359x1x8x8xf32> {dl.name = "images"}) -> (tensor<359x10xf32> {dl.name = "logits"})
      attributes {dl.entry} {
    %w1 = dl.read @fc1.weight : tensor<32x64xf32>
    %b1 = dl.read @fc1.bias : tensor<32xf32>
    %w2 = dl.read @fc2.weight : tensor<10x32xf32>
    %b2 = dl.read @fc2.bias : tensor<10xf32>

    // hidden = relu(x w1ᵀ + b1)
    %x = dl.reshape %images : (tensor<359x1x8x8xf32>) -> tensor<359x64xf32>
    %xw = dl.dot_general %x, %w1 batch [] x [] contract [1] x [1] : (tensor<359x64xf32>, tensor<32x64xf32>) -> tensor<359x32xf32>
    %b1b = dl.broadcast %b1 dims [1] : (tensor<32xf32>) -> tensor<359x32xf32>
    %h = dl.add %xw, %b1b : tensor<359x32xf32>
    %a = dl.relu %h : tensor<359x32xf32>

    // logits = hidden w2ᵀ + b2
    %aw = dl.dot_general %a, %w2 batch [] x [] contract [1] x [1] : (tensor<359x32xf32>, tensor<10x32xf32>) -> tensor<359x10xf32>
    %b2b = dl.broadcast %b2 dims [1] : (tensor<10xf32>) -> tensor<359x10xf32>
    %logits = dl.add %aw, %b2b : tensor<359x10xf32>
    return %logits : tensor<359x10xf32>
  }
}
