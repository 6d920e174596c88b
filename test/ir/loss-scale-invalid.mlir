// RUN: dlc-opt %s -split-input-file -verify-diagnostics

func.func @scale(%g: tensor<2xf32>) {
  // expected-error@+1 {{expects scales, counts and norms of rank 0, got 'tensor<2xf32>'}}
  %0:2 = dl.unscale %g scale %g : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<i1>)
  return
}

// -----

func.func @count(%s: tensor<f32>, %n: tensor<1xi64>, %f: tensor<i1>) {
  // expected-error@+1 {{expects scales, counts and norms of rank 0, got 'tensor<1xi64>'}}
  %0:2 = dl.update_scale %s, %n found %f growth 2.0 backoff 0.5 interval 3 : (tensor<f32>, tensor<1xi64>, tensor<i1>) -> (tensor<f32>, tensor<1xi64>)
  return
}

// -----

func.func @factors(%s: tensor<f32>, %n: tensor<i64>, %f: tensor<i1>) {
  // expected-error@+1 {{expects a growth above 1, a backoff in (0, 1) and an interval of 1 or more, got 1.000000e+00, 5.000000e-01 and 3}}
  %0:2 = dl.update_scale %s, %n found %f growth 1.0 backoff 0.5 interval 3 : (tensor<f32>, tensor<i64>, tensor<i1>) -> (tensor<f32>, tensor<i64>)
  return
}

// -----

func.func @norms(%n: tensor<f32>, %d: tensor<f64>) {
  // expected-error@+1 {{expects norms of one type, got 'tensor<f32>' and 'tensor<f64>'}}
  %0:2 = dl.clip_factor %n, %d max_norm %d : (tensor<f32>, tensor<f64>, tensor<f64>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @none(%m: tensor<f64>) {
  // expected-error@+2 {{expects one norm or more, got none}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = dl.clip_factor max_norm %m : (tensor<f64>) -> (tensor<f32>, tensor<f32>)
  return
}
