// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-check --compiled %s

// CHECK-LABEL: func.func @batch_norm(
// CHECK: dl.batch_norm %{{.*}} weight %{{.*}} bias %{{.*}} eps 1.000000e-05 : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
func.func @batch_norm(%x: tensor<4x3x2xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return %y#0, %y#1, %y#2 : tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @given_statistics(
// CHECK: dl.batch_norm %{{.*}} weight %{{.*}} bias %{{.*}} mean %{{.*}} var %{{.*}} eps 1.000000e-05 : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x2xf32>
func.func @given_statistics(%x: tensor<4x3x2xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32> {dl.test = "positive"}) -> tensor<4x3x2xf32> attributes {dl.check_gradient} {
  %y = dl.batch_norm %x weight %w bias %b mean %m var %v eps 1.000000e-05 : (tensor<4x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3x2xf32>
  return %y : tensor<4x3x2xf32>
}

// PyTorch, as are all values without another source; mean and var by their definition
func.func @values(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[0.5,-3.0],[4.0,4.0]],[[-1.0,0.25],[2.0,2.5],[-4.0,7.0]]]> : tensor<2x3x2xf64>},
    %w: tensor<3xf64> {dl.value = dense<[1.0,-2.0,0.5]> : tensor<3xf64>},
    %b: tensor<3xf64> {dl.value = dense<[0.0,1.0,-1.0]> : tensor<3xf64>}) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
    attributes {dl.expect = [dense<[[[0.39950943617112167,1.3126738617051141],[0.9999999999999999,4.254930365985203],[-0.8470025305014055,-0.8470025305014055]],[[-1.4268194148968631,-0.28536388297937265],[-0.3949701568508015,-0.859960209134402],[-1.8261863352924108,-0.4798086037047785]]]> : tensor<2x3x2xf64>,
        dense<[0.5625,0.5,2.75]> : tensor<3xf64>,
        dense<[1.1992187499999998,4.625,16.6875]> : tensor<3xf64>], dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
  return %y#0, %y#1, %y#2 : tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
}

func.func @without_affine(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[0.5,-3.0],[4.0,4.0]],[[-1.0,0.25],[2.0,2.5],[-4.0,7.0]]]> : tensor<2x3x2xf64>}) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
    attributes {dl.expect = [dense<[[[0.39950943617112167,1.3126738617051141],[0.0,-1.6274651829926017],[0.3059949389971892,0.3059949389971892]],[[-1.4268194148968631,-0.28536388297937265],[0.6974850784254008,0.9299801045672009],[-1.6523726705848214,1.0403827925904432]]]> : tensor<2x3x2xf64>,
        dense<[0.5625,0.5,2.75]> : tensor<3xf64>,
        dense<[1.1992187499999998,4.625,16.6875]> : tensor<3xf64>], dl.check_gradient} {
  %y:3 = dl.batch_norm %x eps 1.000000e-05 : (tensor<2x3x2xf64>) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
  return %y#0, %y#1, %y#2 : tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
}

func.func @weight_alone(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[0.5,-3.0],[4.0,4.0]],[[-1.0,0.25],[2.0,2.5],[-4.0,7.0]]]> : tensor<2x3x2xf64>},
    %w: tensor<3xf64> {dl.value = dense<[1.0,-2.0,0.5]> : tensor<3xf64>}) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
    attributes {dl.expect = [dense<[[[0.39950943617112167,1.3126738617051141],[0.0,3.2549303659852034],[0.1529974694985946,0.1529974694985946]],[[-1.4268194148968631,-0.28536388297937265],[-1.3949701568508015,-1.8599602091344019],[-0.8261863352924107,0.5201913962952216]]]> : tensor<2x3x2xf64>,
        dense<[0.5625,0.5,2.75]> : tensor<3xf64>,
        dense<[1.1992187499999998,4.625,16.6875]> : tensor<3xf64>], dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3xf64>) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
  return %y#0, %y#1, %y#2 : tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
}

func.func @bias_alone(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[0.5,-3.0],[4.0,4.0]],[[-1.0,0.25],[2.0,2.5],[-4.0,7.0]]]> : tensor<2x3x2xf64>},
    %b: tensor<3xf64> {dl.value = dense<[0.0,1.0,-1.0]> : tensor<3xf64>}) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
    attributes {dl.expect = [dense<[[[0.39950943617112167,1.3126738617051141],[1.0,-0.6274651829926016],[-0.6940050610028108,-0.6940050610028108]],[[-1.4268194148968631,-0.28536388297937265],[1.6974850784254008,1.929980104567201],[-2.652372670584821,0.040382792590443195]]]> : tensor<2x3x2xf64>,
        dense<[0.5625,0.5,2.75]> : tensor<3xf64>,
        dense<[1.1992187499999998,4.625,16.6875]> : tensor<3xf64>], dl.check_gradient} {
  %y:3 = dl.batch_norm %x bias %b eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3xf64>) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
  return %y#0, %y#1, %y#2 : tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
}

