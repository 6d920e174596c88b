// The transformer block of test/golden, forward and loss only; its weights are read from there.
module @transformer {
  dl.variable @token.weight : tensor<65x64xf32> role(parameter) init(#dl.zeros)
  dl.variable @position.weight : tensor<32x64xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.norm1.weight : tensor<64xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.norm1.bias : tensor<64xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.attention.in_proj_weight : tensor<192x64xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.attention.in_proj_bias : tensor<192xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.attention.out_proj.weight : tensor<64x64xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.attention.out_proj.bias : tensor<64xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.norm2.weight : tensor<64xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.norm2.bias : tensor<64xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.mlp.0.weight : tensor<256x64xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.mlp.0.bias : tensor<256xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.mlp.2.weight : tensor<64x256xf32> role(parameter) init(#dl.zeros)
  dl.variable @block.mlp.2.bias : tensor<64xf32> role(parameter) init(#dl.zeros)
  dl.variable @norm.weight : tensor<64xf32> role(parameter) init(#dl.zeros)
  dl.variable @norm.bias : tensor<64xf32> role(parameter) init(#dl.zeros)
  dl.variable @head.weight : tensor<65x64xf32> role(parameter) init(#dl.zeros)
  dl.variable @head.bias : tensor<65xf32> role(parameter) init(#dl.zeros)
  func.func @train(%x: tensor<8x32xi64> {dl.name = "x"}, %y: tensor<8x32xi64> {dl.name = "y"}) -> (tensor<f32> {dl.name = "loss"}) attributes {dl.entry} {
    %token_w = dl.read @token.weight : tensor<65x64xf32>
    %position_w = dl.read @position.weight : tensor<32x64xf32>
    %norm1_w = dl.read @block.norm1.weight : tensor<64xf32>
    %norm1_b = dl.read @block.norm1.bias : tensor<64xf32>
    %in_w = dl.read @block.attention.in_proj_weight : tensor<192x64xf32>
    %in_b = dl.read @block.attention.in_proj_bias : tensor<192xf32>
    %out_w = dl.read @block.attention.out_proj.weight : tensor<64x64xf32>
    %out_b = dl.read @block.attention.out_proj.bias : tensor<64xf32>
    %norm2_w = dl.read @block.norm2.weight : tensor<64xf32>
    %norm2_b = dl.read @block.norm2.bias : tensor<64xf32>
    %fc1_w = dl.read @block.mlp.0.weight : tensor<256x64xf32>
    %fc1_b = dl.read @block.mlp.0.bias : tensor<256xf32>
    %fc2_w = dl.read @block.mlp.2.weight : tensor<64x256xf32>
    %fc2_b = dl.read @block.mlp.2.bias : tensor<64xf32>
    %norm_w = dl.read @norm.weight : tensor<64xf32>
    %norm_b = dl.read @norm.bias : tensor<64xf32>
    %head_w = dl.read @head.weight : tensor<65x64xf32>
    %head_b = dl.read @head.bias : tensor<65xf32>
    %tokens = dl.gather %token_w, %x axis 0 : (tensor<65x64xf32>, tensor<8x32xi64>) -> tensor<8x32x64xf32>
    %positions = dl.broadcast %position_w dims [1, 2] : (tensor<32x64xf32>) -> tensor<8x32x64xf32>
    %h0 = dl.add %tokens, %positions : tensor<8x32x64xf32>
    %n1 = dl.layer_norm %h0 weight %norm1_w bias %norm1_b axis 2 eps 1.0e-5 : (tensor<8x32x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<8x32x64xf32>
    %qkv_p = dl.dot_general %n1, %in_w batch [] x [] contract [2] x [1] : (tensor<8x32x64xf32>, tensor<192x64xf32>) -> tensor<8x32x192xf32>
    %qkv_b = dl.broadcast %in_b dims [2] : (tensor<192xf32>) -> tensor<8x32x192xf32>
    %qkv = dl.add %qkv_p, %qkv_b : tensor<8x32x192xf32>
    %q1 = dl.slice %qkv starts [0, 0, 0] limits [8, 32, 64] strides [1, 1, 1] : (tensor<8x32x192xf32>) -> tensor<8x32x64xf32>
    %q2 = dl.reshape %q1 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %q = dl.transpose %q2 permutation [0, 2, 1, 3] : (tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %k1 = dl.slice %qkv starts [0, 0, 64] limits [8, 32, 128] strides [1, 1, 1] : (tensor<8x32x192xf32>) -> tensor<8x32x64xf32>
    %k2 = dl.reshape %k1 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %k = dl.transpose %k2 permutation [0, 2, 1, 3] : (tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %v1 = dl.slice %qkv starts [0, 0, 128] limits [8, 32, 192] strides [1, 1, 1] : (tensor<8x32x192xf32>) -> tensor<8x32x64xf32>
    %v2 = dl.reshape %v1 : (tensor<8x32x64xf32>) -> tensor<8x32x4x16xf32>
    %v = dl.transpose %v2 permutation [0, 2, 1, 3] : (tensor<8x32x4x16xf32>) -> tensor<8x4x32x16xf32>
    %heads, %lse = dl.attention %q, %k, %v causal scale 0.25 : (tensor<8x4x32x16xf32>, tensor<8x4x32x16xf32>, tensor<8x4x32x16xf32>) -> (tensor<8x4x32x16xf32>, tensor<8x4x32xf32>)
    %a1 = dl.transpose %heads permutation [0, 2, 1, 3] : (tensor<8x4x32x16xf32>) -> tensor<8x32x4x16xf32>
    %a = dl.reshape %a1 : (tensor<8x32x4x16xf32>) -> tensor<8x32x64xf32>
    %o_p = dl.dot_general %a, %out_w batch [] x [] contract [2] x [1] : (tensor<8x32x64xf32>, tensor<64x64xf32>) -> tensor<8x32x64xf32>
    %o_b = dl.broadcast %out_b dims [2] : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %o = dl.add %o_p, %o_b : tensor<8x32x64xf32>
    %h1 = dl.add %h0, %o : tensor<8x32x64xf32>
    %n2 = dl.layer_norm %h1 weight %norm2_w bias %norm2_b axis 2 eps 1.0e-5 : (tensor<8x32x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<8x32x64xf32>
    %f1_p = dl.dot_general %n2, %fc1_w batch [] x [] contract [2] x [1] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %f1_b = dl.broadcast %fc1_b dims [2] : (tensor<256xf32>) -> tensor<8x32x256xf32>
    %f1 = dl.add %f1_p, %f1_b : tensor<8x32x256xf32>
    %g = dl.gelu %f1 : tensor<8x32x256xf32>
    %f2_p = dl.dot_general %g, %fc2_w batch [] x [] contract [2] x [1] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %f2_b = dl.broadcast %fc2_b dims [2] : (tensor<64xf32>) -> tensor<8x32x64xf32>
    %f2 = dl.add %f2_p, %f2_b : tensor<8x32x64xf32>
    %h2 = dl.add %h1, %f2 : tensor<8x32x64xf32>
    %n3 = dl.layer_norm %h2 weight %norm_w bias %norm_b axis 2 eps 1.0e-5 : (tensor<8x32x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<8x32x64xf32>
    %logits_p = dl.dot_general %n3, %head_w batch [] x [] contract [2] x [1] : (tensor<8x32x64xf32>, tensor<65x64xf32>) -> tensor<8x32x65xf32>
    %logits_b = dl.broadcast %head_b dims [2] : (tensor<65xf32>) -> tensor<8x32x65xf32>
    %logits = dl.add %logits_p, %logits_b : tensor<8x32x65xf32>
    %rows = dl.reshape %logits : (tensor<8x32x65xf32>) -> tensor<256x65xf32>
    %targets = dl.reshape %y : (tensor<8x32xi64>) -> tensor<256xi64>
    %loss = dl.cross_entropy %rows, %targets : (tensor<256x65xf32>, tensor<256xi64>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
