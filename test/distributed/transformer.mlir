// RUN: dlc-check %s -mesh=data=2
// RUN: dlc-check %s -mesh=data=3
// RUN: dlc-check %s -mesh=data=4
// RUN: dlc-opt %s -dl-set-mesh=axes=data=3 -dl-set-data-parallel -dl-frontend-pipeline -dl-partition-pipeline 2>&1 | FileCheck %s

// Nothing but gradients and the loss is exchanged: attention, norms and embeddings are of rows.
// CHECK-NOT: remark
// CHECK-LABEL: func.func @block(
// CHECK-COUNT-8: dl.all_reduce sum(data)
// CHECK-NOT: dl.all_
// CHECK: return
dl.variable @token : tensor<9x4xf32> role(parameter) init(#dl.uniform<-1.0, 1.0>)
dl.variable @position : tensor<3x4xf32> role(parameter) init(#dl.uniform<-1.0, 1.0>)
dl.variable @scale : tensor<4xf32> role(parameter) init(#dl.uniform<0.5, 1.5>)
dl.variable @shift : tensor<4xf32> role(parameter) init(#dl.uniform<-0.5, 0.5>)
dl.variable @qkv : tensor<12x4xf32> role(parameter) init(#dl.uniform<-0.5, 0.5>)
dl.variable @out : tensor<4x4xf32> role(parameter) init(#dl.uniform<-0.5, 0.5>)
dl.variable @head : tensor<9x4xf32> role(parameter) init(#dl.uniform<-0.5, 0.5>)

func.func @block(%ids: tensor<5x3xi64> {dl.test = "index:9"}, %next: tensor<5x3xi64> {dl.test = "index:9"})
    -> (tensor<f32>, tensor<9x4xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<12x4xf32>, tensor<4x4xf32>, tensor<9x4xf32>)
    attributes {dl.entry} {
  %token = dl.read @token : tensor<9x4xf32>
  %position = dl.read @position : tensor<3x4xf32>
  %scale = dl.read @scale : tensor<4xf32>
  %shift = dl.read @shift : tensor<4xf32>
  %qkv = dl.read @qkv : tensor<12x4xf32>
  %out = dl.read @out : tensor<4x4xf32>
  %head = dl.read @head : tensor<9x4xf32>
  %0 = dl.gather %token, %ids axis 0 : (tensor<9x4xf32>, tensor<5x3xi64>) -> tensor<5x3x4xf32>
  %1 = dl.broadcast %position dims [1, 2] : (tensor<3x4xf32>) -> tensor<5x3x4xf32>
  %x = dl.add %0, %1 : tensor<5x3x4xf32>
  %n = dl.layer_norm %x weight %scale bias %shift axis 2 eps 1.0e-5 : (tensor<5x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<5x3x4xf32>
  %p = dl.dot_general %n, %qkv batch [] x [] contract [2] x [1] : (tensor<5x3x4xf32>, tensor<12x4xf32>) -> tensor<5x3x12xf32>
  %q = dl.slice %p starts [0, 0, 0] limits [5, 3, 4] strides [1, 1, 1] : (tensor<5x3x12xf32>) -> tensor<5x3x4xf32>
  %k = dl.slice %p starts [0, 0, 4] limits [5, 3, 8] strides [1, 1, 1] : (tensor<5x3x12xf32>) -> tensor<5x3x4xf32>
  %v = dl.slice %p starts [0, 0, 8] limits [5, 3, 12] strides [1, 1, 1] : (tensor<5x3x12xf32>) -> tensor<5x3x4xf32>
  %qh0 = dl.reshape %q : (tensor<5x3x4xf32>) -> tensor<5x3x2x2xf32>
  %kh0 = dl.reshape %k : (tensor<5x3x4xf32>) -> tensor<5x3x2x2xf32>
  %vh0 = dl.reshape %v : (tensor<5x3x4xf32>) -> tensor<5x3x2x2xf32>
  %qh = dl.transpose %qh0 permutation [0, 2, 1, 3] : (tensor<5x3x2x2xf32>) -> tensor<5x2x3x2xf32>
  %kh = dl.transpose %kh0 permutation [0, 2, 1, 3] : (tensor<5x3x2x2xf32>) -> tensor<5x2x3x2xf32>
  %vh = dl.transpose %vh0 permutation [0, 2, 1, 3] : (tensor<5x3x2x2xf32>) -> tensor<5x2x3x2xf32>
  %a, %lse = dl.attention %qh, %kh, %vh causal scale 0.7 : (tensor<5x2x3x2xf32>, tensor<5x2x3x2xf32>, tensor<5x2x3x2xf32>) -> (tensor<5x2x3x2xf32>, tensor<5x2x3xf32>)
  %at = dl.transpose %a permutation [0, 2, 1, 3] : (tensor<5x2x3x2xf32>) -> tensor<5x3x2x2xf32>
  %am = dl.reshape %at : (tensor<5x3x2x2xf32>) -> tensor<5x3x4xf32>
  %o = dl.dot_general %am, %out batch [] x [] contract [2] x [1] : (tensor<5x3x4xf32>, tensor<4x4xf32>) -> tensor<5x3x4xf32>
  %og = dl.gelu %o : tensor<5x3x4xf32>
  %r = dl.add %x, %og : tensor<5x3x4xf32>
  %l = dl.dot_general %r, %head batch [] x [] contract [2] x [1] : (tensor<5x3x4xf32>, tensor<9x4xf32>) -> tensor<5x3x9xf32>
  %rows = dl.reshape %l : (tensor<5x3x9xf32>) -> tensor<15x9xf32>
  %targets = dl.reshape %next : (tensor<5x3xi64>) -> tensor<15xi64>
  %sum = dl.cross_entropy %rows, %targets {reduction = #dl.loss_reduction<sum>} : (tensor<15x9xf32>, tensor<15xi64>) -> tensor<f32>
  %g:7 = dl.gradient %sum wrt %token, %position, %scale, %shift, %qkv, %out, %head
    : tensor<f32>, tensor<9x4xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<12x4xf32>, tensor<4x4xf32>, tensor<9x4xf32>
  return %sum, %g#0, %g#1, %g#2, %g#3, %g#4, %g#5, %g#6
    : tensor<f32>, tensor<9x4xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<12x4xf32>, tensor<4x4xf32>, tensor<9x4xf32>
}