func.func @large_eps(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[0.5,-3.0],[4.0,4.0]],[[-1.0,0.25],[2.0,2.5],[-4.0,7.0]]]> : tensor<2x3x2xf64>},
    %w: tensor<3xf64> {dl.value = dense<[1.0,-2.0,0.5]> : tensor<3xf64>},
    %b: tensor<3xf64> {dl.value = dense<[0.0,1.0,-1.0]> : tensor<3xf64>}) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
    attributes {dl.expect = [dense<[[[0.33562431103976886,1.1027655934163834],[1.0,4.092082730095703],[-0.8492443277111184,-0.8492443277111184]],[[-1.1986582537134605,-0.2397316507426921],[-0.32517831289815846,-0.7669044171975445],[-1.8140806303599617,-0.487430714217802]]]> : tensor<2x3x2xf64>,
        dense<[0.5625,0.5,2.75]> : tensor<3xf64>,
        dense<[1.1992187499999998,4.625,16.6875]> : tensor<3xf64>], dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 5.000000e-01 : (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
  return %y#0, %y#1, %y#2 : tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
}

func.func @rank_2(
    %x: tensor<4x3xf64> {dl.value = dense<[[1.0,2.0,-3.0],[0.5,8.0,0.0],[4.0,4.0,-0.125],[2.0,-1.0,1.0]]> : tensor<4x3xf64>},
    %w: tensor<3xf64> {dl.value = dense<[1.0,-2.0,0.5]> : tensor<3xf64>},
    %b: tensor<3xf64> {dl.value = dense<[0.0,1.0,-1.0]> : tensor<3xf64>}) -> (tensor<4x3xf64>, tensor<3xf64>, tensor<3xf64>)
    attributes {dl.expect = [dense<[[-0.6527515494186094,1.7647187551387962,-1.8281431572352853],[-1.0257524348006717,-1.9059312695274246,-0.8217919788227868],[1.5852537628737653,0.5411687469167226,-0.8637232779233075],[0.09325022134551553,3.600043767471907,-0.4863415860186206]]> : tensor<4x3xf64>,
        dense<[1.875,3.25,-0.53125]> : tensor<3xf64>,
        dense<[1.7968750000000002,10.6875,2.2216796875]> : tensor<3xf64>], dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<4x3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<4x3xf64>, tensor<3xf64>, tensor<3xf64>)
  return %y#0, %y#1, %y#2 : tensor<4x3xf64>, tensor<3xf64>, tensor<3xf64>
}

func.func @rank_4(
    %x: tensor<2x2x2x3xf64> {dl.value = dense<[[[[1.0,2.0,3.0],[-1.0,0.0,0.5]],[[7.0,-2.0,4.0],[4.0,1.0,0.25]]],[[[-5.0,3.0,2.0],[1.0,0.0,6.0]],[[-1.0,2.0,2.0],[3.0,1.0,-4.0]]]]> : tensor<2x2x2x3xf64>},
    %w: tensor<2xf64> {dl.value = dense<[1.0,-2.0]> : tensor<2xf64>},
    %b: tensor<2xf64> {dl.value = dense<[0.0,1.0]> : tensor<2xf64>}) -> (tensor<2x2x2x3xf64>, tensor<2xf64>, tensor<2xf64>)
    attributes {dl.expect = [dense<[[[[-0.016424356746001123,0.37776020515802494,0.771944767062051],[-0.8047934805540533,-0.4106089186500272,-0.21351663769801416]],[[-2.927848737013573,3.427322253210635,-0.8094584069388371],[-0.8094584069388371,1.308931923135899,1.838529505654583]]],[[[-2.3815317281701573,0.771944767062051,0.37776020515802494],[-0.016424356746001123,-0.4106089186500272,1.9544984527741291]],[[2.721192143185723,0.6028018131109869,0.6028018131109869],[-0.10332829691392509,1.308931923135899,4.839582473260458]]]]> : tensor<2x2x2x3xf64>,
        dense<[1.0416666666666667,1.4375]> : tensor<2xf64>,
        dense<[6.435763888888888,8.022135416666666]> : tensor<2xf64>], dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<2x2x2x3xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x2x2x3xf64>, tensor<2xf64>, tensor<2xf64>)
  return %y#0, %y#1, %y#2 : tensor<2x2x2x3xf64>, tensor<2xf64>, tensor<2xf64>
}

