// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// Values: from the formula, in Python, of a 3 x 4 table of scores.

// CHECK-LABEL: func.func @round_trip(
// CHECK: dl.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} causal scale 5.000000e-01 : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x1xf32>, tensor<2x3x5xi1>) -> (tensor<2x3x1xf32>, tensor<2x3xf32>)
func.func @round_trip(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x1xf32>, %m: tensor<2x3x5xi1>)
    -> tensor<2x3x1xf32> {
  %y, %lse = dl.attention %q, %k, %v mask %m causal scale 0.5
      : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x1xf32>, tensor<2x3x5xi1>) -> (tensor<2x3x1xf32>, tensor<2x3xf32>)
  return %y : tensor<2x3x1xf32>
}

func.func @values(
    %q: tensor<3x2xf64> {dl.value = dense<[[1.0,0.5],[-0.5,2.0],[0.25,-1.0]]> : tensor<3x2xf64>},
    %k: tensor<4x2xf64> {dl.value = dense<[[0.5,1.0],[1.5,-0.5],[-1.0,0.75],[0.0,2.0]]> : tensor<4x2xf64>},
    %v: tensor<4x2xf64> {dl.value = dense<[[1.0,-2.0],[2.0,0.25],[-1.0,3.0],[0.5,1.5]]> : tensor<4x2xf64>})
    -> (tensor<3x2xf64>, tensor<3xf64>) attributes {dl.expect = [
      dense<[[0.9288919264251939,0.31159114419624195],[0.3256845198088634,1.1254979391107616],[1.0479124583320052,0.46303978996667755]]> : tensor<3x2xf64>,
      dense<[1.7744953189934312,2.5590144917837314,1.1533810299039469]> : tensor<3xf64>], dl.check_gradient} {
  %y, %lse = dl.attention %q, %k, %v scale 0.5
      : (tensor<3x2xf64>, tensor<4x2xf64>, tensor<4x2xf64>) -> (tensor<3x2xf64>, tensor<3xf64>)
  return %y, %lse : tensor<3x2xf64>, tensor<3xf64>
}

func.func @values_causal(
    %q: tensor<3x2xf64> {dl.value = dense<[[1.0,0.5],[-0.5,2.0],[0.25,-1.0]]> : tensor<3x2xf64>},
    %k: tensor<4x2xf64> {dl.value = dense<[[0.5,1.0],[1.5,-0.5],[-1.0,0.75],[0.0,2.0]]> : tensor<4x2xf64>},
    %v: tensor<4x2xf64> {dl.value = dense<[[1.0,-2.0],[2.0,0.25],[-1.0,3.0],[0.5,1.5]]> : tensor<4x2xf64>})
    -> (tensor<3x2xf64>, tensor<3xf64>) attributes {dl.expect = [
      dense<[[1.0,-2.0],[1.1480471980316895,-1.6668938044286987],[1.119874274269328,0.32684734054526116]]> : tensor<3x2xf64>,
      dense<[0.5,1.0352241504380872,1.0299798824823982]> : tensor<3xf64>], dl.check_gradient} {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.5
      : (tensor<3x2xf64>, tensor<4x2xf64>, tensor<4x2xf64>) -> (tensor<3x2xf64>, tensor<3xf64>)
  return %y, %lse : tensor<3x2xf64>, tensor<3xf64>
}

func.func @values_mask(
    %q: tensor<3x2xf64> {dl.value = dense<[[1.0,0.5],[-0.5,2.0],[0.25,-1.0]]> : tensor<3x2xf64>},
    %k: tensor<4x2xf64> {dl.value = dense<[[0.5,1.0],[1.5,-0.5],[-1.0,0.75],[0.0,2.0]]> : tensor<4x2xf64>},
    %v: tensor<4x2xf64> {dl.value = dense<[[1.0,-2.0],[2.0,0.25],[-1.0,3.0],[0.5,1.5]]> : tensor<4x2xf64>},
    %m: tensor<3x4xi1> {dl.value = dense<[[true,false,true,true],[false,true,true,false],[true,true,true,true]]> : tensor<3x4xi1>})
    -> (tensor<3x2xf64>, tensor<3xf64>) attributes {dl.expect = [
      dense<[[0.4322266404392994,0.3401505248984439],[-0.6011072794065122,2.6343483394559692],[1.0479124583320052,0.46303978996667755]]> : tensor<3x2xf64>,
      dense<[1.3935326440168483,1.1426750576056015,1.1533810299039469]> : tensor<3xf64>], dl.check_gradient} {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 0.5
      : (tensor<3x2xf64>, tensor<4x2xf64>, tensor<4x2xf64>, tensor<3x4xi1>) -> (tensor<3x2xf64>, tensor<3xf64>)
  return %y, %lse : tensor<3x2xf64>, tensor<3xf64>
}

