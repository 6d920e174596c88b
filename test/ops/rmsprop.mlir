// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @rmsprop(
// CHECK: dl.rmsprop %{{.*}}, %{{.*}}, %{{.*}} lr %{{.*}} alpha %{{.*}} eps %{{.*}} weight_decay %{{.*}} average %{{.*}} buffer %{{.*}} momentum %{{.*}} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<4xf32>, tensor<4xf32>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
func.func @rmsprop(%p: tensor<4xf32>, %g: tensor<4xf32>, %s: tensor<4xf32> {dl.test = "range:4.5:8"}, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %lr = dl.constant dense<1.000000e-01> : tensor<f64>
  %alpha = dl.constant dense<9.900000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<1.000000e-02> : tensor<f64>
  %mu = dl.constant dense<9.000000e-01> : tensor<f64>
  %y:4 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd average %a buffer %b momentum %mu : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<4xf32>, tensor<4xf32>, tensor<f64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %y#0, %y#1, %y#2, %y#3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Values of PyTorch's optimizer before and after a step.
func.func @first_step(
    %p: tensor<4xf64> {dl.value = dense<[1.0,-2.0,0.5,3.0]> : tensor<4xf64>},
    %g: tensor<4xf64> {dl.value = dense<[0.5,-1.0,2.0,0.0]> : tensor<4xf64>},
    %s: tensor<4xf64> {dl.value = dense<[0.0,0.0,0.0,0.0]> : tensor<4xf64>}) -> (tensor<4xf64>, tensor<4xf64>)
    attributes {dl.expect = [dense<[0.900000019999996,-1.900000009999999,0.40000000499999977,3.0]> : tensor<4xf64>,
        dense<[0.0025000000000000022,0.010000000000000009,0.040000000000000036,0.0]> : tensor<4xf64>]} {
  %lr = dl.constant dense<1.000000e-02> : tensor<f64>
  %alpha = dl.constant dense<9.900000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<0.000000e+00> : tensor<f64>
  %y:2 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %y#0, %y#1 : tensor<4xf64>, tensor<4xf64>
}

func.func @third_step(
    %p: tensor<4xf64> {dl.value = dense<[0.855098702557817,-1.9949158065722459,0.4449013284905645,2.9000099990001]> : tensor<4xf64>},
    %g: tensor<4xf64> {dl.value = dense<[-0.75,0.1,0.3,-2.0]> : tensor<4xf64>},
    %s: tensor<4xf64> {dl.value = dense<[0.003100000000000003,0.09990000000000009,0.04960000000000005,1.000000000000001e-08]> : tensor<4xf64>}) -> (tensor<4xf64>, tensor<4xf64>)
    attributes {dl.expect = [dense<[0.9355348754421522,-1.9980939990506184,0.4314854578496351,3.0000099816251034]> : tensor<4xf64>,
        dense<[0.008694000000000007,0.09900100000000009,0.05000400000000004,0.040000009900000036]> : tensor<4xf64>]} {
  %lr = dl.constant dense<1.000000e-02> : tensor<f64>
  %alpha = dl.constant dense<9.900000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<0.000000e+00> : tensor<f64>
  %y:2 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %y#0, %y#1 : tensor<4xf64>, tensor<4xf64>
}

func.func @decay(
    %p: tensor<4xf64> {dl.value = dense<[0.8585786470960237,-1.8585786454293571,0.35857864473830026,2.8585786504293567]> : tensor<4xf64>},
    %g: tensor<4xf64> {dl.value = dense<[0.25,3.0,-1.0,0.001]> : tensor<4xf64>},
    %s: tensor<4xf64> {dl.value = dense<[0.18,0.72,2.10125,0.04500000000000001]> : tensor<4xf64>}) -> (tensor<4xf64>, tensor<4xf64>)
    attributes {dl.expect = [dense<[0.7708008660365326,-1.993978854544515,0.43689924026259136,2.7448711859696275]> : tensor<4xf64>,
        dense<[0.14640025264364678,4.319697979277422,1.5154100287484817,0.06364371736849556]> : tensor<4xf64>]} {
  %lr = dl.constant dense<1.000000e-01> : tensor<f64>
  %alpha = dl.constant dense<5.000000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<1.000000e-01> : tensor<f64>
  %y:2 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<4xf64>, tensor<4xf64>)
  return %y#0, %y#1 : tensor<4xf64>, tensor<4xf64>
}