func.func @evaluation(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[0.5,-3.0],[4.0,4.0]],[[-1.0,0.25],[2.0,2.5],[-4.0,7.0]]]> : tensor<2x3x2xf64>},
    %w: tensor<3xf64> {dl.value = dense<[1.0,-2.0,0.5]> : tensor<3xf64>},
    %b: tensor<3xf64> {dl.value = dense<[0.0,1.0,-1.0]> : tensor<3xf64>},
    %m: tensor<3xf64> {dl.value = dense<[0.25,-1.0,3.0]> : tensor<3xf64>},
    %v: tensor<3xf64> {dl.value = dense<[1.0,0.5,4.0]> : tensor<3xf64>}) -> tensor<2x3x2xf64>
    attributes {dl.expect = dense<[[[0.7499962500281248,1.7499912500656245],[-3.2425982613488,6.6567976817984],[-0.7500003124994141,-0.7500003124994141]],[[-1.2499937500468747,0.0],[-7.4851965226976,-8.8993959431472],[-2.749997812504102,-1.249997656327384e-06]]]> : tensor<2x3x2xf64>, dl.check_gradient} {
  %y = dl.batch_norm %x weight %w bias %b mean %m var %v eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @evaluation_without_affine(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[0.5,-3.0],[4.0,4.0]],[[-1.0,0.25],[2.0,2.5],[-4.0,7.0]]]> : tensor<2x3x2xf64>},
    %m: tensor<3xf64> {dl.value = dense<[0.25,-1.0,3.0]> : tensor<3xf64>},
    %v: tensor<3xf64> {dl.value = dense<[1.0,0.5,4.0]> : tensor<3xf64>}) -> tensor<2x3x2xf64>
    attributes {dl.expect = dense<[[[0.7499962500281248,1.7499912500656245],[2.1212991306744,-2.8283988408992],[0.49999937500117175,0.49999937500117175]],[[-1.2499937500468747,0.0],[4.2425982613488,4.9496979715736],[-3.499995625008203,1.9999975000046875]]]> : tensor<2x3x2xf64>, dl.check_gradient} {
  %y = dl.batch_norm %x mean %m var %v eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @evaluation_weight_alone(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[0.5,-3.0],[4.0,4.0]],[[-1.0,0.25],[2.0,2.5],[-4.0,7.0]]]> : tensor<2x3x2xf64>},
    %w: tensor<3xf64> {dl.value = dense<[1.0,-2.0,0.5]> : tensor<3xf64>},
    %m: tensor<3xf64> {dl.value = dense<[0.25,-1.0,3.0]> : tensor<3xf64>},
    %v: tensor<3xf64> {dl.value = dense<[1.0,0.5,4.0]> : tensor<3xf64>}) -> tensor<2x3x2xf64>
    attributes {dl.expect = dense<[[[0.7499962500281248,1.7499912500656245],[-4.2425982613488,5.6567976817984],[0.24999968750058588,0.24999968750058588]],[[-1.2499937500468747,0.0],[-8.4851965226976,-9.8993959431472],[-1.7499978125041016,0.9999987500023437]]]> : tensor<2x3x2xf64>, dl.check_gradient} {
  %y = dl.batch_norm %x weight %w mean %m var %v eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3x2xf64>
  return %y : tensor<2x3x2xf64>
}

func.func @evaluation_rank_2(
    %x: tensor<4x3xf64> {dl.value = dense<[[1.0,2.0,-3.0],[0.5,8.0,0.0],[4.0,4.0,-0.125],[2.0,-1.0,1.0]]> : tensor<4x3xf64>},
    %w: tensor<3xf64> {dl.value = dense<[1.0,-2.0,0.5]> : tensor<3xf64>},
    %b: tensor<3xf64> {dl.value = dense<[0.0,1.0,-1.0]> : tensor<3xf64>},
    %m: tensor<3xf64> {dl.value = dense<[0.25,-1.0,3.0]> : tensor<3xf64>},
    %v: tensor<3xf64> {dl.value = dense<[1.0,0.5,4.0]> : tensor<3xf64>}) -> tensor<4x3xf64>
    attributes {dl.expect = dense<[[0.7496252810158299,-7.476808799610247,-2.4998125351489273],[0.2498750936719433,-24.43042639883074,-1.7499062675744637],[3.7481264050791494,-13.128014666017076,-1.7811523620567329],[1.749125655703603,1.0,-1.4999375117163092]]> : tensor<4x3xf64>, dl.check_gradient} {
  %y = dl.batch_norm %x weight %w bias %b mean %m var %v eps 1.000000e-03 : (tensor<4x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

func.func @gradients(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[0.5,-3.0],[4.0,4.0]],[[-1.0,0.25],[2.0,2.5],[-4.0,7.0]]]> : tensor<2x3x2xf64>},
    %w: tensor<3xf64> {dl.value = dense<[1.0,-2.0,0.5]> : tensor<3xf64>},
    %b: tensor<3xf64> {dl.value = dense<[0.0,1.0,-1.0]> : tensor<3xf64>}) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
    attributes {dl.expect = [dense<[[[1.5750768222572682,-2.076432111612235],[-1.9225534682151084,0.8910811402472718],[0.659187341505462,0.45184455138446794]],[[-1.9622057947944678,2.4635610841494366],[-2.1123390072006663,3.1438113351685035],[-0.3030100246799422,-0.8080218682099878]]]> : tensor<2x3x2xf64>,
        dense<[37.01597797751263,-76.35167015276187,48.70353113123933]> : tensor<3xf64>,
        dense<[-18.491579617063348,15.730775921879157,-70.32556153637864]> : tensor<3xf64>]} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
  %k = dl.constant dense<[[[1.0,2.0],[3.0,4.0],[5.0,6.0]],[[7.0,8.0],[9.0,10.0],[11.0,12.0]]]> : tensor<2x3x2xf64>
  %y2 = dl.mul %y#0, %y#0 : tensor<2x3x2xf64>
  %ky2 = dl.mul %k, %y2 : tensor<2x3x2xf64>
  %s = dl.reduce_sum %ky2 over [0, 1, 2] : (tensor<2x3x2xf64>) -> tensor<f64>
  %g:3 = dl.gradient %s wrt %x, %w, %b : tensor<f64>, tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
  return %g#0, %g#1, %g#2 : tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
}

