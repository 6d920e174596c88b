// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @layer_norm(
// CHECK: dl.layer_norm %{{.*}} weight %{{.*}} bias %{{.*}} axis 1 eps 1.000000e-05 : (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
func.func @layer_norm(%x: tensor<3x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> attributes {dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// PyTorch, as are all values without another source
func.func @values(
    %x: tensor<2x4xf64> {dl.value = dense<[[1.0,2.0,4.0,-3.0],[0.5,0.25,-0.125,8.0]]> : tensor<2x4xf64>},
    %w: tensor<4xf64> {dl.value = dense<[1.0,-2.0,0.5,3.0]> : tensor<4xf64>},
    %b: tensor<4xf64> {dl.value = dense<[0.0,1.0,-1.0,0.25]> : tensor<4xf64>}) -> tensor<2x4xf64>
    attributes {dl.expect = dense<[[0.0,0.2155360628808295,-0.4116520471606221,-4.456783622715023],[-0.48983844808144467,2.127552654074269,-1.3373415727353346,5.434893761767745]]> : tensor<2x4xf64>, dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<2x4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @without_affine(
    %x: tensor<2x4xf64> {dl.value = dense<[[1.0,2.0,4.0,-3.0],[0.5,0.25,-0.125,8.0]]> : tensor<2x4xf64>}) -> tensor<2x4xf64>
    attributes {dl.expect = dense<[[0.0,0.39223196855958525,1.1766959056787558,-1.568927874238341],[-0.48983844808144467,-0.5637763270371344,-0.6746831454706691,1.7282979205892481]]> : tensor<2x4xf64>, dl.check_gradient} {
  %y = dl.layer_norm %x axis 1 eps 1.000000e-05 : (tensor<2x4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @weight_alone(
    %x: tensor<2x4xf64> {dl.value = dense<[[1.0,2.0,4.0,-3.0],[0.5,0.25,-0.125,8.0]]> : tensor<2x4xf64>},
    %w: tensor<4xf64> {dl.value = dense<[1.0,-2.0,0.5,3.0]> : tensor<4xf64>}) -> tensor<2x4xf64>
    attributes {dl.expect = dense<[[0.0,-0.7844639371191705,0.5883479528393779,-4.706783622715023],[-0.48983844808144467,1.1275526540742689,-0.33734157273533455,5.184893761767745]]> : tensor<2x4xf64>, dl.check_gradient} {
  %y = dl.layer_norm %x weight %w axis 1 eps 1.000000e-05 : (tensor<2x4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @bias_alone(
    %x: tensor<2x4xf64> {dl.value = dense<[[1.0,2.0,4.0,-3.0],[0.5,0.25,-0.125,8.0]]> : tensor<2x4xf64>},
    %b: tensor<4xf64> {dl.value = dense<[0.0,1.0,-1.0,0.25]> : tensor<4xf64>}) -> tensor<2x4xf64>
    attributes {dl.expect = dense<[[0.0,1.3922319685595852,0.17669590567875576,-1.318927874238341],[-0.48983844808144467,0.43622367296286557,-1.674683145470669,1.9782979205892481]]> : tensor<2x4xf64>, dl.check_gradient} {
  %y = dl.layer_norm %x bias %b axis 1 eps 1.000000e-05 : (tensor<2x4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @large_eps(
    %x: tensor<2x4xf64> {dl.value = dense<[[1.0,2.0,4.0,-3.0],[0.5,0.25,-0.125,8.0]]> : tensor<2x4xf64>},
    %w: tensor<4xf64> {dl.value = dense<[1.0,-2.0,0.5,3.0]> : tensor<4xf64>},
    %b: tensor<4xf64> {dl.value = dense<[0.0,1.0,-1.0,0.25]> : tensor<4xf64>}) -> tensor<2x4xf64>
    attributes {dl.expect = dense<[[0.0,0.2440710539815456,-0.43305329048615926,-4.285573676110726],[-0.4794662444133858,2.103677015442133,-1.3301984513412939,5.325104964451121]]> : tensor<2x4xf64>, dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 5.000000e-01 : (tensor<2x4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  return %y : tensor<2x4xf64>
}

func.func @two_axes(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[3.0,5.0],[-4.0,0.0]],[[0.0,0.5],[1.0,1.0],[2.0,-7.0]]]> : tensor<2x3x2xf64>},
    %w: tensor<3x2xf64> {dl.value = dense<[[1.0,2.0],[0.5,-1.0],[0.0,3.0]]> : tensor<3x2xf64>},
    %b: tensor<3x2xf64> {dl.value = dense<[[0.0,1.0],[1.0,0.0],[-1.0,2.0]]> : tensor<3x2xf64>}) -> tensor<2x3x2xf64>
    attributes {dl.expect = dense<[[[-0.05965496041405965,1.596549604140597],[1.3281022822773285,-1.372064089523373],[-1.0,0.7472458313047464]],[[0.13862166653431365,1.6099353327509802],[1.2356568331083333,-0.4713136662166664],[-1.0,-4.5706669937264675]]]> : tensor<2x3x2xf64>, dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @all_axes(
    %x: tensor<2x3xf64> {dl.value = dense<[[1.0,3.0,-4.0],[0.0,1.0,2.0]]> : tensor<2x3xf64>},
    %w: tensor<2x3xf64> {dl.value = dense<[[2.0,5.0,0.0],[0.5,1.0,-7.0]]> : tensor<2x3xf64>},
    %b: tensor<2x3xf64> {dl.value = dense<[[1.0,3.0,-4.0],[0.0,1.0,2.0]]> : tensor<2x3xf64>}) -> tensor<2x3xf64>
    attributes {dl.expect = dense<[[1.4509871581709222,8.637339477136528,-4.0],[-0.11274678954273055,1.225493579085461,-2.7353651607946836]]> : tensor<2x3xf64>, dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 0 eps 1.000000e-05 : (tensor<2x3xf64>, tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}

func.func @gradients(
    %x: tensor<2x4xf64> {dl.value = dense<[[1.0,2.0,4.0,-3.0],[0.5,0.25,-0.125,8.0]]> : tensor<2x4xf64>},
    %w: tensor<4xf64> {dl.value = dense<[1.0,-2.0,0.5,3.0]> : tensor<4xf64>},
    %b: tensor<4xf64> {dl.value = dense<[0.0,1.0,-1.0,0.25]> : tensor<4xf64>}) -> (tensor<2x4xf64>, tensor<4xf64>, tensor<4xf64>)
    attributes {dl.expect = [dense<[[2.747045428116629,0.8268995359312501,-2.1603737303869393,-1.4135712336609396],[0.3647374465957538,-1.5205420522855446,1.1136757358501668,0.042128869839623384]]> : tensor<2x4xf64>, dense<[0.4798834104376764,-2.2298473733055366,0.8357850808071701,32.770975284426406]> : tensor<4xf64>, dense<[-0.9796768961628893,4.686177433910197,-3.4979872397919136,1.9562202781054427]> : tensor<4xf64>]} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<2x4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<2x4xf64>
  %y2 = dl.mul %y, %y : tensor<2x4xf64>
  %s = dl.reduce_sum %y2 over [0, 1] : (tensor<2x4xf64>) -> tensor<f64>
  %g:3 = dl.gradient %s wrt %x, %w, %b : tensor<f64>, tensor<2x4xf64>, tensor<4xf64>, tensor<4xf64>
  return %g#0, %g#1, %g#2 : tensor<2x4xf64>, tensor<4xf64>, tensor<4xf64>
}

func.func @second_order(%x: tensor<2x3xf64>, %w: tensor<3xf64>, %b: tensor<3xf64>) -> (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>) attributes {dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3xf64>
  %y2 = dl.mul %y, %y : tensor<2x3xf64>
  %s = dl.reduce_sum %y2 over [0, 1] : (tensor<2x3xf64>) -> tensor<f64>
  %g:3 = dl.gradient %s wrt %x, %w, %b : tensor<f64>, tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>
  return %g#0, %g#1, %g#2 : tensor<2x3xf64>, tensor<3xf64>, tensor<3xf64>
}

// The deviation from one element's mean is 0.
func.func @one_element_rows(
    %x: tensor<3x1xf64> {dl.value = dense<[[3.0],[-100000000.0],[0.0]]> : tensor<3x1xf64>},
    %w: tensor<1xf64> {dl.value = dense<[2.0]> : tensor<1xf64>},
    %b: tensor<1xf64> {dl.value = dense<[0.5]> : tensor<1xf64>}) -> tensor<3x1xf64>
    attributes {dl.expect = dense<0.5> : tensor<3x1xf64>, dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<3x1xf64>, tensor<1xf64>, tensor<1xf64>) -> tensor<3x1xf64>
  return %y : tensor<3x1xf64>
}

// A mean off by one unit in the last place would give 0.04 or more here.
func.func @constant_rows_f32(
    %x: tensor<2x1000xf32> {dl.value = dense<1234.567> : tensor<2x1000xf32>}) -> tensor<2x1000xf32>
    attributes {dl.expect = dense<0.0> : tensor<2x1000xf32>} {
  %y = dl.layer_norm %x axis 1 eps 1.000000e-05 : (tensor<2x1000xf32>) -> tensor<2x1000xf32>
  return %y : tensor<2x1000xf32>
}

func.func @constant_rows_f64(
    %x: tensor<2x1000xf64> {dl.value = dense<1234.567> : tensor<2x1000xf64>}) -> tensor<2x1000xf64>
    attributes {dl.expect = dense<0.0> : tensor<2x1000xf64>} {
  %y = dl.layer_norm %x axis 1 eps 1.000000e-05 : (tensor<2x1000xf64>) -> tensor<2x1000xf64>
  return %y : tensor<2x1000xf64>
}

func.func @constant_rows_gradient(
    %x: tensor<1x7xf64> {dl.value = dense<0.3> : tensor<1x7xf64>},
    %w: tensor<7xf64> {dl.value = dense<1.0> : tensor<7xf64>},
    %b: tensor<7xf64> {dl.value = dense<0.0> : tensor<7xf64>}) -> tensor<1x7xf64>
    attributes {dl.expect = dense<0.0> : tensor<1x7xf64>, dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<1x7xf64>, tensor<7xf64>, tensor<7xf64>) -> tensor<1x7xf64>
  return %y : tensor<1x7xf64>
}

// numpy; E[x^2] - mean^2 in f32 would be off by more than the variance.
func.func @large_mean_f32(
    %x: tensor<1x64xf32> {dl.value = dense<[[9999.259765625,9999.5029296875,9999.505859375,9999.5087890625,9999.5166015625,9999.5224609375,9999.5283203125,9999.5341796875,9999.541015625,9999.5751953125,9999.5810546875,9999.58984375,9999.625,9999.67578125,9999.67578125,9999.7578125,9999.76953125,9999.77734375,9999.7998046875,9999.8076171875,9999.8798828125,9999.8837890625,9999.89453125,9999.9033203125,9999.9228515625,9999.9609375,9999.9814453125,10000.00390625,10000.0107421875,10000.025390625,10000.041015625,10000.0439453125,10000.0546875,10000.0595703125,10000.1064453125,10000.115234375,10000.1318359375,10000.13671875,10000.1474609375,10000.1494140625,10000.150390625,10000.1708984375,10000.1708984375,10000.185546875,10000.1884765625,10000.2041015625,10000.2294921875,10000.2294921875,10000.263671875,10000.2646484375,10000.3046875,10000.3125,10000.3154296875,10000.33984375,10000.3466796875,10000.3505859375,10000.357421875,10000.36328125,10000.412109375,10000.4345703125,10000.44921875,10000.470703125,10000.48046875,10000.4970703125]]> : tensor<1x64xf32>}) -> tensor<1x64xf32>
    attributes {dl.expect = dense<[[-2.362296331641189,-1.5862913361548352,-1.5769418783778912,-1.5675924206009473,-1.5426605331957632,-1.523961617641875,-1.5052627020879872,-1.486563786534099,-1.464748385054563,-1.3556713776568827,-1.3369724621029948,-1.3089240887721627,-1.1967305954488345,-1.034673327315138,-1.034673327315138,-0.7728885095607055,-0.7354906784529295,-0.7105587910477454,-0.6388796147578413,-0.6139477273526572,-0.38332776885470476,-0.37086182515211275,-0.3365804799699847,-0.30853210663915265,-0.2462023881261925,-0.12465943702592025,-0.05921323258731212,0.012465943702592026,0.03428134518212807,0.08102863406684817,0.13089240887721626,0.14024186665416027,0.17452321183628836,0.19010564146452838,0.3396969658956327,0.36774533922646474,0.4207255999624809,0.4363080295907209,0.47058937477284896,0.47682234662414497,0.47993883254979297,0.5453850369884011,0.5453850369884011,0.5921323258731213,0.6014817836500652,0.6513455584604333,0.7323741925272815,0.7323741925272815,0.8414511999249618,0.8445676858506097,0.972343608802178,0.997275496207362,1.006624953984306,1.0845371021255061,1.1063525036050423,1.1188184473076344,1.1406338487871703,1.1593327643410585,1.3151570606234586,1.3868362369133629,1.433583525798083,1.5021462161623391,1.533311075418819,1.5862913361548352]]> : tensor<1x64xf32>} {
  %y = dl.layer_norm %x axis 1 eps 1.000000e-05 : (tensor<1x64xf32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

func.func @large_mean_f64(
    %x: tensor<1x64xf64> {dl.value = dense<[[9999.259765625,9999.5029296875,9999.505859375,9999.5087890625,9999.5166015625,9999.5224609375,9999.5283203125,9999.5341796875,9999.541015625,9999.5751953125,9999.5810546875,9999.58984375,9999.625,9999.67578125,9999.67578125,9999.7578125,9999.76953125,9999.77734375,9999.7998046875,9999.8076171875,9999.8798828125,9999.8837890625,9999.89453125,9999.9033203125,9999.9228515625,9999.9609375,9999.9814453125,10000.00390625,10000.0107421875,10000.025390625,10000.041015625,10000.0439453125,10000.0546875,10000.0595703125,10000.1064453125,10000.115234375,10000.1318359375,10000.13671875,10000.1474609375,10000.1494140625,10000.150390625,10000.1708984375,10000.1708984375,10000.185546875,10000.1884765625,10000.2041015625,10000.2294921875,10000.2294921875,10000.263671875,10000.2646484375,10000.3046875,10000.3125,10000.3154296875,10000.33984375,10000.3466796875,10000.3505859375,10000.357421875,10000.36328125,10000.412109375,10000.4345703125,10000.44921875,10000.470703125,10000.48046875,10000.4970703125]]> : tensor<1x64xf64>}) -> tensor<1x64xf64>
    attributes {dl.expect = dense<[[-2.362296331641189,-1.5862913361548352,-1.5769418783778912,-1.5675924206009473,-1.5426605331957632,-1.523961617641875,-1.5052627020879872,-1.486563786534099,-1.464748385054563,-1.3556713776568827,-1.3369724621029948,-1.3089240887721627,-1.1967305954488345,-1.034673327315138,-1.034673327315138,-0.7728885095607055,-0.7354906784529295,-0.7105587910477454,-0.6388796147578413,-0.6139477273526572,-0.38332776885470476,-0.37086182515211275,-0.3365804799699847,-0.30853210663915265,-0.2462023881261925,-0.12465943702592025,-0.05921323258731212,0.012465943702592026,0.03428134518212807,0.08102863406684817,0.13089240887721626,0.14024186665416027,0.17452321183628836,0.19010564146452838,0.3396969658956327,0.36774533922646474,0.4207255999624809,0.4363080295907209,0.47058937477284896,0.47682234662414497,0.47993883254979297,0.5453850369884011,0.5453850369884011,0.5921323258731213,0.6014817836500652,0.6513455584604333,0.7323741925272815,0.7323741925272815,0.8414511999249618,0.8445676858506097,0.972343608802178,0.997275496207362,1.006624953984306,1.0845371021255061,1.1063525036050423,1.1188184473076344,1.1406338487871703,1.1593327643410585,1.3151570606234586,1.3868362369133629,1.433583525798083,1.5021462161623391,1.533311075418819,1.5862913361548352]]> : tensor<1x64xf64>} {
  %y = dl.layer_norm %x axis 1 eps 1.000000e-05 : (tensor<1x64xf64>) -> tensor<1x64xf64>
  return %y : tensor<1x64xf64>
}

// A NaN or an infinity takes its row.
func.func @not_finite(
    %x: tensor<3x2xf32> {dl.value = dense<[[0x7FC00000,1.0],[0x7F800000,1.0],[1.0,1.0]]> : tensor<3x2xf32>}) -> tensor<3x2xf32>
    attributes {dl.expect = dense<[[0x7FC00000,0x7FC00000],[0x7FC00000,0x7FC00000],[0.0,0.0]]> : tensor<3x2xf32>} {
  %y = dl.layer_norm %x axis 1 eps 1.000000e-05 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

func.func @empty_rows(%x: tensor<2x0xf64>, %w: tensor<0xf64>, %b: tensor<0xf64>) -> tensor<2x0xf64> {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<2x0xf64>, tensor<0xf64>, tensor<0xf64>) -> tensor<2x0xf64>
  return %y : tensor<2x0xf64>
}

func.func @no_rows(%x: tensor<0x3xf64>, %w: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<0x3xf64> {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<0x3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<0x3xf64>
  return %y : tensor<0x3xf64>
}

func.func @size_1x1(%x: tensor<1x1xf32>, %w: tensor<1xf32>, %b: tensor<1xf32>) -> tensor<1x1xf32> attributes {dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

func.func @size_5x17(%x: tensor<5x17xf32>, %w: tensor<17xf32>, %b: tensor<17xf32>) -> tensor<5x17xf32> attributes {dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<5x17xf32>, tensor<17xf32>, tensor<17xf32>) -> tensor<5x17xf32>
  return %y : tensor<5x17xf32>
}

func.func @size_3x64(%x: tensor<3x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<3x64xf32> attributes {dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<3x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<3x64xf32>
  return %y : tensor<3x64xf32>
}

func.func @size_3x1000(%x: tensor<3x1000xf32>, %w: tensor<1000xf32>, %b: tensor<1000xf32>) -> tensor<3x1000xf32> attributes {dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<3x1000xf32>, tensor<1000xf32>, tensor<1000xf32>) -> tensor<3x1000xf32>
  return %y : tensor<3x1000xf32>
}

func.func @size_2x20000(%x: tensor<2x20000xf32>, %w: tensor<20000xf32>, %b: tensor<20000xf32>) -> tensor<2x20000xf32> {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<2x20000xf32>, tensor<20000xf32>, tensor<20000xf32>) -> tensor<2x20000xf32>
  return %y : tensor<2x20000xf32>
}

func.func @size_2x9x33(%x: tensor<2x9x33xf32>, %w: tensor<33xf32>, %b: tensor<33xf32>) -> tensor<2x9x33xf32> attributes {dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 2 eps 1.000000e-05 : (tensor<2x9x33xf32>, tensor<33xf32>, tensor<33xf32>) -> tensor<2x9x33xf32>
  return %y : tensor<2x9x33xf32>
}

func.func @size_7x5x13(%x: tensor<7x5x13xf32>, %w: tensor<5x13xf32>, %b: tensor<5x13xf32>) -> tensor<7x5x13xf32> attributes {dl.check_gradient} {
  %y = dl.layer_norm %x weight %w bias %b axis 1 eps 1.000000e-05 : (tensor<7x5x13xf32>, tensor<5x13xf32>, tensor<5x13xf32>) -> tensor<7x5x13xf32>
  return %y : tensor<7x5x13xf32>
}

func.func @size_8x32x64_f64(%x: tensor<8x32x64xf64>, %w: tensor<64xf64>, %b: tensor<64xf64>) -> tensor<8x32x64xf64> {
  %y = dl.layer_norm %x weight %w bias %b axis 2 eps 1.000000e-05 : (tensor<8x32x64xf64>, tensor<64xf64>, tensor<64xf64>) -> tensor<8x32x64xf64>
  return %y : tensor<8x32x64xf64>
}
