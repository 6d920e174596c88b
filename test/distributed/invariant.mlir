// RUN: dlc-check %s -mesh=data=3
// RUN: dlc compile %s -o %t.1.so
// RUN: sed -e 's/"data" = 1 of/"data" = 2 of/' %s > %t.2.mlir
// RUN: sed -e 's/"data" = 1 of/"data" = 4 of/' %s > %t.4.mlir
// RUN: sed -e 's/"data" = 1 of/"data" = 8 of/' %s > %t.8.mlir
// RUN: dlc compile %t.2.mlir -o %t.2.so
// RUN: dlc compile %t.4.mlir --bucket-mb=0.001 -o %t.4.so
// RUN: dlc compile %t.8.mlir -o %t.8.so
// RUN: dlc run %t.1.so --steps 5 --save-state %t.1.safetensors
// RUN: dlc run %t.2.so --devices=cpu:2 --steps 5 --save-state %t.2.safetensors
// RUN: dlc run %t.4.so --devices=cpu:4 --steps 5 --save-state %t.4.safetensors
// RUN: dlc run %t.8.so --devices=cpu:8 --steps 5 --save-state %t.8.safetensors
// RUN: cmp %t.1.safetensors %t.2.safetensors
// RUN: cmp %t.1.safetensors %t.4.safetensors
// RUN: cmp %t.1.safetensors %t.8.safetensors

// Twenty-one rows in eight leaves of three: on 1, 2, 4 and 8 members (the last of them has none) five steps of training leave
// the same bits.
dl.mesh @mesh ["data" = 1 of 8]
dl.variable @table : tensor<16x24xf32> role(parameter) init(#dl.normal<0.0, 1.0>)
dl.variable @gain : tensor<24xf32> role(parameter) init(#dl.constant<1.0>)
dl.variable @w1 : tensor<40x24xf32> role(parameter) init(#dl.uniform<-0.2, 0.2, offset = 1>)
dl.variable @b1 : tensor<40xf32> role(parameter) init(#dl.uniform<-0.2, 0.2, offset = 2>)
dl.variable @w2 : tensor<8x40xf32> role(parameter) init(#dl.uniform<-0.2, 0.2, offset = 3>)
dl.variable @running : tensor<24xf32> role(buffer) init(#dl.zeros)
dl.variable @lr : tensor<f64> role(hyper) init(#dl.constant<0.1>)
dl.variable @decay : tensor<f64> role(hyper) init(#dl.constant<0.01>)

func.func @step() -> tensor<f32> attributes {dl.entry, dl.tolerance = 1.0e-5 : f64} {
  // Rows are drawn, each the same wherever it is.
  %seed = dl.constant dense<7> : tensor<i64>
  %first = dl.constant dense<1> : tensor<i64>
  %second = dl.constant dense<2> : tensor<i64>
  %bits = dl.random_bits %seed, %first : tensor<21x24xi32>
  %drawn = dl.cast %bits : tensor<21x24xi32> to tensor<21x24xf32>
  %small = dl.constant dense<4.65661287e-10> : tensor<21x24xf32>
  %scaled = dl.mul %drawn, %small : tensor<21x24xf32>
  %x0 = dl.reshard %scaled to <[data, _]> : tensor<21x24xf32>
  %more = dl.random_bits %seed, %second : tensor<21xi64>
  %seven = dl.constant dense<7> : tensor<21xi64>
  %class = dl.and %more, %seven : tensor<21xi64>
  %y = dl.reshard %class to <[data]> : tensor<21xi64>

  %table = dl.read @table : tensor<16x24xf32>
  %gain = dl.read @gain : tensor<24xf32>
  %w1 = dl.read @w1 : tensor<40x24xf32>
  %b1 = dl.read @b1 : tensor<40xf32>
  %w2 = dl.read @w2 : tensor<8x40xf32>
  %e = dl.gather %table, %y axis 0 : (tensor<16x24xf32>, tensor<21xi64>) -> tensor<21x24xf32>
  %x = dl.add %x0, %e : tensor<21x24xf32>
  %n, %mean, %var = dl.batch_norm %x weight %gain eps 1.0e-05 : (tensor<21x24xf32>, tensor<24xf32>) -> (tensor<21x24xf32>, tensor<24xf32>, tensor<24xf32>)
  %0 = dl.dot_general %n, %w1 batch [] x [] contract [1] x [1] : (tensor<21x24xf32>, tensor<40x24xf32>) -> tensor<21x40xf32>
  %1 = dl.broadcast %b1 dims [1] : (tensor<40xf32>) -> tensor<21x40xf32>
  %2 = dl.add %0, %1 : tensor<21x40xf32>
  %3 = dl.gelu %2 : tensor<21x40xf32>
  %logits = dl.dot_general %3, %w2 batch [] x [] contract [1] x [1] : (tensor<21x40xf32>, tensor<8x40xf32>) -> tensor<21x8xf32>
  %loss = dl.cross_entropy %logits, %y : (tensor<21x8xf32>, tensor<21xi64>) -> tensor<f32>
  %g:5 = dl.gradient %loss wrt %table, %gain, %w1, %b1, %w2 : tensor<f32>, tensor<16x24xf32>, tensor<24xf32>, tensor<40x24xf32>, tensor<40xf32>, tensor<8x40xf32>
  %lr = dl.read @lr : tensor<f64>
  %decay = dl.read @decay : tensor<f64>
  %tn = dl.sgd %table, %g#0 lr %lr weight_decay %decay : (tensor<16x24xf32>, tensor<16x24xf32>, tensor<f64>, tensor<f64>) -> tensor<16x24xf32>
  %gn = dl.sgd %gain, %g#1 lr %lr weight_decay %decay : (tensor<24xf32>, tensor<24xf32>, tensor<f64>, tensor<f64>) -> tensor<24xf32>
  %w1n = dl.sgd %w1, %g#2 lr %lr weight_decay %decay : (tensor<40x24xf32>, tensor<40x24xf32>, tensor<f64>, tensor<f64>) -> tensor<40x24xf32>
  %b1n = dl.sgd %b1, %g#3 lr %lr weight_decay %decay : (tensor<40xf32>, tensor<40xf32>, tensor<f64>, tensor<f64>) -> tensor<40xf32>
  %w2n = dl.sgd %w2, %g#4 lr %lr weight_decay %decay : (tensor<8x40xf32>, tensor<8x40xf32>, tensor<f64>, tensor<f64>) -> tensor<8x40xf32>
  dl.write @table, %tn : tensor<16x24xf32>
  dl.write @gain, %gn : tensor<24xf32>
  dl.write @w1, %w1n : tensor<40x24xf32>
  dl.write @b1, %b1n : tensor<40xf32>
  dl.write @w2, %w2n : tensor<8x40xf32>
  dl.write @running, %mean : tensor<24xf32>
  return %loss : tensor<f32>
}
