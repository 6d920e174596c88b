// RUN: dlc-check %s -mesh=data=2

// Rows 1, 2, 3 on one member and 10 on the other: statistics of the batch, not means of those of the members (mean 6).
dl.variable @running_mean : tensor<1xf64> role(buffer) init(#dl.zeros)
dl.variable @running_var : tensor<1xf64> role(buffer) init(#dl.constant<1.0>)
func.func @rows_of_different_number(
    %x: tensor<4x1xf64> {dl.sharding = #dl.sharding<[data(0, 3, 4), _]>, dl.value = dense<[[1.0], [2.0], [3.0], [10.0]]> : tensor<4x1xf64>})
    -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) attributes {dl.entry, dl.expect = [
      dense<4.0> : tensor<1xf64>, dense<12.5> : tensor<1xf64>, dense<0.4> : tensor<1xf64>, dense<2.5666667> : tensor<1xf64>]} {
  %y, %mean, %var = dl.batch_norm %x eps 1.0e-05 : (tensor<4x1xf64>) -> (tensor<4x1xf64>, tensor<1xf64>, tensor<1xf64>)
  %keep = dl.constant dense<0.9> : tensor<1xf64>
  %take = dl.constant dense<0.1> : tensor<1xf64>
  %unbiased = dl.constant dense<1.33333333333333333> : tensor<1xf64>
  %rm = dl.read @running_mean : tensor<1xf64>
  %rv = dl.read @running_var : tensor<1xf64>
  %0 = dl.mul %rm, %keep : tensor<1xf64>
  %1 = dl.mul %mean, %take : tensor<1xf64>
  %2 = dl.add %0, %1 : tensor<1xf64>
  %3 = dl.mul %rv, %keep : tensor<1xf64>
  %4 = dl.mul %var, %unbiased : tensor<1xf64>
  %5 = dl.mul %4, %take : tensor<1xf64>
  %6 = dl.add %3, %5 : tensor<1xf64>
  dl.write @running_mean, %2 : tensor<1xf64>
  dl.write @running_var, %6 : tensor<1xf64>
  return %mean, %var, %2, %6 : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>
}

// With its derivatives, by the rule and decomposed; the second member has no rows.
func.func @a_member_without_rows(%x: tensor<3x2x2xf64> {dl.sharding = #dl.sharding<[data(0, 3, 3), _, _]>}, %w: tensor<2xf64> {dl.sharding = #dl.sharding<[_]>})
    -> (tensor<3x2x2xf64>, tensor<2xf64>) attributes {dl.check_gradient} {
  %y, %mean, %var = dl.batch_norm %x weight %w eps 1.0e-02 : (tensor<3x2x2xf64>, tensor<2xf64>) -> (tensor<3x2x2xf64>, tensor<2xf64>, tensor<2xf64>)
  return %y, %var : tensor<3x2x2xf64>, tensor<2xf64>
}