// PyTorch's derivatives of the formula, for mean and var too
func.func @evaluation_gradients(
    %x: tensor<2x3x2xf64> {dl.value = dense<[[[1.0,2.0],[0.5,-3.0],[4.0,4.0]],[[-1.0,0.25],[2.0,2.5],[-4.0,7.0]]]> : tensor<2x3x2xf64>},
    %w: tensor<3xf64> {dl.value = dense<[1.0,-2.0,0.5]> : tensor<3xf64>},
    %b: tensor<3xf64> {dl.value = dense<[0.0,1.0,-1.0]> : tensor<3xf64>},
    %m: tensor<3xf64> {dl.value = dense<[0.25,-1.0,3.0]> : tensor<3xf64>},
    %v: tensor<3xf64> {dl.value = dense<[1.0,0.5,4.0]> : tensor<3xf64>}) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
    attributes {dl.expect = [dense<[[[1.4999850001499986,6.999930000699994],[55.02816698340423,-150.6246307783926],[-1.874998437501953,-2.249998125002344]],[[-17.499825001749986,0.0],[381.080181036611,503.4208234060116],[-15.124969062573046,-7.499976562666393e-06]]]> : tensor<2x3x2xf64>,
        dense<[35.24964750352497,-1644.5024685313826,203.49951375120153]> : tensor<3xf64>,
        dense<[-8.9999550003375,-278.92266438520636,-76.99998875002109]> : tensor<3xf64>,
        dense<[8.999910000899995,-788.9045406476342,19.249973125053906]> : tensor<3xf64>,
        dense<[-17.624647505287435,-3288.9391582796006,-12.718687812730563]> : tensor<3xf64>]} {
  %y = dl.batch_norm %x weight %w bias %b mean %m var %v eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3x2xf64>
  %k = dl.constant dense<[[[1.0,2.0],[3.0,4.0],[5.0,6.0]],[[7.0,8.0],[9.0,10.0],[11.0,12.0]]]> : tensor<2x3x2xf64>
  %y2 = dl.mul %y, %y : tensor<2x3x2xf64>
  %ky2 = dl.mul %k, %y2 : tensor<2x3x2xf64>
  %s = dl.reduce_sum %ky2 over [0, 1, 2] : (tensor<2x3x2xf64>) -> tensor<f64>
  %g:5 = dl.gradient %s wrt %x, %w, %b, %m, %v : tensor<f64>, tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
  return %g#0, %g#1, %g#2, %g#3, %g#4 : tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
}

// A loss of the statistics alone, and of all results together.
func.func @statistics_alone(%x: tensor<3x2x4xf64>) -> (tensor<2xf64>, tensor<2xf64>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x eps 1.000000e-05 : (tensor<3x2x4xf64>) -> (tensor<3x2x4xf64>, tensor<2xf64>, tensor<2xf64>)
  return %y#1, %y#2 : tensor<2xf64>, tensor<2xf64>
}

func.func @variance_alone(%x: tensor<3x2x4xf64>) -> tensor<2xf64> attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x eps 1.000000e-05 : (tensor<3x2x4xf64>) -> (tensor<3x2x4xf64>, tensor<2xf64>, tensor<2xf64>)
  return %y#2 : tensor<2xf64>
}

func.func @value_alone(%x: tensor<3x2x4xf64>, %w: tensor<2xf64>) -> tensor<3x2x4xf64> attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w eps 1.000000e-05 : (tensor<3x2x4xf64>, tensor<2xf64>) -> (tensor<3x2x4xf64>, tensor<2xf64>, tensor<2xf64>)
  return %y#0 : tensor<3x2x4xf64>
}