func.func @values_float_mask(
    %q: tensor<3x2xf64> {dl.value = dense<[[1.0,0.5],[-0.5,2.0],[0.25,-1.0]]> : tensor<3x2xf64>},
    %k: tensor<4x2xf64> {dl.value = dense<[[0.5,1.0],[1.5,-0.5],[-1.0,0.75],[0.0,2.0]]> : tensor<4x2xf64>},
    %v: tensor<4x2xf64> {dl.value = dense<[[1.0,-2.0],[2.0,0.25],[-1.0,3.0],[0.5,1.5]]> : tensor<4x2xf64>},
    %m: tensor<3x4xf64> {dl.value = dense<[[0.5,-1.0,0.0,2.0],[0xFFF0000000000000,0.25,1.0,0.0],[1.0,-0.5,0xFFF0000000000000,0.0]]> : tensor<3x4xf64>})
    -> (tensor<3x2xf64>, tensor<3xf64>) attributes {dl.expect = [
      dense<[[0.5792081299263137,0.93162646825331],[-0.17135382812752514,2.1800922916689114],[1.2466974848124572,-0.8893298974043998]]> : tensor<3x2xf64>,
      dense<[2.7923717842036377,2.7287265398288425,1.1191816679953348]> : tensor<3xf64>]} {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 0.5
      : (tensor<3x2xf64>, tensor<4x2xf64>, tensor<4x2xf64>, tensor<3x4xf64>) -> (tensor<3x2xf64>, tensor<3xf64>)
  return %y, %lse : tensor<3x2xf64>, tensor<3xf64>
}

// GRAD-23: equal scores, the second row all -inf; the loss is out[0].
func.func @masked_row_float(
    %q: tensor<2x1xf64> {dl.value = dense<0.0> : tensor<2x1xf64>},
    %k: tensor<2x1xf64> {dl.value = dense<[[1.0],[3.0]]> : tensor<2x1xf64>},
    %v: tensor<2x1xf64> {dl.value = dense<[[1.0],[2.0]]> : tensor<2x1xf64>},
    %m: tensor<2x2xf64> {dl.value = dense<[[0.0,0.0],[0xFFF0000000000000,0xFFF0000000000000]]> : tensor<2x2xf64>})
    -> (tensor<2x1xf64>, tensor<2xf64>, tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>) attributes {dl.expect = [
      dense<[[1.5],[0.0]]> : tensor<2x1xf64>, dense<[0.6931471805599453,0xFFF0000000000000]> : tensor<2xf64>,
      dense<[[0.5],[0.0]]> : tensor<2x1xf64>, dense<0.0> : tensor<2x1xf64>, dense<[[0.5],[0.5]]> : tensor<2x1xf64>]} {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 1.0
      : (tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x2xf64>) -> (tensor<2x1xf64>, tensor<2xf64>)
  %row = dl.slice %y starts [0, 0] limits [1, 1] strides [1, 1] : (tensor<2x1xf64>) -> tensor<1x1xf64>
  %loss = dl.reshape %row : (tensor<1x1xf64>) -> tensor<f64>
  %g:3 = dl.gradient %loss wrt %q, %k, %v : tensor<f64>, tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>
  return %y, %lse, %g#0, %g#1, %g#2
      : tensor<2x1xf64>, tensor<2xf64>, tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>
}

