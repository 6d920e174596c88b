// One group a function; GroupKernelTest runs each as a GPU kernel on the simulated device.

func.func @pointwise_flat(%a0: tensor<300x20xf32>, %a1: tensor<20xf32>) -> tensor<300x20xf32> {
  %r = dl.group kind(pointwise) [300, 20] (%x = %a0 : tensor<300x20xf32>, %y = %a1 : tensor<20xf32>) -> tensor<300x20xf32> {
    %1 = dl.broadcast %y dims [1] : (tensor<20xf32>) -> tensor<300x20xf32>
    %2 = dl.add %x, %1 : tensor<300x20xf32>
    %3 = dl.exp %2 : tensor<300x20xf32>
    dl.yield %3 : tensor<300x20xf32>
  }
  return %r : tensor<300x20xf32>
}

func.func @pointwise_odd(%a0: tensor<7x13xf32>, %a1: tensor<13xf32>) -> tensor<7x13xf32> {
  %r = dl.group kind(pointwise) [7, 13] (%x = %a0 : tensor<7x13xf32>, %y = %a1 : tensor<13xf32>) -> tensor<7x13xf32> {
    %1 = dl.broadcast %y dims [1] : (tensor<13xf32>) -> tensor<7x13xf32>
    %2 = dl.add %x, %1 : tensor<7x13xf32>
    %3 = dl.exp %2 : tensor<7x13xf32>
    dl.yield %3 : tensor<7x13xf32>
  }
  return %r : tensor<7x13xf32>
}

func.func @pointwise_pairs(%a0: tensor<33x6xf32>, %a1: tensor<6xf32>) -> tensor<33x6xf32> {
  %r = dl.group kind(pointwise) [33, 6] (%x = %a0 : tensor<33x6xf32>, %y = %a1 : tensor<6xf32>) -> tensor<33x6xf32> {
    %1 = dl.broadcast %y dims [1] : (tensor<6xf32>) -> tensor<33x6xf32>
    %2 = dl.add %x, %1 : tensor<33x6xf32>
    %3 = dl.exp %2 : tensor<33x6xf32>
    dl.yield %3 : tensor<33x6xf32>
  }
  return %r : tensor<33x6xf32>
}

func.func @pointwise_f64(%a0: tensor<1000xf64>) -> tensor<1000xf64> {
  %r = dl.group kind(pointwise) [1000] (%x = %a0 : tensor<1000xf64>) -> tensor<1000xf64> {
    %1 = dl.exp %x : tensor<1000xf64>
    dl.yield %1 : tensor<1000xf64>
  }
  return %r : tensor<1000xf64>
}

func.func @transposed(%a0: tensor<100x70xf32>, %a1: tensor<70x100xf32>) -> tensor<70x100xf32> {
  %r = dl.group kind(pointwise) [70, 100] (%x = %a0 : tensor<100x70xf32>, %y = %a1 : tensor<70x100xf32>) -> tensor<70x100xf32> {
    %1 = dl.transpose %x permutation [1, 0] : (tensor<100x70xf32>) -> tensor<70x100xf32>
    %2 = dl.add %1, %y : tensor<70x100xf32>
    dl.yield %2 : tensor<70x100xf32>
  }
  return %r : tensor<70x100xf32>
}

func.func @transposed_inner(%a0: tensor<5x33x40xf32>, %a1: tensor<5x40x33xf32>) -> tensor<5x40x33xf32> {
  %r = dl.group kind(pointwise) [5, 40, 33] (%x = %a0 : tensor<5x33x40xf32>, %y = %a1 : tensor<5x40x33xf32>) -> tensor<5x40x33xf32> {
    %1 = dl.transpose %x permutation [0, 2, 1] : (tensor<5x33x40xf32>) -> tensor<5x40x33xf32>
    %2 = dl.add %1, %y : tensor<5x40x33xf32>
    dl.yield %2 : tensor<5x40x33xf32>
  }
  return %r : tensor<5x40x33xf32>
}

func.func @transposed_outer(%a0: tensor<5x33x40xf32>, %a1: tensor<40x33x5xf32>) -> tensor<40x33x5xf32> {
  %r = dl.group kind(pointwise) [40, 33, 5] (%x = %a0 : tensor<5x33x40xf32>, %y = %a1 : tensor<40x33x5xf32>) -> tensor<40x33x5xf32> {
    %1 = dl.transpose %x permutation [2, 1, 0] : (tensor<5x33x40xf32>) -> tensor<40x33x5xf32>
    %2 = dl.add %1, %y : tensor<40x33x5xf32>
    dl.yield %2 : tensor<40x33x5xf32>
  }
  return %r : tensor<40x33x5xf32>
}

func.func @permuted(%a0: tensor<4x6x10x12xf32>, %a1: tensor<4x10x12x6xf32>) -> tensor<4x10x12x6xf32> {
  %r = dl.group kind(pointwise) [4, 10, 12, 6] (%x = %a0 : tensor<4x6x10x12xf32>, %y = %a1 : tensor<4x10x12x6xf32>) -> tensor<4x10x12x6xf32> {
    %1 = dl.transpose %x permutation [0, 2, 3, 1] : (tensor<4x6x10x12xf32>) -> tensor<4x10x12x6xf32>
    %2 = dl.add %1, %y : tensor<4x10x12x6xf32>
    dl.yield %2 : tensor<4x10x12x6xf32>
  }
  return %r : tensor<4x10x12x6xf32>
}