func.func @second_order(%x: tensor<2x3x2xf64>, %w: tensor<3xf64>, %b: tensor<3xf64>) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
  %y3 = dl.mul %y#0, %x : tensor<2x3x2xf64>
  %y2 = dl.mul %y3, %y#0 : tensor<2x3x2xf64>
  %s = dl.reduce_sum %y2 over [0, 1, 2] : (tensor<2x3x2xf64>) -> tensor<f64>
  %g:3 = dl.gradient %s wrt %x, %w, %b : tensor<f64>, tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
  return %g#0, %g#1, %g#2 : tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
}

func.func @second_order_evaluation(%x: tensor<2x3x2xf64>, %w: tensor<3xf64>, %b: tensor<3xf64>, %m: tensor<3xf64>, %v: tensor<3xf64> {dl.test = "positive"}) -> (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>) attributes {dl.check_gradient} {
  %y = dl.batch_norm %x weight %w bias %b mean %m var %v eps 1.000000e-05 : (tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3x2xf64>
  %y2 = dl.mul %y, %y : tensor<2x3x2xf64>
  %s = dl.reduce_sum %y2 over [0, 1, 2] : (tensor<2x3x2xf64>) -> tensor<f64>
  %g:3 = dl.gradient %s wrt %x, %w, %v : tensor<f64>, tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
  return %g#0, %g#1, %g#2 : tensor<2x3x2xf64>, tensor<3xf64>, tensor<3xf64>
}

// The deviation from one element's mean is 0.
func.func @one_value_a_channel(
    %x: tensor<1x2xf32> {dl.value = dense<[[3.0,-100000000.0]]> : tensor<1x2xf32>},
    %b: tensor<2xf32> {dl.value = dense<[0.5,-2.0]> : tensor<2xf32>}) -> (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>)
    attributes {dl.expect = [dense<[[0.5,-2.0]]> : tensor<1x2xf32>, dense<[3.0,-1.0e8]> : tensor<2xf32>, dense<0.0> : tensor<2xf32>]} {
  %y:3 = dl.batch_norm %x bias %b eps 1.000000e-05 : (tensor<1x2xf32>, tensor<2xf32>) -> (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %y#0, %y#1, %y#2 : tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Equal elements are 0 exactly: the mean is theirs to the last bit.
func.func @constant_channels(
    %x: tensor<7x2x11xf32> {dl.value = dense<0.3> : tensor<7x2x11xf32>}) -> (tensor<7x2x11xf32>, tensor<2xf32>, tensor<2xf32>)
    attributes {dl.expect = [dense<0.0> : tensor<7x2x11xf32>, dense<0.3> : tensor<2xf32>, dense<0.0> : tensor<2xf32>]} {
  %y:3 = dl.batch_norm %x eps 1.000000e-05 : (tensor<7x2x11xf32>) -> (tensor<7x2x11xf32>, tensor<2xf32>, tensor<2xf32>)
  return %y#0, %y#1, %y#2 : tensor<7x2x11xf32>, tensor<2xf32>, tensor<2xf32>
}

// E[x^2] - mean^2 in f32 would be off by more than the variance.
func.func @large_mean_f32(
    %x: tensor<32x2xf32> {dl.value = dense<[[10000.40234375,-29999.607421875],[10000.404296875,-29999.5078125],[10000.2578125,-29999.32421875],[10000.142578125,-29999.939453125],[10000.02734375,-29999.4453125],[10000.19140625,-29999.728515625],[10000.2041015625,-29999.12109375],[10000.0224609375,-29999.935546875],[10000.0244140625,-29999.3203125],[10000.5,-29999.130859375],[10000.326171875,-29999.7734375],[10000.1171875,-29999.10546875],[10000.2177734375,-29999.126953125],[10000.4873046875,-29999.982421875],[10000.44921875,-29999.29296875],[10000.421875,-29999.998046875],[9999.59765625,-30000.392578125],[9999.595703125,-30000.4921875],[9999.7421875,-30000.67578125],[9999.857421875,-30000.060546875],[9999.97265625,-30000.5546875],[9999.80859375,-30000.271484375],[9999.7958984375,-30000.87890625],[9999.9775390625,-30000.064453125],[9999.9755859375,-30000.6796875],[9999.5,-30000.869140625],[9999.673828125,-30000.2265625],[9999.8828125,-30000.89453125],[9999.7822265625,-30000.873046875],[9999.5126953125,-30000.017578125],[9999.55078125,-30000.70703125],[9999.578125,-30000.001953125]]> : tensor<32x2xf32>}) -> (tensor<32x2xf32>, tensor<2xf32>, tensor<2xf32>)
    attributes {dl.expect = [dense<[[1.302285202403505,0.6791466064913216],[1.3086069752307035,0.8514673872419667],[0.83447401319082,1.1690782380372733],[0.46148941638611174,0.10474400398917143],[0.08850481958140351,0.9595902300659008],[0.6195337370660728,0.4696585985199492],[0.6606252604428627,1.5204774772150593],[0.07270038751340739,0.1115016816656673],[0.07902216034060584,1.1758359157137692],[1.6183738437634272,1.5035832830238196],[1.0557360621427656,0.3919453052402465],[0.37930636963253195,1.5475081879210428],[0.7048776702332519,1.5103409607003153],[1.5772823203866373,0.030409549547716692],[1.4540077502562676,1.2231396594492403],[1.3655029306754893,0.0033788388417331544],[-1.3022852024022544,-0.6791466064843512],[-1.308606975229453,-0.8514673872349963],[-0.8344740131895695,-1.1690782380303029],[-0.4614894163848612,-0.104744003982201],[-0.08850481958015295,-0.9595902300589304],[-0.6195337370648223,-0.46965859851297875],[-0.6606252604416122,-1.520477477208089],[-0.07270038751215684,-0.11150168165869688],[-0.07902216033935529,-1.1758359157067988],[-1.6183738437621766,-1.5035832830168492],[-1.055736062141515,-0.3919453052332761],[-0.3793063696312814,-1.5475081879140724],[-0.7048776702320013,-1.510340960693345],[-1.5772823203853867,-0.030409549540746268],[-1.454007750255017,-1.2231396594422699],[-1.3655029306742388,-0.00337883883476273]]> : tensor<32x2xf32>,
        dense<[10000.0,-30000.0]> : tensor<2xf32>,
        dense<[0.09544140100550995,0.3341274261465782]> : tensor<2xf32>]} {
  %y:3 = dl.batch_norm %x eps 1.000000e-05 : (tensor<32x2xf32>) -> (tensor<32x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %y#0, %y#1, %y#2 : tensor<32x2xf32>, tensor<2xf32>, tensor<2xf32>
}

func.func @large_mean_f64(
    %x: tensor<32x2xf64> {dl.value = dense<[[10000.40234375,-29999.607421875],[10000.404296875,-29999.5078125],[10000.2578125,-29999.32421875],[10000.142578125,-29999.939453125],[10000.02734375,-29999.4453125],[10000.19140625,-29999.728515625],[10000.2041015625,-29999.12109375],[10000.0224609375,-29999.935546875],[10000.0244140625,-29999.3203125],[10000.5,-29999.130859375],[10000.326171875,-29999.7734375],[10000.1171875,-29999.10546875],[10000.2177734375,-29999.126953125],[10000.4873046875,-29999.982421875],[10000.44921875,-29999.29296875],[10000.421875,-29999.998046875],[9999.59765625,-30000.392578125],[9999.595703125,-30000.4921875],[9999.7421875,-30000.67578125],[9999.857421875,-30000.060546875],[9999.97265625,-30000.5546875],[9999.80859375,-30000.271484375],[9999.7958984375,-30000.87890625],[9999.9775390625,-30000.064453125],[9999.9755859375,-30000.6796875],[9999.5,-30000.869140625],[9999.673828125,-30000.2265625],[9999.8828125,-30000.89453125],[9999.7822265625,-30000.873046875],[9999.5126953125,-30000.017578125],[9999.55078125,-30000.70703125],[9999.578125,-30000.001953125]]> : tensor<32x2xf64>}) -> (tensor<32x2xf64>, tensor<2xf64>, tensor<2xf64>)
    attributes {dl.expect = [dense<[[1.302285202403505,0.6791466064913216],[1.3086069752307035,0.8514673872419667],[0.83447401319082,1.1690782380372733],[0.46148941638611174,0.10474400398917143],[0.08850481958140351,0.9595902300659008],[0.6195337370660728,0.4696585985199492],[0.6606252604428627,1.5204774772150593],[0.07270038751340739,0.1115016816656673],[0.07902216034060584,1.1758359157137692],[1.6183738437634272,1.5035832830238196],[1.0557360621427656,0.3919453052402465],[0.37930636963253195,1.5475081879210428],[0.7048776702332519,1.5103409607003153],[1.5772823203866373,0.030409549547716692],[1.4540077502562676,1.2231396594492403],[1.3655029306754893,0.0033788388417331544],[-1.3022852024022544,-0.6791466064843512],[-1.308606975229453,-0.8514673872349963],[-0.8344740131895695,-1.1690782380303029],[-0.4614894163848612,-0.104744003982201],[-0.08850481958015295,-0.9595902300589304],[-0.6195337370648223,-0.46965859851297875],[-0.6606252604416122,-1.520477477208089],[-0.07270038751215684,-0.11150168165869688],[-0.07902216033935529,-1.1758359157067988],[-1.6183738437621766,-1.5035832830168492],[-1.055736062141515,-0.3919453052332761],[-0.3793063696312814,-1.5475081879140724],[-0.7048776702320013,-1.510340960693345],[-1.5772823203853867,-0.030409549540746268],[-1.454007750255017,-1.2231396594422699],[-1.3655029306742388,-0.00337883883476273]]> : tensor<32x2xf64>,
        dense<[10000.0,-30000.0]> : tensor<2xf64>,
        dense<[0.09544140100550995,0.3341274261465782]> : tensor<2xf64>]} {
  %y:3 = dl.batch_norm %x eps 1.000000e-05 : (tensor<32x2xf64>) -> (tensor<32x2xf64>, tensor<2xf64>, tensor<2xf64>)
  return %y#0, %y#1, %y#2 : tensor<32x2xf64>, tensor<2xf64>, tensor<2xf64>
}

// A NaN or an infinity takes its channel, and no other: all results are NaN.
func.func @not_finite(
    %x: tensor<2x3xf32> {dl.value = dense<[[0x7FC00000,0x7F800000,1.0],[1.0,1.0,1.0]]> : tensor<2x3xf32>}) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
    attributes {dl.expect = [dense<[[0x7FC00000,0x7FC00000,0.0],[0x7FC00000,0x7FC00000,0.0]]> : tensor<2x3xf32>,
        dense<[0x7FC00000,0x7FC00000,1.0]> : tensor<3xf32>, dense<[0x7FC00000,0x7FC00000,0.0]> : tensor<3xf32>]} {
  %y:3 = dl.batch_norm %x eps 1.000000e-05 : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %y#0, %y#1, %y#2 : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// Means of nothing are NaN.
func.func @empty_batch(%x: tensor<0x2x3xf64>) -> (tensor<0x2x3xf64>, tensor<2xf64>, tensor<2xf64>)
    attributes {dl.expect = [dense<> : tensor<0x2x3xf64>, dense<0x7FF8000000000000> : tensor<2xf64>, dense<0x7FF8000000000000> : tensor<2xf64>]} {
  %y:3 = dl.batch_norm %x eps 1.000000e-05 : (tensor<0x2x3xf64>) -> (tensor<0x2x3xf64>, tensor<2xf64>, tensor<2xf64>)
  return %y#0, %y#1, %y#2 : tensor<0x2x3xf64>, tensor<2xf64>, tensor<2xf64>
}

func.func @no_channels(%x: tensor<2x0x3xf64>, %w: tensor<0xf64>, %b: tensor<0xf64>) -> (tensor<2x0x3xf64>, tensor<0xf64>, tensor<0xf64>) {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<2x0x3xf64>, tensor<0xf64>, tensor<0xf64>) -> (tensor<2x0x3xf64>, tensor<0xf64>, tensor<0xf64>)
  return %y#0, %y#1, %y#2 : tensor<2x0x3xf64>, tensor<0xf64>, tensor<0xf64>
}

func.func @size_1x1(%x: tensor<1x1xf32>, %w: tensor<1xf32>, %b: tensor<1xf32>) -> (tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>)
  return %y#0, %y#1, %y#2 : tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>
}

func.func @size_17x1(%x: tensor<17x1xf32>, %w: tensor<1xf32>, %b: tensor<1xf32>) -> (tensor<17x1xf32>, tensor<1xf32>, tensor<1xf32>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<17x1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<17x1xf32>, tensor<1xf32>, tensor<1xf32>)
  return %y#0, %y#1, %y#2 : tensor<17x1xf32>, tensor<1xf32>, tensor<1xf32>
}

func.func @size_1x17x17(%x: tensor<1x17x17xf32>, %w: tensor<17xf32>, %b: tensor<17xf32>) -> (tensor<1x17x17xf32>, tensor<17xf32>, tensor<17xf32>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<1x17x17xf32>, tensor<17xf32>, tensor<17xf32>) -> (tensor<1x17x17xf32>, tensor<17xf32>, tensor<17xf32>)
  return %y#0, %y#1, %y#2 : tensor<1x17x17xf32>, tensor<17xf32>, tensor<17xf32>
}

func.func @size_17x17(%x: tensor<17x17xf32>, %w: tensor<17xf32>, %b: tensor<17xf32>) -> (tensor<17x17xf32>, tensor<17xf32>, tensor<17xf32>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<17x17xf32>, tensor<17xf32>, tensor<17xf32>) -> (tensor<17x17xf32>, tensor<17xf32>, tensor<17xf32>)
  return %y#0, %y#1, %y#2 : tensor<17x17xf32>, tensor<17xf32>, tensor<17xf32>
}

