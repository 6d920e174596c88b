// RUN: dlc-check %s

// What the evaluator makes of collectives, member by member: 0 is (data 0, model 0), 1 is (data 0, model 1), …
module attributes {dl.local} {
  dl.mesh @mesh ["data" = 2, "model" = 2]

  func.func @along_one_axis(
      %x: tensor<1x2xf64> {dl.global = tensor<4x2xf64>, dl.sharding = #dl.sharding<[data * model, _]>,
                           dl.value = dense<[[1.0, 2.0], [10.0, 20.0], [100.0, 200.0], [1000.0, 2000.0]]> : tensor<4x2xf64>})
      -> (tensor<1x2xf64> {dl.global = tensor<2x2xf64>, dl.sharding = #dl.sharding<[model, _]>},
          tensor<2x2xf64> {dl.global = tensor<4x2xf64>, dl.sharding = #dl.sharding<[data, _]>})
      attributes {dl.expect = [dense<[[101.0, 202.0], [1010.0, 2020.0]]> : tensor<2x2xf64>,
                               dense<[[1.0, 2.0], [10.0, 20.0], [100.0, 200.0], [1000.0, 2000.0]]> : tensor<4x2xf64>]} {
    %s = dl.all_reduce sum(data) %x : tensor<1x2xf64>
    %w = dl.wait %s : tensor<1x2xf64>
    %g = dl.all_gather(model) %x dim(0) : tensor<1x2xf64> -> tensor<2x2xf64>
    return %w, %g : tensor<1x2xf64>, tensor<2x2xf64>
  }

  // Several tensors at once; a NaN of any member wins; integers keep every digit.
  func.func @along_all_axes(
      %x: tensor<1xf64> {dl.global = tensor<4xf64>, dl.sharding = #dl.sharding<[data * model]>,
                         dl.value = dense<[3.0, 0x7FF8000000000000, -1.0, 2.0]> : tensor<4xf64>},
      %n: tensor<1xi64> {dl.global = tensor<4xi64>, dl.sharding = #dl.sharding<[data * model]>,
                         dl.value = dense<[9007199254740993, 1, -5, 0]> : tensor<4xi64>})
      -> (tensor<1xf64>, tensor<1xi64>, tensor<1xi64>, tensor<4xi64>)
      attributes {dl.expect = [dense<0x7FF8000000000000> : tensor<1xf64>, dense<9007199254740989> : tensor<1xi64>,
                               dense<-5> : tensor<1xi64>, dense<[9007199254740993, 1, -5, 0]> : tensor<4xi64>]} {
    %m = dl.all_reduce max(data, model) %x : tensor<1xf64>
    %s:2 = dl.all_reduce sum(data, model) %n, %n : tensor<1xi64>, tensor<1xi64>
    %l = dl.all_reduce min(data, model) %n : tensor<1xi64>
    %g = dl.all_gather(data, model) %n dim(0) : tensor<1xi64> -> tensor<4xi64>
    return %m, %s#1, %l, %g : tensor<1xf64>, tensor<1xi64>, tensor<1xi64>, tensor<4xi64>
  }

  func.func @parts_of_a_sum(
      %x: tensor<2x4xf64> {dl.global = tensor<4x4xf64>, dl.sharding = #dl.sharding<[data, _]>, dl.value = dense<[
        [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [10.0, 20.0, 30.0, 40.0], [50.0, 60.0, 70.0, 80.0]]> : tensor<4x4xf64>})
      -> (tensor<2x2xf64> {dl.global = tensor<2x4xf64>, dl.sharding = #dl.sharding<[_, data]>})
      attributes {dl.expect = dense<[[11.0, 22.0, 33.0, 44.0], [55.0, 66.0, 77.0, 88.0]]> : tensor<2x4xf64>} {
    %r = dl.reduce_scatter sum(data) %x dim(1) : tensor<2x4xf64> -> tensor<2x2xf64>
    return %r : tensor<2x2xf64>
  }

  // Member 0 has columns 1 2 3 4 of a row and member 1 has 10 20 30 40: they exchange halves, and along the other dim rows.
  func.func @halves(
      %x: tensor<1x4xf64> {dl.global = tensor<2x4xf64>, dl.sharding = #dl.sharding<[data, _]>,
                           dl.value = dense<[[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]]> : tensor<2x4xf64>},
      %n: tensor<2xi64> {dl.global = tensor<8xi64>, dl.sharding = #dl.sharding<[data * model]>,
                         dl.value = dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi64>})
      -> (tensor<1x4xf64> {dl.global = tensor<2x4xf64>, dl.sharding = #dl.sharding<[data, _]>},
          tensor<2xi64> {dl.global = tensor<8xi64>, dl.sharding = #dl.sharding<[data * model]>})
      attributes {dl.expect = [dense<[[1.0, 2.0, 10.0, 20.0], [3.0, 4.0, 30.0, 40.0]]> : tensor<2x4xf64>,
                               dense<[1, 3, 2, 4, 5, 7, 6, 8]> : tensor<8xi64>]} {
    %r = dl.all_to_all(data) %x dim(1) : tensor<1x4xf64>
    %s = dl.all_to_all(model) %n dim(0) : tensor<2xi64>
    return %r, %s : tensor<1x4xf64>, tensor<2xi64>
  }
}