func.func @transposed_blocks(%a0: tensor<64x32xf32>, %a1: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %r = dl.group kind(pointwise) [32, 64] (%x = %a0 : tensor<64x32xf32>, %y = %a1 : tensor<32x64xf32>) -> tensor<32x64xf32> {
    %1 = dl.transpose %x permutation [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
    %2 = dl.add %1, %y : tensor<32x64xf32>
    dl.yield %2 : tensor<32x64xf32>
  }
  return %r : tensor<32x64xf32>
}

func.func @softmax_64x256(%a0: tensor<64x256xf32>) -> (tensor<64x256xf32>, tensor<64xf32>) {
  %r:2 = dl.group kind(row) [64, 256] (%x = %a0 : tensor<64x256xf32>) -> (tensor<64x256xf32>, tensor<64xf32>) {
    %1 = dl.reduce_max %x over [1] : (tensor<64x256xf32>) -> tensor<64xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<64xf32>) -> tensor<64x256xf32>
    %3 = dl.sub %x, %2 : tensor<64x256xf32>
    %4 = dl.exp %3 : tensor<64x256xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<64x256xf32>) -> tensor<64xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<64xf32>) -> tensor<64x256xf32>
    %7 = dl.div %4, %6 : tensor<64x256xf32>
    dl.yield %7, %5 : tensor<64x256xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64x256xf32>, tensor<64xf32>
}

func.func @softmax_3x10(%a0: tensor<3x10xf32>) -> (tensor<3x10xf32>, tensor<3xf32>) {
  %r:2 = dl.group kind(row) [3, 10] (%x = %a0 : tensor<3x10xf32>) -> (tensor<3x10xf32>, tensor<3xf32>) {
    %1 = dl.reduce_max %x over [1] : (tensor<3x10xf32>) -> tensor<3xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<3xf32>) -> tensor<3x10xf32>
    %3 = dl.sub %x, %2 : tensor<3x10xf32>
    %4 = dl.exp %3 : tensor<3x10xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<3x10xf32>) -> tensor<3xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<3xf32>) -> tensor<3x10xf32>
    %7 = dl.div %4, %6 : tensor<3x10xf32>
    dl.yield %7, %5 : tensor<3x10xf32>, tensor<3xf32>
  }
  return %r#0, %r#1 : tensor<3x10xf32>, tensor<3xf32>
}

func.func @softmax_5x1000(%a0: tensor<5x1000xf32>) -> (tensor<5x1000xf32>, tensor<5xf32>) {
  %r:2 = dl.group kind(row) [5, 1000] (%x = %a0 : tensor<5x1000xf32>) -> (tensor<5x1000xf32>, tensor<5xf32>) {
    %1 = dl.reduce_max %x over [1] : (tensor<5x1000xf32>) -> tensor<5xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<5xf32>) -> tensor<5x1000xf32>
    %3 = dl.sub %x, %2 : tensor<5x1000xf32>
    %4 = dl.exp %3 : tensor<5x1000xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<5x1000xf32>) -> tensor<5xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<5xf32>) -> tensor<5x1000xf32>
    %7 = dl.div %4, %6 : tensor<5x1000xf32>
    dl.yield %7, %5 : tensor<5x1000xf32>, tensor<5xf32>
  }
  return %r#0, %r#1 : tensor<5x1000xf32>, tensor<5xf32>
}

func.func @softmax_3x1024(%a0: tensor<3x1024xf32>) -> (tensor<3x1024xf32>, tensor<3xf32>) {
  %r:2 = dl.group kind(row) [3, 1024] (%x = %a0 : tensor<3x1024xf32>) -> (tensor<3x1024xf32>, tensor<3xf32>) {
    %1 = dl.reduce_max %x over [1] : (tensor<3x1024xf32>) -> tensor<3xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<3xf32>) -> tensor<3x1024xf32>
    %3 = dl.sub %x, %2 : tensor<3x1024xf32>
    %4 = dl.exp %3 : tensor<3x1024xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<3x1024xf32>) -> tensor<3xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<3xf32>) -> tensor<3x1024xf32>
    %7 = dl.div %4, %6 : tensor<3x1024xf32>
    dl.yield %7, %5 : tensor<3x1024xf32>, tensor<3xf32>
  }
  return %r#0, %r#1 : tensor<3x1024xf32>, tensor<3xf32>
}

func.func @softmax_9x130(%a0: tensor<9x130xf32>) -> (tensor<9x130xf32>, tensor<9xf32>) {
  %r:2 = dl.group kind(row) [9, 130] (%x = %a0 : tensor<9x130xf32>) -> (tensor<9x130xf32>, tensor<9xf32>) {
    %1 = dl.reduce_max %x over [1] : (tensor<9x130xf32>) -> tensor<9xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<9xf32>) -> tensor<9x130xf32>
    %3 = dl.sub %x, %2 : tensor<9x130xf32>
    %4 = dl.exp %3 : tensor<9x130xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<9x130xf32>) -> tensor<9xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<9xf32>) -> tensor<9x130xf32>
    %7 = dl.div %4, %6 : tensor<9x130xf32>
    dl.yield %7, %5 : tensor<9x130xf32>, tensor<9xf32>
  }
  return %r#0, %r#1 : tensor<9x130xf32>, tensor<9xf32>
}