func.func @size_2x3x17x17(%x: tensor<2x3x17x17xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<2x3x17x17xf32>, tensor<3xf32>, tensor<3xf32>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<2x3x17x17xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x17x17xf32>, tensor<3xf32>, tensor<3xf32>)
  return %y#0, %y#1, %y#2 : tensor<2x3x17x17xf32>, tensor<3xf32>, tensor<3xf32>
}

func.func @size_2x33x5x7(%x: tensor<2x33x5x7xf32>, %w: tensor<33xf32>, %b: tensor<33xf32>) -> (tensor<2x33x5x7xf32>, tensor<33xf32>, tensor<33xf32>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<2x33x5x7xf32>, tensor<33xf32>, tensor<33xf32>) -> (tensor<2x33x5x7xf32>, tensor<33xf32>, tensor<33xf32>)
  return %y#0, %y#1, %y#2 : tensor<2x33x5x7xf32>, tensor<33xf32>, tensor<33xf32>
}

func.func @size_5x33x9x7(%x: tensor<5x33x9x7xf32>, %w: tensor<33xf32>, %b: tensor<33xf32>) -> (tensor<5x33x9x7xf32>, tensor<33xf32>, tensor<33xf32>) {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<5x33x9x7xf32>, tensor<33xf32>, tensor<33xf32>) -> (tensor<5x33x9x7xf32>, tensor<33xf32>, tensor<33xf32>)
  return %y#0, %y#1, %y#2 : tensor<5x33x9x7xf32>, tensor<33xf32>, tensor<33xf32>
}