// GRAD-23: equal scores, the second row fully masked; the loss is out[0].
func.func @masked_row(
    %q: tensor<2x1xf64> {dl.value = dense<0.0> : tensor<2x1xf64>},
    %k: tensor<2x1xf64> {dl.value = dense<[[1.0],[3.0]]> : tensor<2x1xf64>},
    %v: tensor<2x1xf64> {dl.value = dense<[[1.0],[2.0]]> : tensor<2x1xf64>},
    %m: tensor<2x2xi1> {dl.value = dense<[[true,true],[false,false]]> : tensor<2x2xi1>})
    -> (tensor<2x1xf64>, tensor<2xf64>, tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>) attributes {dl.expect = [
      dense<[[1.5],[0.0]]> : tensor<2x1xf64>, dense<[0.6931471805599453,0xFFF0000000000000]> : tensor<2xf64>,
      dense<[[0.5],[0.0]]> : tensor<2x1xf64>, dense<0.0> : tensor<2x1xf64>, dense<[[0.5],[0.5]]> : tensor<2x1xf64>]} {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 1.0
      : (tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x2xi1>) -> (tensor<2x1xf64>, tensor<2xf64>)
  %row = dl.slice %y starts [0, 0] limits [1, 1] strides [1, 1] : (tensor<2x1xf64>) -> tensor<1x1xf64>
  %loss = dl.reshape %row : (tensor<1x1xf64>) -> tensor<f64>
  %g:3 = dl.gradient %loss wrt %q, %k, %v : tensor<f64>, tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>
  return %y, %lse, %g#0, %g#1, %g#2
      : tensor<2x1xf64>, tensor<2xf64>, tensor<2x1xf64>, tensor<2x1xf64>, tensor<2x1xf64>
}

// A masked row whose output and lse both enter the loss: no gradient from it.
func.func @masked_row_all_terms(
    %q: tensor<2x2xf64>, %k: tensor<3x2xf64>, %v: tensor<3x2xf64>,
    %m: tensor<2x3xf64> {dl.value = dense<[[0.0,1.0,-1.0],[0xFFF0000000000000,0xFFF0000000000000,0xFFF0000000000000]]> : tensor<2x3xf64>})
    -> tensor<2x2xf64> attributes {dl.check_gradient = [0, 1, 2]} {
  %y, %lse = dl.attention %q, %k, %v mask %m causal scale 0.7
      : (tensor<2x2xf64>, tensor<3x2xf64>, tensor<3x2xf64>, tensor<2x3xf64>) -> (tensor<2x2xf64>, tensor<2xf64>)
  return %y : tensor<2x2xf64>
}

// exp(lse) of a masked row is 0, and so is its gradient.
func.func @masked_row_lse(
    %q: tensor<2x1xf64> {dl.value = dense<[[1.0],[2.0]]> : tensor<2x1xf64>},
    %k: tensor<1x1xf64> {dl.value = dense<0.0> : tensor<1x1xf64>},
    %v: tensor<1x1xf64> {dl.value = dense<5.0> : tensor<1x1xf64>},
    %m: tensor<2x1xi1> {dl.value = dense<[[true],[false]]> : tensor<2x1xi1>})
    -> (tensor<2xf64>, tensor<1x1xf64>) attributes {dl.expect = [
      dense<[1.0,0.0]> : tensor<2xf64>, dense<1.0> : tensor<1x1xf64>]} {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 1.0
      : (tensor<2x1xf64>, tensor<1x1xf64>, tensor<1x1xf64>, tensor<2x1xi1>) -> (tensor<2x1xf64>, tensor<2xf64>)
  %e = dl.exp %lse : tensor<2xf64>
  %loss = dl.reduce_sum %e over [0] : (tensor<2xf64>) -> tensor<f64>
  %g = dl.gradient %loss wrt %k : tensor<f64>, tensor<1x1xf64>
  return %e, %g : tensor<2xf64>, tensor<1x1xf64>
}

// Scores of 1e6 and -1e6: the larger wins, nothing overflows.
func.func @large_scores(
    %q: tensor<2x1xf32> {dl.value = dense<[[1000.0],[-1000.0]]> : tensor<2x1xf32>},
    %k: tensor<2x1xf32> {dl.value = dense<[[1000.0],[-1000.0]]> : tensor<2x1xf32>},
    %v: tensor<2x1xf32> {dl.value = dense<[[3.0],[7.0]]> : tensor<2x1xf32>})
    -> (tensor<2x1xf32>, tensor<2xf32>, tensor<2x1xf32>) attributes {dl.expect = [
      dense<[[3.0],[7.0]]> : tensor<2x1xf32>, dense<1000000.0> : tensor<2xf32>, dense<1.0> : tensor<2x1xf32>]} {
  %y, %lse = dl.attention %q, %k, %v scale 1.0
      : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2xf32>)
  %loss = dl.reduce_sum %y over [0, 1] : (tensor<2x1xf32>) -> tensor<f32>
  %g = dl.gradient %loss wrt %v : tensor<f32>, tensor<2x1xf32>
  return %y, %lse, %g : tensor<2x1xf32>, tensor<2xf32>, tensor<2x1xf32>
}