func.func @softmax_2x3x44(%a0: tensor<2x3x44xf32>) -> (tensor<2x3x44xf32>, tensor<2x3xf32>) {
  %r:2 = dl.group kind(row) [2, 3, 44] (%x = %a0 : tensor<2x3x44xf32>) -> (tensor<2x3x44xf32>, tensor<2x3xf32>) {
    %1 = dl.reduce_max %x over [2] : (tensor<2x3x44xf32>) -> tensor<2x3xf32>
    %2 = dl.broadcast %1 dims [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x44xf32>
    %3 = dl.sub %x, %2 : tensor<2x3x44xf32>
    %4 = dl.exp %3 : tensor<2x3x44xf32>
    %5 = dl.reduce_sum %4 over [2] : (tensor<2x3x44xf32>) -> tensor<2x3xf32>
    %6 = dl.broadcast %5 dims [0, 1] : (tensor<2x3xf32>) -> tensor<2x3x44xf32>
    %7 = dl.div %4, %6 : tensor<2x3x44xf32>
    dl.yield %7, %5 : tensor<2x3x44xf32>, tensor<2x3xf32>
  }
  return %r#0, %r#1 : tensor<2x3x44xf32>, tensor<2x3xf32>
}

func.func @softmax_4x2050(%a0: tensor<4x2050xf32>) -> (tensor<4x2050xf32>, tensor<4xf32>) {
  %r:2 = dl.group kind(row) [4, 2050] (%x = %a0 : tensor<4x2050xf32>) -> (tensor<4x2050xf32>, tensor<4xf32>) {
    %1 = dl.reduce_max %x over [1] : (tensor<4x2050xf32>) -> tensor<4xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<4xf32>) -> tensor<4x2050xf32>
    %3 = dl.sub %x, %2 : tensor<4x2050xf32>
    %4 = dl.exp %3 : tensor<4x2050xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<4x2050xf32>) -> tensor<4xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<4xf32>) -> tensor<4x2050xf32>
    %7 = dl.div %4, %6 : tensor<4x2050xf32>
    dl.yield %7, %5 : tensor<4x2050xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4x2050xf32>, tensor<4xf32>
}

func.func @softmax_2x9000(%a0: tensor<2x9000xf32>) -> (tensor<2x9000xf32>, tensor<2xf32>) {
  %r:2 = dl.group kind(row) [2, 9000] (%x = %a0 : tensor<2x9000xf32>) -> (tensor<2x9000xf32>, tensor<2xf32>) {
    %1 = dl.reduce_max %x over [1] : (tensor<2x9000xf32>) -> tensor<2xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<2xf32>) -> tensor<2x9000xf32>
    %3 = dl.sub %x, %2 : tensor<2x9000xf32>
    %4 = dl.exp %3 : tensor<2x9000xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<2x9000xf32>) -> tensor<2xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<2xf32>) -> tensor<2x9000xf32>
    %7 = dl.div %4, %6 : tensor<2x9000xf32>
    dl.yield %7, %5 : tensor<2x9000xf32>, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<2x9000xf32>, tensor<2xf32>
}

func.func @softmax_2x20000(%a0: tensor<2x20000xf32>) -> (tensor<2x20000xf32>, tensor<2xf32>) {
  %r:2 = dl.group kind(row) [2, 20000] (%x = %a0 : tensor<2x20000xf32>) -> (tensor<2x20000xf32>, tensor<2xf32>) {
    %1 = dl.reduce_max %x over [1] : (tensor<2x20000xf32>) -> tensor<2xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<2xf32>) -> tensor<2x20000xf32>
    %3 = dl.sub %x, %2 : tensor<2x20000xf32>
    %4 = dl.exp %3 : tensor<2x20000xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<2x20000xf32>) -> tensor<2xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<2xf32>) -> tensor<2x20000xf32>
    %7 = dl.div %4, %6 : tensor<2x20000xf32>
    dl.yield %7, %5 : tensor<2x20000xf32>, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<2x20000xf32>, tensor<2xf32>
}

func.func @softmax_1x17000(%a0: tensor<1x17000xf32>) -> (tensor<1x17000xf32>, tensor<1xf32>) {
  %r:2 = dl.group kind(row) [1, 17000] (%x = %a0 : tensor<1x17000xf32>) -> (tensor<1x17000xf32>, tensor<1xf32>) {
    %1 = dl.reduce_max %x over [1] : (tensor<1x17000xf32>) -> tensor<1xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<1xf32>) -> tensor<1x17000xf32>
    %3 = dl.sub %x, %2 : tensor<1x17000xf32>
    %4 = dl.exp %3 : tensor<1x17000xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<1x17000xf32>) -> tensor<1xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<1xf32>) -> tensor<1x17000xf32>
    %7 = dl.div %4, %6 : tensor<1x17000xf32>
    dl.yield %7, %5 : tensor<1x17000xf32>, tensor<1xf32>
  }
  return %r#0, %r#1 : tensor<1x17000xf32>, tensor<1xf32>
}