func.func @size_260x5(%x: tensor<260x5xf32>, %w: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<260x5xf32>, tensor<5xf32>, tensor<5xf32>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<260x5xf32>, tensor<5xf32>, tensor<5xf32>) -> (tensor<260x5xf32>, tensor<5xf32>, tensor<5xf32>)
  return %y#0, %y#1, %y#2 : tensor<260x5xf32>, tensor<5xf32>, tensor<5xf32>
}

func.func @size_1000x5(%x: tensor<1000x5xf32>, %w: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<1000x5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<1000x5xf32>, tensor<5xf32>, tensor<5xf32>) -> (tensor<1000x5xf32>, tensor<5xf32>, tensor<5xf32>)
  return %y#0, %y#1, %y#2 : tensor<1000x5xf32>, tensor<5xf32>, tensor<5xf32>
}

func.func @size_8x16x32x32(%x: tensor<8x16x32x32xf32>, %w: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>) {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>)
  return %y#0, %y#1, %y#2 : tensor<8x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>
}

func.func @size_3x65x70_f64(%x: tensor<3x65x70xf64>, %w: tensor<65xf64>, %b: tensor<65xf64>) -> (tensor<3x65x70xf64>, tensor<65xf64>, tensor<65xf64>) attributes {dl.check_gradient} {
  %y:3 = dl.batch_norm %x weight %w bias %b eps 1.000000e-05 : (tensor<3x65x70xf64>, tensor<65xf64>, tensor<65xf64>) -> (tensor<3x65x70xf64>, tensor<65xf64>, tensor<65xf64>)
  return %y#0, %y#1, %y#2 : tensor<3x65x70xf64>, tensor<65xf64>, tensor<65xf64>
}