func.func @gradient(%q: tensor<3x2xf64>, %k: tensor<4x2xf64>, %v: tensor<4x3xf64>)
    -> (tensor<3x3xf64>, tensor<3xf64>)
    attributes {dl.check_gradient} {
  %y, %lse = dl.attention %q, %k, %v scale 0.7071
      : (tensor<3x2xf64>, tensor<4x2xf64>, tensor<4x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>)
  return %y, %lse : tensor<3x3xf64>, tensor<3xf64>
}

func.func @gradient_mask(%q: tensor<2x3x2xf64>, %k: tensor<2x4x2xf64>, %v: tensor<2x4x3xf64>, %m: tensor<2x3x4xf64>)
    -> (tensor<2x3x3xf64>, tensor<2x3xf64>)
    attributes {dl.check_gradient} {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 0.7071
      : (tensor<2x3x2xf64>, tensor<2x4x2xf64>, tensor<2x4x3xf64>, tensor<2x3x4xf64>) -> (tensor<2x3x3xf64>, tensor<2x3xf64>)
  return %y, %lse : tensor<2x3x3xf64>, tensor<2x3xf64>
}

func.func @gradient_causal_wide(%q: tensor<2x2x2x3xf64>, %k: tensor<2x2x5x3xf64>, %v: tensor<2x2x5x2xf64>)
    -> (tensor<2x2x2x2xf64>, tensor<2x2x2xf64>)
    attributes {dl.check_gradient} {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.5774
      : (tensor<2x2x2x3xf64>, tensor<2x2x5x3xf64>, tensor<2x2x5x2xf64>) -> (tensor<2x2x2x2xf64>, tensor<2x2x2xf64>)
  return %y, %lse : tensor<2x2x2x2xf64>, tensor<2x2x2xf64>
}

func.func @gradient_causal_tall(%q: tensor<2x5x3xf64>, %k: tensor<2x2x3xf64>, %v: tensor<2x2x1xf64>)
    -> (tensor<2x5x1xf64>, tensor<2x5xf64>)
    attributes {dl.check_gradient} {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.5774
      : (tensor<2x5x3xf64>, tensor<2x2x3xf64>, tensor<2x2x1xf64>) -> (tensor<2x5x1xf64>, tensor<2x5xf64>)
  return %y, %lse : tensor<2x5x1xf64>, tensor<2x5xf64>
}

func.func @gradient_y(%q: tensor<2x3x2xf64>, %k: tensor<2x4x2xf64>, %v: tensor<2x4x3xf64>, %m: tensor<2x3x4xi1>)
    -> tensor<2x3x3xf64>
    attributes {dl.check_gradient} {
  %y, %lse = dl.attention %q, %k, %v mask %m causal scale 0.7071
      : (tensor<2x3x2xf64>, tensor<2x4x2xf64>, tensor<2x4x3xf64>, tensor<2x3x4xi1>) -> (tensor<2x3x3xf64>, tensor<2x3xf64>)
  return %y : tensor<2x3x3xf64>
}

// Through y and lse both.
func.func @second_order(%q: tensor<3x2xf64>, %k: tensor<4x2xf64>, %v: tensor<4x2xf64>, %m: tensor<3x4xf64>)
    -> (tensor<3x2xf64>, tensor<4x2xf64>, tensor<4x2xf64>, tensor<3x4xf64>) attributes {dl.check_gradient} {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 0.7
      : (tensor<3x2xf64>, tensor<4x2xf64>, tensor<4x2xf64>, tensor<3x4xf64>) -> (tensor<3x2xf64>, tensor<3xf64>)
  %y2 = dl.mul %y, %y : tensor<3x2xf64>
  %a = dl.reduce_sum %y2 over [0, 1] : (tensor<3x2xf64>) -> tensor<f64>
  %l2 = dl.mul %lse, %lse : tensor<3xf64>
  %b = dl.reduce_sum %l2 over [0] : (tensor<3xf64>) -> tensor<f64>
  %loss = dl.add %a, %b : tensor<f64>
  %g:4 = dl.gradient %loss wrt %q, %k, %v, %m
      : tensor<f64>, tensor<3x2xf64>, tensor<4x2xf64>, tensor<4x2xf64>, tensor<3x4xf64>
  return %g#0, %g#1, %g#2, %g#3 : tensor<3x2xf64>, tensor<4x2xf64>, tensor<4x2xf64>, tensor<3x4xf64>
}