func.func @softmax_f64_3x5000(%a0: tensor<3x5000xf64>) -> (tensor<3x5000xf64>, tensor<3xf64>) {
  %r:2 = dl.group kind(row) [3, 5000] (%x = %a0 : tensor<3x5000xf64>) -> (tensor<3x5000xf64>, tensor<3xf64>) {
    %1 = dl.reduce_max %x over [1] : (tensor<3x5000xf64>) -> tensor<3xf64>
    %2 = dl.broadcast %1 dims [0] : (tensor<3xf64>) -> tensor<3x5000xf64>
    %3 = dl.sub %x, %2 : tensor<3x5000xf64>
    %4 = dl.exp %3 : tensor<3x5000xf64>
    %5 = dl.reduce_sum %4 over [1] : (tensor<3x5000xf64>) -> tensor<3xf64>
    %6 = dl.broadcast %5 dims [0] : (tensor<3xf64>) -> tensor<3x5000xf64>
    %7 = dl.div %4, %6 : tensor<3x5000xf64>
    dl.yield %7, %5 : tensor<3x5000xf64>, tensor<3xf64>
  }
  return %r#0, %r#1 : tensor<3x5000xf64>, tensor<3xf64>
}

func.func @softmax_many_130x16400(%a0: tensor<130x16400xf32>) -> (tensor<130x16400xf32>, tensor<130xf32>) {
  %r:2 = dl.group kind(row) [130, 16400] (%x = %a0 : tensor<130x16400xf32>) -> (tensor<130x16400xf32>, tensor<130xf32>) {
    %1 = dl.reduce_max %x over [1] : (tensor<130x16400xf32>) -> tensor<130xf32>
    %2 = dl.broadcast %1 dims [0] : (tensor<130xf32>) -> tensor<130x16400xf32>
    %3 = dl.sub %x, %2 : tensor<130x16400xf32>
    %4 = dl.exp %3 : tensor<130x16400xf32>
    %5 = dl.reduce_sum %4 over [1] : (tensor<130x16400xf32>) -> tensor<130xf32>
    %6 = dl.broadcast %5 dims [0] : (tensor<130xf32>) -> tensor<130x16400xf32>
    %7 = dl.div %4, %6 : tensor<130x16400xf32>
    dl.yield %7, %5 : tensor<130x16400xf32>, tensor<130xf32>
  }
  return %r#0, %r#1 : tensor<130x16400xf32>, tensor<130xf32>
}

func.func @two_inputs(%a0: tensor<6x700xf32>, %a1: tensor<6x700xf32>, %a2: tensor<6xf32>) -> (tensor<6x700xf32>, tensor<6xf32>) {
  %r:2 = dl.group kind(row) [6, 700] (%x = %a0 : tensor<6x700xf32>, %y = %a1 : tensor<6x700xf32>, %z = %a2 : tensor<6xf32>) -> (tensor<6x700xf32>, tensor<6xf32>) {
    %1 = dl.mul %x, %y : tensor<6x700xf32>
    %2 = dl.reduce_sum %1 over [1] : (tensor<6x700xf32>) -> tensor<6xf32>
    %3 = dl.add %2, %z : tensor<6xf32>
    %4 = dl.broadcast %3 dims [0] : (tensor<6xf32>) -> tensor<6x700xf32>
    %5 = dl.mul %4, %1 : tensor<6x700xf32>
    dl.yield %5, %3 : tensor<6x700xf32>, tensor<6xf32>
  }
  return %r#0, %r#1 : tensor<6x700xf32>, tensor<6xf32>
}

func.func @argmax_3x10(%a0: tensor<3x10xf32>) -> (tensor<3xi64>, tensor<3xf32>) {
  %r:2 = dl.group kind(row) [3, 10] (%x = %a0 : tensor<3x10xf32>) -> (tensor<3xi64>, tensor<3xf32>) {
    %1 = dl.argmax %x over [1] : (tensor<3x10xf32>) -> tensor<3xi64>
    %2 = dl.reduce_min %x over [1] : (tensor<3x10xf32>) -> tensor<3xf32>
    dl.yield %1, %2 : tensor<3xi64>, tensor<3xf32>
  }
  return %r#0, %r#1 : tensor<3xi64>, tensor<3xf32>
}