func.func @momentum(
    %p: tensor<4xf64> {dl.value = dense<[0.7650987205578135,-1.904915815572245,0.3549013329905643,2.9000099990001]> : tensor<4xf64>},
    %g: tensor<4xf64> {dl.value = dense<[-0.75,0.1,0.3,-2.0]> : tensor<4xf64>},
    %s: tensor<4xf64> {dl.value = dense<[0.003100000000000003,0.09990000000000009,0.04960000000000005,1.000000000000001e-08]> : tensor<4xf64>},
    %b: tensor<4xf64> {dl.value = dense<[13.490129944218257,0.4915805572246086,4.509867200943543,9.999000099989997]> : tensor<4xf64>}) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
    attributes {dl.expect = [dense<[0.7241237239441843,-1.912518233065639,0.30089665754114303,2.9100189807251935]> : tensor<4xf64>,
        dense<[0.008694000000000007,0.09900100000000009,0.05000400000000004,0.040000009900000036]> : tensor<4xf64>,
        dense<[4.097499661362914,0.76024174933939,5.400467544942128,-1.0008981725093768]> : tensor<4xf64>]} {
  %lr = dl.constant dense<1.000000e-02> : tensor<f64>
  %alpha = dl.constant dense<9.900000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<0.000000e+00> : tensor<f64>
  %mu = dl.constant dense<9.000000e-01> : tensor<f64>
  %y:3 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd buffer %b momentum %mu : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<4xf64>, tensor<f64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
  return %y#0, %y#1, %y#2 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}

func.func @centered(
    %p: tensor<4xf64> {dl.value = dense<[0.9504785722311523,-1.9975126523844013,0.48151451377467613,2.9666677777407418]> : tensor<4xf64>},
    %g: tensor<4xf64> {dl.value = dense<[-0.75,0.1,0.3,-2.0]> : tensor<4xf64>},
    %s: tensor<4xf64> {dl.value = dense<[0.028749999999999994,0.9899999999999998,0.4599999999999999,9.999999999999998e-08]> : tensor<4xf64>},
    %a: tensor<4xf64> {dl.value = dense<[0.06999999999999998,0.20999999999999996,0.07999999999999999,9.999999999999998e-05]> : tensor<4xf64>}) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
    attributes {dl.expect = [dense<[0.9766727422740136,-1.9985957772583682,0.47684406362137266,2.999999440185801]> : tensor<4xf64>,
        dense<[0.08212499999999998,0.8919999999999998,0.42299999999999993,0.4000000899999999]> : tensor<4xf64>,
        dense<[-0.011999999999999999,0.19899999999999998,0.10199999999999998,-0.19990999999999998]> : tensor<4xf64>]} {
  %lr = dl.constant dense<1.000000e-02> : tensor<f64>
  %alpha = dl.constant dense<9.000000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<0.000000e+00> : tensor<f64>
  %y:3 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd average %a : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
  return %y#0, %y#1, %y#2 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}

func.func @centered_momentum_decay(
    %p: tensor<4xf64> {dl.value = dense<[0.9596965724589313,-1.9901896216578123,0.4699861132015239,2.993105460705096]> : tensor<4xf64>},
    %g: tensor<4xf64> {dl.value = dense<[-0.75,0.1,0.3,-2.0]> : tensor<4xf64>},
    %s: tensor<4xf64> {dl.value = dense<[0.03015852185005233,0.9818257403018755,0.46086163557464416,0.0001769294335493645]> : tensor<4xf64>},
    %a: tensor<4xf64> {dl.value = dense<[0.07187984189723319,0.2062251231527093,0.08092141838916606,0.005797247706422017]> : tensor<4xf64>},
    %b: tensor<4xf64> {dl.value = dense<[2.0145324774270366,1.5312774367171966,0.1432275964548837,0.4142245716922137]> : tensor<4xf64>}) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
    attributes {dl.expect = [dense<[0.9687984818442701,-1.9986311174911653,0.46516877714031235,3.019467850317254]> : tensor<4xf64>,
        dense<[0.08196233498147058,0.884284736894658,0.42405967255456667,0.38827640145036296]> : tensor<4xf64>,
        dense<[-0.009348445720031174,0.19361242121578057,0.10329926266345096,-0.19178937160351506]> : tensor<4xf64>,
        dense<[-0.9101909385338796,0.8441495833353055,0.4817336061211514,-2.63623896121578]> : tensor<4xf64>]} {
  %lr = dl.constant dense<1.000000e-02> : tensor<f64>
  %alpha = dl.constant dense<9.000000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-01> : tensor<f64>
  %wd = dl.constant dense<1.000000e-02> : tensor<f64>
  %mu = dl.constant dense<5.000000e-01> : tensor<f64>
  %y:4 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd average %a buffer %b momentum %mu : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<4xf64>, tensor<4xf64>, tensor<f64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
  return %y#0, %y#1, %y#2, %y#3 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}

// 1 / (sqrt(0.25) + 0.5); inside the root it would be 1 / sqrt(0.75).
func.func @eps_outside_the_root(
    %p: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %g: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %s: tensor<1xf64> {dl.value = dense<[0.0]> : tensor<1xf64>}) -> (tensor<1xf64>, tensor<1xf64>)
    attributes {dl.expect = [dense<[0.0]> : tensor<1xf64>,
        dense<[0.25]> : tensor<1xf64>]} {
  %lr = dl.constant dense<1.000000e+00> : tensor<f64>
  %alpha = dl.constant dense<7.500000e-01> : tensor<f64>
  %eps = dl.constant dense<5.000000e-01> : tensor<f64>
  %wd = dl.constant dense<0.000000e+00> : tensor<f64>
  %y:2 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1xf64>, tensor<1xf64>)
  return %y#0, %y#1 : tensor<1xf64>, tensor<1xf64>
}

// 1 - 1 / (0 + 0.5), where PyTorch has the root of a negative number.
func.func @variance_below_zero_by_rounding(
    %p: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %g: tensor<1xf64> {dl.value = dense<[1.0]> : tensor<1xf64>},
    %s: tensor<1xf64> {dl.value = dense<[0.25]> : tensor<1xf64>},
    %a: tensor<1xf64> {dl.value = dense<[0.5000001]> : tensor<1xf64>}) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
    attributes {dl.expect = [dense<[-1.0]> : tensor<1xf64>,
        dense<[0.25]> : tensor<1xf64>,
        dense<[0.5000001]> : tensor<1xf64>]} {
  %lr = dl.constant dense<1.000000e+00> : tensor<f64>
  %alpha = dl.constant dense<1.000000e+00> : tensor<f64>
  %eps = dl.constant dense<5.000000e-01> : tensor<f64>
  %wd = dl.constant dense<0.000000e+00> : tensor<f64>
  %y:3 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd average %a : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<1xf64>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  return %y#0, %y#1, %y#2 : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>
}

func.func @size_1(%p: tensor<1xf32>, %g: tensor<1xf32>, %s: tensor<1xf32> {dl.test = "range:4.5:8"}, %a: tensor<1xf32>, %b: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {
  %lr = dl.constant dense<1.000000e-02> : tensor<f64>
  %alpha = dl.constant dense<9.900000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<1.000000e-02> : tensor<f64>
  %mu = dl.constant dense<9.000000e-01> : tensor<f64>
  %y:4 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd average %a buffer %b momentum %mu : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<1xf32>, tensor<1xf32>, tensor<f64>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  return %y#0, %y#1, %y#2, %y#3 : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
}

func.func @size_17(%p: tensor<17xf32>, %g: tensor<17xf32>, %s: tensor<17xf32> {dl.test = "range:4.5:8"}, %a: tensor<17xf32>, %b: tensor<17xf32>) -> (tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>) {
  %lr = dl.constant dense<1.000000e-02> : tensor<f64>
  %alpha = dl.constant dense<9.900000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<1.000000e-02> : tensor<f64>
  %mu = dl.constant dense<9.000000e-01> : tensor<f64>
  %y:4 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd average %a buffer %b momentum %mu : (tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<17xf32>, tensor<17xf32>, tensor<f64>) -> (tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>)
  return %y#0, %y#1, %y#2, %y#3 : tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>
}

func.func @size_1000(%p: tensor<1000xf32>, %g: tensor<1000xf32>, %s: tensor<1000xf32> {dl.test = "range:4.5:8"}, %a: tensor<1000xf32>, %b: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>) {
  %lr = dl.constant dense<1.000000e-02> : tensor<f64>
  %alpha = dl.constant dense<9.900000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<1.000000e-02> : tensor<f64>
  %mu = dl.constant dense<9.000000e-01> : tensor<f64>
  %y:4 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd average %a buffer %b momentum %mu : (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<1000xf32>, tensor<1000xf32>, tensor<f64>) -> (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>)
  return %y#0, %y#1, %y#2, %y#3 : tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
}

func.func @size_plain(%p: tensor<1000xf32>, %g: tensor<1000xf32>, %s: tensor<1000xf32> {dl.test = "positive"}) -> (tensor<1000xf32>, tensor<1000xf32>) {
  %lr = dl.constant dense<1.000000e-02> : tensor<f64>
  %alpha = dl.constant dense<9.900000e-01> : tensor<f64>
  %eps = dl.constant dense<1.000000e-08> : tensor<f64>
  %wd = dl.constant dense<0.000000e+00> : tensor<f64>
  %y:2 = dl.rmsprop %p, %g, %s lr %lr alpha %alpha eps %eps weight_decay %wd : (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<1000xf32>, tensor<1000xf32>)
  return %y#0, %y#1 : tensor<1000xf32>, tensor<1000xf32>
}