func.func @size_one(%q: tensor<1x1xf32>, %k: tensor<1x1xf32>, %v: tensor<1x1xf32>)
    -> (tensor<1x1xf32>, tensor<1xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 1.0
      : (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1xf32>)
  return %y, %lse : tensor<1x1xf32>, tensor<1xf32>
}

func.func @size_one_key(%q: tensor<3x2xf32>, %k: tensor<1x2xf32>, %v: tensor<1x2xf32>)
    -> (tensor<3x2xf32>, tensor<3xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 0.7071
      : (tensor<3x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> (tensor<3x2xf32>, tensor<3xf32>)
  return %y, %lse : tensor<3x2xf32>, tensor<3xf32>
}

func.func @size_one_query(%q: tensor<3x1x4xf32>, %k: tensor<3x9x4xf32>, %v: tensor<3x9x5xf32>)
    -> (tensor<3x1x5xf32>, tensor<3x1xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 0.5
      : (tensor<3x1x4xf32>, tensor<3x9x4xf32>, tensor<3x9x5xf32>) -> (tensor<3x1x5xf32>, tensor<3x1xf32>)
  return %y, %lse : tensor<3x1x5xf32>, tensor<3x1xf32>
}

func.func @size_17(%q: tensor<17x17x17xf32>, %k: tensor<17x17x17xf32>, %v: tensor<17x17x17xf32>)
    -> (tensor<17x17x17xf32>, tensor<17x17xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 0.2425
      : (tensor<17x17x17xf32>, tensor<17x17x17xf32>, tensor<17x17x17xf32>) -> (tensor<17x17x17xf32>, tensor<17x17xf32>)
  return %y, %lse : tensor<17x17x17xf32>, tensor<17x17xf32>
}

func.func @size_17_causal(%q: tensor<17x17xf64>, %k: tensor<17x17xf64>, %v: tensor<17x17xf64>)
    -> (tensor<17x17xf64>, tensor<17xf64>) {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.2425
      : (tensor<17x17xf64>, tensor<17x17xf64>, tensor<17x17xf64>) -> (tensor<17x17xf64>, tensor<17xf64>)
  return %y, %lse : tensor<17x17xf64>, tensor<17xf64>
}

func.func @size_tiles(%q: tensor<2x65x16xf32>, %k: tensor<2x33x16xf32>, %v: tensor<2x33x24xf32>)
    -> (tensor<2x65x24xf32>, tensor<2x65xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 0.25
      : (tensor<2x65x16xf32>, tensor<2x33x16xf32>, tensor<2x33x24xf32>) -> (tensor<2x65x24xf32>, tensor<2x65xf32>)
  return %y, %lse : tensor<2x65x24xf32>, tensor<2x65xf32>
}

func.func @size_tiles_f64(%q: tensor<2x65x16xf64>, %k: tensor<2x33x16xf64>, %v: tensor<2x33x24xf64>)
    -> (tensor<2x65x24xf64>, tensor<2x65xf64>) {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.25
      : (tensor<2x65x16xf64>, tensor<2x33x16xf64>, tensor<2x33x24xf64>) -> (tensor<2x65x24xf64>, tensor<2x65xf64>)
  return %y, %lse : tensor<2x65x24xf64>, tensor<2x65xf64>
}

func.func @size_tiles_mask(%q: tensor<2x65x16xf32>, %k: tensor<2x33x16xf32>, %v: tensor<2x33x24xf32>, %m: tensor<2x65x33xi1>)
    -> (tensor<2x65x24xf32>, tensor<2x65xf32>) {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 0.25
      : (tensor<2x65x16xf32>, tensor<2x33x16xf32>, tensor<2x33x24xf32>, tensor<2x65x33xi1>) -> (tensor<2x65x24xf32>, tensor<2x65xf32>)
  return %y, %lse : tensor<2x65x24xf32>, tensor<2x65xf32>
}

func.func @size_tiles_float_mask(%q: tensor<2x3x65x16xf32>, %k: tensor<2x3x33x16xf32>, %v: tensor<2x3x33x24xf32>, %m: tensor<2x3x65x33xf32>)
    -> (tensor<2x3x65x24xf32>, tensor<2x3x65xf32>) {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 0.25
      : (tensor<2x3x65x16xf32>, tensor<2x3x33x16xf32>, tensor<2x3x33x24xf32>, tensor<2x3x65x33xf32>) -> (tensor<2x3x65x24xf32>, tensor<2x3x65xf32>)
  return %y, %lse : tensor<2x3x65x24xf32>, tensor<2x3x65xf32>
}

func.func @size_tiles_causal_tall(%q: tensor<2x3x65x16xf32>, %k: tensor<2x3x33x16xf32>, %v: tensor<2x3x33x24xf32>)
    -> (tensor<2x3x65x24xf32>, tensor<2x3x65xf32>) {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.25
      : (tensor<2x3x65x16xf32>, tensor<2x3x33x16xf32>, tensor<2x3x33x24xf32>) -> (tensor<2x3x65x24xf32>, tensor<2x3x65xf32>)
  return %y, %lse : tensor<2x3x65x24xf32>, tensor<2x3x65xf32>
}

func.func @size_tiles_causal_wide(%q: tensor<2x3x33x16xf32>, %k: tensor<2x3x65x16xf32>, %v: tensor<2x3x65x24xf32>, %m: tensor<2x3x33x65xi1>)
    -> (tensor<2x3x33x24xf32>, tensor<2x3x33xf32>) {
  %y, %lse = dl.attention %q, %k, %v mask %m causal scale 0.25
      : (tensor<2x3x33x16xf32>, tensor<2x3x65x16xf32>, tensor<2x3x65x24xf32>, tensor<2x3x33x65xi1>) -> (tensor<2x3x33x24xf32>, tensor<2x3x33xf32>)
  return %y, %lse : tensor<2x3x33x24xf32>, tensor<2x3x33xf32>
}

func.func @size_heads(%q: tensor<8x4x32x16xf32>, %k: tensor<8x4x32x16xf32>, %v: tensor<8x4x32x16xf32>)
    -> (tensor<8x4x32x16xf32>, tensor<8x4x32xf32>) {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.25
      : (tensor<8x4x32x16xf32>, tensor<8x4x32x16xf32>, tensor<8x4x32x16xf32>) -> (tensor<8x4x32x16xf32>, tensor<8x4x32xf32>)
  return %y, %lse : tensor<8x4x32x16xf32>, tensor<8x4x32xf32>
}

func.func @size_many_keys(%q: tensor<2x7x8xf32>, %k: tensor<2x1300x8xf32>, %v: tensor<2x1300x9xf32>)
    -> (tensor<2x7x9xf32>, tensor<2x7xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 0.3536
      : (tensor<2x7x8xf32>, tensor<2x1300x8xf32>, tensor<2x1300x9xf32>) -> (tensor<2x7x9xf32>, tensor<2x7xf32>)
  return %y, %lse : tensor<2x7x9xf32>, tensor<2x7xf32>
}

func.func @size_many_keys_causal(%q: tensor<1100x4xf64>, %k: tensor<1100x4xf64>, %v: tensor<1100x5xf64>)
    -> (tensor<1100x5xf64>, tensor<1100xf64>) {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.5
      : (tensor<1100x4xf64>, tensor<1100x4xf64>, tensor<1100x5xf64>) -> (tensor<1100x5xf64>, tensor<1100xf64>)
  return %y, %lse : tensor<1100x5xf64>, tensor<1100xf64>
}

func.func @size_many_keys_mask(%q: tensor<9x8xf32>, %k: tensor<1301x8xf32>, %v: tensor<1301x9xf32>, %m: tensor<9x1301xf32>)
    -> (tensor<9x9xf32>, tensor<9xf32>) {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 0.3536
      : (tensor<9x8xf32>, tensor<1301x8xf32>, tensor<1301x9xf32>, tensor<9x1301xf32>) -> (tensor<9x9xf32>, tensor<9xf32>)
  return %y, %lse : tensor<9x9xf32>, tensor<9xf32>
}

func.func @size_wide(%q: tensor<5x500xf32>, %k: tensor<7x500xf32>, %v: tensor<7x300xf32>)
    -> (tensor<5x300xf32>, tensor<5xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 0.05
      : (tensor<5x500xf32>, tensor<7x500xf32>, tensor<7x300xf32>) -> (tensor<5x300xf32>, tensor<5xf32>)
  return %y, %lse : tensor<5x300xf32>, tensor<5xf32>
}

// Across the tiles of GPUs: 64 keys, up to 32 queries, 64 terms and 256 columns.
func.func @size_gpu_square(%q: tensor<2x64x64xf32>, %k: tensor<2x64x64xf32>, %v: tensor<2x64x64xf32>)
    -> (tensor<2x64x64xf32>, tensor<2x64xf32>) {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.125
      : (tensor<2x64x64xf32>, tensor<2x64x64xf32>, tensor<2x64x64xf32>) -> (tensor<2x64x64xf32>, tensor<2x64xf32>)
  return %y, %lse : tensor<2x64x64xf32>, tensor<2x64xf32>
}

func.func @size_gpu_crossed(%q: tensor<2x65x24xf32>, %k: tensor<2x130x24xf32>, %v: tensor<2x130x24xf32>, %m: tensor<2x65x130xf32>)
    -> (tensor<2x65x24xf32>, tensor<2x65xf32>) {
  %y, %lse = dl.attention %q, %k, %v mask %m causal scale 0.25
      : (tensor<2x65x24xf32>, tensor<2x130x24xf32>, tensor<2x130x24xf32>, tensor<2x65x130xf32>) -> (tensor<2x65x24xf32>, tensor<2x65xf32>)
  return %y, %lse : tensor<2x65x24xf32>, tensor<2x65xf32>
}

func.func @size_gpu_few_queries(%q: tensor<3x17x64xf32>, %k: tensor<3x63x64xf32>, %v: tensor<3x63x16xf32>, %m: tensor<3x17x63xi1>)
    -> (tensor<3x17x16xf32>, tensor<3x17xf32>) {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 0.125
      : (tensor<3x17x64xf32>, tensor<3x63x64xf32>, tensor<3x63x16xf32>, tensor<3x17x63xi1>) -> (tensor<3x17x16xf32>, tensor<3x17xf32>)
  return %y, %lse : tensor<3x17x16xf32>, tensor<3x17xf32>
}

func.func @size_gpu_few_keys(%q: tensor<2x130x16xf32>, %k: tensor<2x17x16xf32>, %v: tensor<2x17x64xf32>)
    -> (tensor<2x130x64xf32>, tensor<2x130xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 0.25
      : (tensor<2x130x16xf32>, tensor<2x17x16xf32>, tensor<2x17x64xf32>) -> (tensor<2x130x64xf32>, tensor<2x130xf32>)
  return %y, %lse : tensor<2x130x64xf32>, tensor<2x130xf32>
}

func.func @size_gpu_one_of_many(%q: tensor<2x2x17xf32>, %k: tensor<2x130x17xf32>, %v: tensor<2x130x33xf32>)
    -> (tensor<2x2x33xf32>, tensor<2x2xf32>) {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.25
      : (tensor<2x2x17xf32>, tensor<2x130x17xf32>, tensor<2x130x33xf32>) -> (tensor<2x2x33xf32>, tensor<2x2xf32>)
  return %y, %lse : tensor<2x2x33xf32>, tensor<2x2xf32>
}

func.func @size_gpu_one_query(%q: tensor<2x1x64xf32>, %k: tensor<2x65x64xf32>, %v: tensor<2x65x24xf32>, %m: tensor<2x1x65xf32>)
    -> (tensor<2x1x24xf32>, tensor<2x1xf32>) {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 0.125
      : (tensor<2x1x64xf32>, tensor<2x65x64xf32>, tensor<2x65x24xf32>, tensor<2x1x65xf32>) -> (tensor<2x1x24xf32>, tensor<2x1xf32>)
  return %y, %lse : tensor<2x1x24xf32>, tensor<2x1xf32>
}

func.func @size_gpu_one_key(%q: tensor<2x63x24xf32>, %k: tensor<2x1x24xf32>, %v: tensor<2x1x64xf32>)
    -> (tensor<2x63x64xf32>, tensor<2x63xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 0.25
      : (tensor<2x63x24xf32>, tensor<2x1x24xf32>, tensor<2x1x64xf32>) -> (tensor<2x63x64xf32>, tensor<2x63xf32>)
  return %y, %lse : tensor<2x63x64xf32>, tensor<2x63xf32>
}

func.func @size_gpu_many_blocks(%q: tensor<128x33x4xf32>, %k: tensor<128x20x4xf32>, %v: tensor<128x20x5xf32>)
    -> (tensor<128x33x5xf32>, tensor<128x33xf32>) {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.25
      : (tensor<128x33x4xf32>, tensor<128x20x4xf32>, tensor<128x20x5xf32>) -> (tensor<128x33x5xf32>, tensor<128x33xf32>)
  return %y, %lse : tensor<128x33x5xf32>, tensor<128x33xf32>
}

func.func @size_gpu_wide(%q: tensor<1x18x130xf32>, %k: tensor<1x70x130xf32>, %v: tensor<1x70x300xf32>, %m: tensor<1x18x70xi1>)
    -> (tensor<1x18x300xf32>, tensor<1x18xf32>) {
  %y, %lse = dl.attention %q, %k, %v mask %m causal scale 0.0877
      : (tensor<1x18x130xf32>, tensor<1x70x130xf32>, tensor<1x70x300xf32>, tensor<1x18x70xi1>) -> (tensor<1x18x300xf32>, tensor<1x18xf32>)
  return %y, %lse : tensor<1x18x300xf32>, tensor<1x18xf32>
}

func.func @size_gpu_wide_f64(%q: tensor<1x9x70xf64>, %k: tensor<1x33x70xf64>, %v: tensor<1x33x150xf64>, %m: tensor<1x9x33xf64>)
    -> (tensor<1x9x150xf64>, tensor<1x9xf64>) {
  %y, %lse = dl.attention %q, %k, %v mask %m scale 0.1195
      : (tensor<1x9x70xf64>, tensor<1x33x70xf64>, tensor<1x33x150xf64>, tensor<1x9x33xf64>) -> (tensor<1x9x150xf64>, tensor<1x9xf64>)
  return %y, %lse : tensor<1x9x150xf64>, tensor<1x9xf64>
}

func.func @size_gpu_no_depth(%q: tensor<1x5x0xf32>, %k: tensor<1x70x0xf32>, %v: tensor<1x70x3xf32>)
    -> (tensor<1x5x3xf32>, tensor<1x5xf32>) {
  %y, %lse = dl.attention %q, %k, %v causal scale 0.25
      : (tensor<1x5x0xf32>, tensor<1x70x0xf32>, tensor<1x70x3xf32>) -> (tensor<1x5x3xf32>, tensor<1x5xf32>)
  return %y, %lse : tensor<1x5x3xf32>, tensor<1x5xf32>
}

func.func @size_no_depth(%q: tensor<3x0xf32>, %k: tensor<4x0xf32>, %v: tensor<4x2xf32>)
    -> (tensor<3x2xf32>, tensor<3xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 1.0
      : (tensor<3x0xf32>, tensor<4x0xf32>, tensor<4x2xf32>) -> (tensor<3x2xf32>, tensor<3xf32>)
  return %y, %lse : tensor<3x2xf32>, tensor<3xf32>
}

func.func @size_no_keys(%q: tensor<2x3x4xf32>, %k: tensor<2x0x4xf32>, %v: tensor<2x0x2xf32>)
    -> (tensor<2x3x2xf32>, tensor<2x3xf32>)
    attributes {dl.expect = [dense<0.0> : tensor<2x3x2xf32>, dense<0xFF800000> : tensor<2x3xf32>]} {
  %y, %lse = dl.attention %q, %k, %v scale 0.5
      : (tensor<2x3x4xf32>, tensor<2x0x4xf32>, tensor<2x0x2xf32>) -> (tensor<2x3x2xf32>, tensor<2x3xf32>)
  return %y, %lse : tensor<2x3x2xf32>, tensor<2x3xf32>
}

func.func @size_no_queries(%q: tensor<2x0x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x2xf32>)
    -> (tensor<2x0x2xf32>, tensor<2x0xf32>) {
  %y, %lse = dl.attention %q, %k, %v scale 0.5
      : (tensor<2x0x4xf32>, tensor<2x3x4xf32>, tensor<2x3x2xf32>) -> (tensor<2x0x2xf32>, tensor<2x0xf32>)
  return %y, %lse : tensor<2x0x2xf32>, tensor<2x0xf32>
}