func.func @argmax_4x2000(%a0: tensor<4x2000xf32>) -> (tensor<4xi64>, tensor<4xf32>) {
  %r:2 = dl.group kind(row) [4, 2000] (%x = %a0 : tensor<4x2000xf32>) -> (tensor<4xi64>, tensor<4xf32>) {
    %1 = dl.argmax %x over [1] : (tensor<4x2000xf32>) -> tensor<4xi64>
    %2 = dl.reduce_min %x over [1] : (tensor<4x2000xf32>) -> tensor<4xf32>
    dl.yield %1, %2 : tensor<4xi64>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xi64>, tensor<4xf32>
}

func.func @argmax_1x40000(%a0: tensor<1x40000xf32>) -> (tensor<1xi64>, tensor<1xf32>) {
  %r:2 = dl.group kind(row) [1, 40000] (%x = %a0 : tensor<1x40000xf32>) -> (tensor<1xi64>, tensor<1xf32>) {
    %1 = dl.argmax %x over [1] : (tensor<1x40000xf32>) -> tensor<1xi64>
    %2 = dl.reduce_min %x over [1] : (tensor<1x40000xf32>) -> tensor<1xf32>
    dl.yield %1, %2 : tensor<1xi64>, tensor<1xf32>
  }
  return %r#0, %r#1 : tensor<1xi64>, tensor<1xf32>
}

func.func @both(%a0: tensor<5x100xi1>) -> (tensor<5xi1>, tensor<5xi1>) {
  %r:2 = dl.group kind(row) [5, 100] (%x = %a0 : tensor<5x100xi1>) -> (tensor<5xi1>, tensor<5xi1>) {
    %1 = dl.reduce_or %x over [1] : (tensor<5x100xi1>) -> tensor<5xi1>
    %2 = dl.reduce_and %x over [1] : (tensor<5x100xi1>) -> tensor<5xi1>
    dl.yield %1, %2 : tensor<5xi1>, tensor<5xi1>
  }
  return %r#0, %r#1 : tensor<5xi1>, tensor<5xi1>
}

func.func @full(%a0: tensor<100000xf32>) -> tensor<f32> {
  %r = dl.group kind(row) [100000] (%x = %a0 : tensor<100000xf32>) -> tensor<f32> {
    %1 = dl.reduce_sum %x over [0] : (tensor<100000xf32>) -> tensor<f32>
    dl.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}

func.func @column(%a0: tensor<100x100xf32>, %a1: tensor<100xf32>) -> tensor<100xf32> {
  %r = dl.group kind(column) [100, 100] (%x = %a0 : tensor<100x100xf32>, %y = %a1 : tensor<100xf32>) -> tensor<100xf32> {
    %1 = dl.exp %x : tensor<100x100xf32>
    %2 = dl.reduce_sum %1 over [0] : (tensor<100x100xf32>) -> tensor<100xf32>
    %3 = dl.add %2, %y : tensor<100xf32>
    dl.yield %3 : tensor<100xf32>
  }
  return %r : tensor<100xf32>
}

func.func @column_few(%a0: tensor<37x3xf32>, %a1: tensor<3xf32>) -> tensor<3xf32> {
  %r = dl.group kind(column) [37, 3] (%x = %a0 : tensor<37x3xf32>, %y = %a1 : tensor<3xf32>) -> tensor<3xf32> {
    %1 = dl.exp %x : tensor<37x3xf32>
    %2 = dl.reduce_sum %1 over [0] : (tensor<37x3xf32>) -> tensor<3xf32>
    %3 = dl.add %2, %y : tensor<3xf32>
    dl.yield %3 : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

func.func @column_split(%a0: tensor<30000x10xf32>, %a1: tensor<10xf32>) -> tensor<10xf32> {
  %r = dl.group kind(column) [30000, 10] (%x = %a0 : tensor<30000x10xf32>, %y = %a1 : tensor<10xf32>) -> tensor<10xf32> {
    %1 = dl.exp %x : tensor<30000x10xf32>
    %2 = dl.reduce_sum %1 over [0] : (tensor<30000x10xf32>) -> tensor<10xf32>
    %3 = dl.add %2, %y : tensor<10xf32>
    dl.yield %3 : tensor<10xf32>
  }
  return %r : tensor<10xf32>
}

func.func @column_wide(%a0: tensor<2000x70xf32>, %a1: tensor<70xf32>) -> tensor<70xf32> {
  %r = dl.group kind(column) [2000, 70] (%x = %a0 : tensor<2000x70xf32>, %y = %a1 : tensor<70xf32>) -> tensor<70xf32> {
    %1 = dl.exp %x : tensor<2000x70xf32>
    %2 = dl.reduce_sum %1 over [0] : (tensor<2000x70xf32>) -> tensor<70xf32>
    %3 = dl.add %2, %y : tensor<70xf32>
    dl.yield %3 : tensor<70xf32>
  }
  return %r : tensor<70xf32>
}

func.func @column_middle(%a0: tensor<4x50x6xf32>, %a1: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = dl.group kind(column) [4, 50, 6] (%x = %a0 : tensor<4x50x6xf32>, %y = %a1 : tensor<4x6xf32>) -> tensor<4x6xf32> {
    %1 = dl.exp %x : tensor<4x50x6xf32>
    %2 = dl.reduce_sum %1 over [1] : (tensor<4x50x6xf32>) -> tensor<4x6xf32>
    %3 = dl.add %2, %y : tensor<4x6xf32>
    dl.yield %3 : tensor<4x6xf32>
  }
  return %r : tensor<4x6xf32>
}

func.func @column_two(%a0: tensor<3x5x7x9xf32>, %a1: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %r = dl.group kind(column) [3, 5, 7, 9] (%x = %a0 : tensor<3x5x7x9xf32>, %y = %a1 : tensor<5x9xf32>) -> tensor<5x9xf32> {
    %1 = dl.exp %x : tensor<3x5x7x9xf32>
    %2 = dl.reduce_sum %1 over [0, 2] : (tensor<3x5x7x9xf32>) -> tensor<5x9xf32>
    %3 = dl.add %2, %y : tensor<5x9xf32>
    dl.yield %3 : tensor<5x9xf32>
  }
  return %r : tensor<5x9xf32>
}

func.func @column_f64(%a0: tensor<64x40xf64>, %a1: tensor<40xf64>) -> tensor<40xf64> {
  %r = dl.group kind(column) [64, 40] (%x = %a0 : tensor<64x40xf64>, %y = %a1 : tensor<40xf64>) -> tensor<40xf64> {
    %1 = dl.exp %x : tensor<64x40xf64>
    %2 = dl.reduce_sum %1 over [0] : (tensor<64x40xf64>) -> tensor<40xf64>
    %3 = dl.add %2, %y : tensor<40xf64>
    dl.yield %3 : tensor<40xf64>
  }
  return %r : tensor<40xf64>
}

func.func @channels(%a0: tensor<32x16x12x12xf32>, %a1: tensor<16xf32>) -> tensor<16xf32> {
  %r = dl.group kind(column) [32, 16, 12, 12] (%x = %a0 : tensor<32x16x12x12xf32>, %y = %a1 : tensor<16xf32>) -> tensor<16xf32> {
    %1 = dl.exp %x : tensor<32x16x12x12xf32>
    %2 = dl.reduce_sum %1 over [0, 2, 3] : (tensor<32x16x12x12xf32>) -> tensor<16xf32>
    %3 = dl.add %2, %y : tensor<16xf32>
    dl.yield %3 : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}

func.func @channels_odd(%a0: tensor<3x5x7x7xf32>, %a1: tensor<5xf32>) -> tensor<5xf32> {
  %r = dl.group kind(column) [3, 5, 7, 7] (%x = %a0 : tensor<3x5x7x7xf32>, %y = %a1 : tensor<5xf32>) -> tensor<5xf32> {
    %1 = dl.exp %x : tensor<3x5x7x7xf32>
    %2 = dl.reduce_sum %1 over [0, 2, 3] : (tensor<3x5x7x7xf32>) -> tensor<5xf32>
    %3 = dl.add %2, %y : tensor<5xf32>
    dl.yield %3 : tensor<5xf32>
  }
  return %r : tensor<5xf32>
}

func.func @channels_long(%a0: tensor<40x2x40x40xf32>, %a1: tensor<2xf32>) -> tensor<2xf32> {
  %r = dl.group kind(column) [40, 2, 40, 40] (%x = %a0 : tensor<40x2x40x40xf32>, %y = %a1 : tensor<2xf32>) -> tensor<2xf32> {
    %1 = dl.exp %x : tensor<40x2x40x40xf32>
    %2 = dl.reduce_sum %1 over [0, 2, 3] : (tensor<40x2x40x40xf32>) -> tensor<2xf32>
    %3 = dl.add %2, %y : tensor<2xf32>
    dl.yield %3 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

func.func @column_one_row(%a0: tensor<1x40xf32>, %a1: tensor<40xf32>) -> tensor<40xf32> {
  %r = dl.group kind(column) [1, 40] (%x = %a0 : tensor<1x40xf32>, %y = %a1 : tensor<40xf32>) -> tensor<40xf32> {
    %1 = dl.exp %x : tensor<1x40xf32>
    %2 = dl.reduce_sum %1 over [0] : (tensor<1x40xf32>) -> tensor<40xf32>
    %3 = dl.add %2, %y : tensor<40xf32>
    dl.yield %3 : tensor<40xf32>
  }
  return %r : tensor<40xf32>
}

func.func @column_max(%a0: tensor<300x33xf32>, %a1: tensor<33xf32>) -> tensor<33xf32> {
  %r = dl.group kind(column) [300, 33] (%x = %a0 : tensor<300x33xf32>, %y = %a1 : tensor<33xf32>) -> tensor<33xf32> {
    %1 = dl.exp %x : tensor<300x33xf32>
    %2 = dl.reduce_max %1 over [0] : (tensor<300x33xf32>) -> tensor<33xf32>
    %3 = dl.add %2, %y : tensor<33xf32>
    dl.yield %3 : tensor<33xf32>
  }
  return %r : tensor<33xf32>
}

func.func @argmax_column(%a0: tensor<90x20xf32>) -> tensor<20xi64> {
  %r = dl.group kind(column) [90, 20] (%x = %a0 : tensor<90x20xf32>) -> tensor<20xi64> {
    %1 = dl.argmax %x over [0] : (tensor<90x20xf32>) -> tensor<20xi64>
    dl.yield %1 : tensor<20xi64>
  }
  return %r : tensor<20xi64>
}

func.func @no_columns(%a0: tensor<4x0xf32>) -> tensor<4xf32> {
  %r = dl.group kind(row) [4, 0] (%x = %a0 : tensor<4x0xf32>) -> tensor<4xf32> {
    %1 = dl.reduce_sum %x over [1] : (tensor<4x0xf32>) -> tensor<4xf32>
    dl.yield %1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @pad_transposed(%a0: tensor<20x30xf32>, %a1: tensor<f32>) -> tensor<30x24xf32> {
  %r = dl.group kind(pointwise) [30, 24] (%x = %a0 : tensor<20x30xf32>, %y = %a1 : tensor<f32>) -> tensor<30x24xf32> {
    %1 = dl.transpose %x permutation [1, 0] : (tensor<20x30xf32>) -> tensor<30x20xf32>
    %2 = dl.pad %1, %y lo [0, 1] hi [0, 3] interior [0, 0] : (tensor<30x20xf32>, tensor<f32>) -> tensor<30x24xf32>
    dl.yield %2 : tensor<30x24xf32>
  }
  return %r : tensor<30x24xf32>
}

func.func @pad(%a0: tensor<20x30xf32>, %a1: tensor<f32>) -> tensor<22x36xf32> {
  %r = dl.group kind(pointwise) [22, 36] (%x = %a0 : tensor<20x30xf32>, %y = %a1 : tensor<f32>) -> tensor<22x36xf32> {
    %2 = dl.pad %x, %y lo [1, 3] hi [1, 3] interior [0, 0] : (tensor<20x30xf32>, tensor<f32>) -> tensor<22x36xf32>
    dl.yield %2 : tensor<22x36xf32>
  }
  return %r : tensor<22x36xf32>
}

func.func @strided(%a0: tensor<16x33xf32>, %a1: tensor<16x7xf32>) -> (tensor<16x15xf32>, tensor<16x15xi1>) {
  %r:2 = dl.group kind(pointwise) [16, 15] (%x = %a0 : tensor<16x33xf32>, %y = %a1 : tensor<16x7xf32>) -> (tensor<16x15xf32>, tensor<16x15xi1>) {
    %1 = dl.slice %x starts [0, 1] limits [16, 33] strides [1, 4] : (tensor<16x33xf32>) -> tensor<16x8xf32>
    %2 = dl.concat %1, %y axis 1 : (tensor<16x8xf32>, tensor<16x7xf32>) -> tensor<16x15xf32>
    %3 = dl.is_finite %2 : tensor<16x15xf32>
    dl.yield %2, %3 : tensor<16x15xf32>, tensor<16x15xi1>
  }
  return %r#0, %r#1 : tensor<16x15xf32>, tensor<16x15xi1>
}

// Results over inputs: of the domain, of the rows, of a row shorter than a warp and of one with a ragged end.
func.func @in_place_short(%a0: tensor<3x10xf32>, %a1: tensor<3xf32>) -> (tensor<3x10xf32>, tensor<3xf32>) {
  %r:2 = dl.group kind(row) [3, 10] (%x = %a0 : tensor<3x10xf32>, %y = %a1 : tensor<3xf32>) -> (tensor<3x10xf32>, tensor<3xf32>)
      attributes {in_place = array<i64: 0, 1>} {
    %1 = dl.reduce_sum %x over [1] : (tensor<3x10xf32>) -> tensor<3xf32>
    %2 = dl.add %1, %y : tensor<3xf32>
    %3 = dl.broadcast %1 dims [0] : (tensor<3xf32>) -> tensor<3x10xf32>
    %4 = dl.sub %x, %3 : tensor<3x10xf32>
    dl.yield %4, %2 : tensor<3x10xf32>, tensor<3xf32>
  }
  return %r#0, %r#1 : tensor<3x10xf32>, tensor<3xf32>
}

func.func @in_place_ragged(%a0: tensor<2x2000xf32>) -> tensor<2x2000xf32> {
  %r = dl.group kind(row) [2, 2000] (%x = %a0 : tensor<2x2000xf32>) -> tensor<2x2000xf32> attributes {in_place = array<i64: 0>} {
    %1 = dl.reduce_max %x over [1] : (tensor<2x2000xf32>) -> tensor<2xf32>
    %3 = dl.broadcast %1 dims [0] : (tensor<2xf32>) -> tensor<2x2000xf32>
    %4 = dl.sub %x, %3 : tensor<2x2000xf32>
    dl.yield %4 : tensor<2x2000xf32>
  }
  return %r : tensor<2x2000xf32>
}

func.func @in_place_long(%a0: tensor<1x18001xf32>, %a1: tensor<1xf32>) -> (tensor<1x18001xf32>, tensor<1xf32>) {
  %r:2 = dl.group kind(row) [1, 18001] (%x = %a0 : tensor<1x18001xf32>, %y = %a1 : tensor<1xf32>) -> (tensor<1x18001xf32>, tensor<1xf32>)
      attributes {in_place = array<i64: 0, 1>} {
    %1 = dl.reduce_max %x over [1] : (tensor<1x18001xf32>) -> tensor<1xf32>
    %2 = dl.add %1, %y : tensor<1xf32>
    %3 = dl.broadcast %1 dims [0] : (tensor<1xf32>) -> tensor<1x18001xf32>
    %4 = dl.sub %x, %3 : tensor<1x18001xf32>
    dl.yield %4, %2 : tensor<1x18001xf32>, tensor<1xf32>
  }
  return %r#0, %r#1 : tensor<1x18001xf32>, tensor<1xf32>
}

func.func @in_place_column(%a0: tensor<50x10xf32>, %a1: tensor<10xf32>) -> tensor<10xf32> {
  %r = dl.group kind(column) [50, 10] (%x = %a0 : tensor<50x10xf32>, %y = %a1 : tensor<10xf32>) -> tensor<10xf32>
      attributes {in_place = array<i64: 1>} {
    %1 = dl.reduce_sum %x over [0] : (tensor<50x10xf32>) -> tensor<10xf32>
    %2 = dl.add %1, %y : tensor<10xf32>
    dl.yield %2 : tensor<10xf32>
  }
  return %r : tensor<10xf32>
}

func.func @in_place_scalar(%a0: tensor<50xf32>, %a1: tensor<f32>) -> tensor<f32> {
  %r = dl.group kind(row) [50] (%x = %a0 : tensor<50xf32>, %y = %a1 : tensor<f32>) -> tensor<f32>
      attributes {in_place = array<i64: 1>} {
    %1 = dl.reduce_sum %x over [0] : (tensor<50xf32>) -> tensor<f32>
    %2 = dl.add %1, %y : tensor<f32>
    dl.yield %2 : tensor<f32>
  }
  return %r : tensor<f32>
}

func.func @pointwise_rest(%a0: tensor<1031xf32>) -> tensor<1031xf32> {
  %r = dl.group kind(pointwise) [1031] (%x = %a0 : tensor<1031xf32>) -> tensor<1031xf32> attributes {in_place = array<i64: 0>} {
    %1 = dl.exp %x : tensor<1031xf32>
    dl.yield %1 : tensor<1031xf32>
  }
  return %r : tensor<1031xf32>
}

func.func @pointwise_three(%a0: tensor<3xf32>) -> tensor<3xf32> {
  %r = dl.group kind(pointwise) [3] (%x = %a0 : tensor<3xf32>) -> tensor<3xf32> {
    %1 = dl.exp %x : tensor<3xf32>
    dl.yield %1 : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

func.func @pointwise_scalar(%a0: tensor<f32>) -> tensor<f32> {
  %r = dl.group kind(pointwise) [] (%x = %a0 : tensor<f32>) -> tensor<f32> {
    %1 = dl.exp %x : tensor<f32>
    dl.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}

func.func @constant_table(%a0: tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xi1>) {
  %r:2 = dl.group kind(pointwise) [5, 3] (%x = %a0 : tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xi1>) {
    %1 = dl.constant dense<[1.0, 2.5, -3.0]> : tensor<3xf32>
    %2 = dl.broadcast %1 dims [1] : (tensor<3xf32>) -> tensor<5x3xf32>
    %3 = dl.mul %x, %2 : tensor<5x3xf32>
    %4 = dl.constant dense<[true, false, true]> : tensor<3xi1>
    %5 = dl.broadcast %4 dims [1] : (tensor<3xi1>) -> tensor<5x3xi1>
    dl.yield %3, %5 : tensor<5x3xf32>, tensor<5x3xi1>
  }
  return %r#0, %r#1 : tensor<5x3xf32>, tensor<5x3xi1>
}

// Parts of one block, of several, of one element, and with an in-place result and a transposed read.
func.func @horizontal(%a0: tensor<70x100xf32>, %a1: tensor<f64>, %a2: tensor<13xf32>, %a3: tensor<40x33xf32>, %a4: tensor<13xf32>) -> (tensor<70x100xf32>, tensor<f32>, tensor<13xf32>, tensor<13xf32>, tensor<33x40xf32>) {
  %r:5 = dl.group kind(horizontal) [] (%p = %a0 : tensor<70x100xf32>, %q = %a1 : tensor<f64>, %s = %a2 : tensor<13xf32>, %t = %a3 : tensor<40x33xf32>, %u = %a4 : tensor<13xf32>)
      -> (tensor<70x100xf32>, tensor<f32>, tensor<13xf32>, tensor<13xf32>, tensor<33x40xf32>) attributes {in_place = array<i64: 0, -1, -1, 4, -1>} {
    %0 = dl.group kind(pointwise) [70, 100] (%x = %p : tensor<70x100xf32>, %y = %q : tensor<f64>) -> (tensor<70x100xf32>) {
      %1 = dl.cast %y : tensor<f64> to tensor<f32>
      %2 = dl.broadcast %1 dims [] : (tensor<f32>) -> tensor<70x100xf32>
      %3 = dl.mul %x, %2 : tensor<70x100xf32>
      dl.yield %3 : tensor<70x100xf32>
    }
    %4 = dl.group kind(pointwise) [] (%y = %q : tensor<f64>) -> (tensor<f32>) {
      %1 = dl.cast %y : tensor<f64> to tensor<f32>
      dl.yield %1 : tensor<f32>
    }
    %5:2 = dl.group kind(pointwise) [13] (%x = %s : tensor<13xf32>, %y = %u : tensor<13xf32>) -> (tensor<13xf32>, tensor<13xf32>) {
      %1 = dl.exp %x : tensor<13xf32>
      %2 = dl.sub %y, %1 : tensor<13xf32>
      dl.yield %1, %2 : tensor<13xf32>, tensor<13xf32>
    }
    %6 = dl.group kind(pointwise) [33, 40] (%x = %t : tensor<40x33xf32>) -> (tensor<33x40xf32>) {
      %1 = dl.transpose %x permutation [1, 0] : (tensor<40x33xf32>) -> tensor<33x40xf32>
      dl.yield %1 : tensor<33x40xf32>
    }
    dl.yield %0, %4, %5#0, %5#1, %6 : tensor<70x100xf32>, tensor<f32>, tensor<13xf32>, tensor<13xf32>, tensor<33x40xf32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<70x100xf32>, tensor<f32>, tensor<13xf32>, tensor<13xf32>, tensor<33x40xf32>
}
