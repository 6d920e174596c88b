// SimpleCNN on 8x8 digits, forward and loss only: `dlc compile simple_cnn_loss.mlir --train sgd -o simple_cnn.so` adds the rest,
// with hyper-parameters that `dlc run --set lr=0.05` changes without compiling again. Initial values are PyTorch's.
module @simple_cnn {
  dl.variable @conv1.weight : tensor<32x1x3x3xf32> role(parameter) init(#dl.uniform<-0.33333333, 0.33333333>)
  dl.variable @conv1.bias : tensor<32xf32> role(parameter) init(#dl.uniform<-0.33333333, 0.33333333, offset = 1>)
  dl.variable @conv2.weight : tensor<64x32x3x3xf32> role(parameter) init(#dl.uniform<-0.058925565, 0.058925565, offset = 2>)
  dl.variable @conv2.bias : tensor<64xf32> role(parameter) init(#dl.uniform<-0.058925565, 0.058925565, offset = 3>)
  dl.variable @fc.weight : tensor<10x256xf32> role(parameter) init(#dl.uniform<-0.0625, 0.0625, offset = 4>)
  dl.variable @fc.bias : tensor<10xf32> role(parameter) init(#dl.uniform<-0.0625, 0.0625, offset = 5>)
  func.func @train(%x: tensor<64x1x8x8xf32> {dl.name = "x"}, %y: tensor<64xi64> {dl.name = "y"}) -> (tensor<f32> {dl.name = "loss"}) attributes {dl.entry} {
    %w1 = dl.read @conv1.weight : tensor<32x1x3x3xf32>
    %b1 = dl.read @conv1.bias : tensor<32xf32>
    %w2 = dl.read @conv2.weight : tensor<64x32x3x3xf32>
    %b2 = dl.read @conv2.bias : tensor<64xf32>
    %w3 = dl.read @fc.weight : tensor<10x256xf32>
    %b3 = dl.read @fc.bias : tensor<10xf32>
    %c1 = dl.conv %x, %w1 strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<64x1x8x8xf32>, tensor<32x1x3x3xf32>) -> tensor<64x32x8x8xf32>
    %bb1 = dl.broadcast %b1 dims [1] : (tensor<32xf32>) -> tensor<64x32x8x8xf32>
    %a1 = dl.add %c1, %bb1 : tensor<64x32x8x8xf32>
    %r1 = dl.relu %a1 : tensor<64x32x8x8xf32>
    %p1 = dl.max_pool %r1 kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<64x32x8x8xf32>) -> tensor<64x32x4x4xf32>
    %c2 = dl.conv %p1, %w2 strides [1, 1] padding_lo [1, 1] padding_hi [1, 1] : (tensor<64x32x4x4xf32>, tensor<64x32x3x3xf32>) -> tensor<64x64x4x4xf32>
    %bb2 = dl.broadcast %b2 dims [1] : (tensor<64xf32>) -> tensor<64x64x4x4xf32>
    %a2 = dl.add %c2, %bb2 : tensor<64x64x4x4xf32>
    %r2 = dl.relu %a2 : tensor<64x64x4x4xf32>
    %p2 = dl.max_pool %r2 kernel [2, 2] strides [2, 2] padding_lo [0, 0] padding_hi [0, 0] : (tensor<64x64x4x4xf32>) -> tensor<64x64x2x2xf32>
    %f = dl.reshape %p2 : (tensor<64x64x2x2xf32>) -> tensor<64x256xf32>
    %l = dl.dot_general %f, %w3 batch [] x [] contract [1] x [1] : (tensor<64x256xf32>, tensor<10x256xf32>) -> tensor<64x10xf32>
    %bb3 = dl.broadcast %b3 dims [1] : (tensor<10xf32>) -> tensor<64x10xf32>
    %logits = dl.add %l, %bb3 : tensor<64x10xf32>
    %loss = dl.cross_entropy %logits, %y : (tensor<64x10xf32>, tensor<64xi64>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