func.func @size_1x1_evaluation(%x: tensor<1x1xf32>, %w: tensor<1xf32>, %b: tensor<1xf32>, %m: tensor<1xf32>, %v: tensor<1xf32> {dl.test = "positive"}) -> tensor<1x1xf32> attributes {dl.check_gradient} {
  %y = dl.batch_norm %x weight %w bias %b mean %m var %v eps 1.000000e-05 : (tensor<1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

func.func @size_17x17_evaluation(%x: tensor<17x17xf32>, %w: tensor<17xf32>, %b: tensor<17xf32>, %m: tensor<17xf32>, %v: tensor<17xf32> {dl.test = "positive"}) -> tensor<17x17xf32> attributes {dl.check_gradient} {
  %y = dl.batch_norm %x weight %w bias %b mean %m var %v eps 1.000000e-05 : (tensor<17x17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>) -> tensor<17x17xf32>
  return %y : tensor<17x17xf32>
}

func.func @size_5x33x9x7_evaluation(%x: tensor<5x33x9x7xf32>, %w: tensor<33xf32>, %b: tensor<33xf32>, %m: tensor<33xf32>, %v: tensor<33xf32> {dl.test = "positive"}) -> tensor<5x33x9x7xf32> attributes {dl.check_gradient} {
  %y = dl.batch_norm %x weight %w bias %b mean %m var %v eps 1.000000e-05 : (tensor<5x33x9x7xf32>, tensor<33xf32>, tensor<33xf32>, tensor<33xf32>, tensor<33xf32>) -> tensor<5x33x9x7xf32>
  return %y : tensor<5x33x9x7xf32>
}

func.func @size_3x65x70_evaluation_f64(%x: tensor<3x65x70xf64>, %w: tensor<65xf64>, %b: tensor<65xf64>, %m: tensor<65xf64>, %v: tensor<65xf64> {dl.test = "positive"}) -> tensor<3x65x70xf64> attributes {dl.check_gradient} {
  %y = dl.batch_norm %x weight %w bias %b mean %m var %v eps 1.000000e-05 : (tensor<3x65x70xf64>, tensor<65xf64>, tensor<65xf64>, tensor<65xf64>, tensor<65xf64>) -> tensor<3x65x70xf64>
  return %y : tensor<3x65x70xf64>
}
