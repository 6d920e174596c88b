// RUN: dlc-opt %s -dl-bucket-gradients=bucket-bytes=128 -split-input-file | FileCheck %s
// RUN: dlc-opt %s -dl-bucket-gradients=bucket-bytes=128 -dl-bucket-gradients=bucket-bytes=128 -split-input-file | FileCheck %s
// RUN: dlc-opt %s -dl-bucket-gradients -split-input-file | FileCheck %s --check-prefix=MODEL

// Buckets of at least 128 bytes, cut from the end of the module: @c and @b, then @a and what is left. Each is where its last
// member was; what reads a member follows it.
dl.mesh @mesh ["data" = 2]
dl.variable @a : tensor<64xf32> role(parameter) init(#dl.zeros)
dl.variable @lr : tensor<f32> role(hyper) init(#dl.zeros)
dl.variable @b : tensor<16xf32> role(parameter) init(#dl.zeros)
dl.variable @c : tensor<8xf32> role(parameter) init(#dl.zeros)
dl.variable @stat : tensor<f32> role(buffer) init(#dl.zeros)
// CHECK-LABEL: func.func @gradients
// CHECK-NOT: all_reduce
// CHECK: %[[CB:.*]]:2 = dl.all_reduce sum(data) %arg1, %arg2 {dl.bucket = 0 : i64, tensors = ["b", "c"]} : tensor<16xf32>, tensor<8xf32>
// CHECK: dl.neg %[[CB]]#1
// CHECK: %[[A:.*]] = dl.all_reduce sum(data) %arg0 {dl.bucket = 1 : i64, tensors = ["a"]} : tensor<64xf32>
// A loss is no gradient.
// CHECK: %[[LOSS:.*]] = dl.all_reduce sum(data) %arg3 : tensor<f32>
// CHECK: return %[[LOSS]]
// They are small for the model of the link: what it costs to start one more is more than it saves.
// MODEL-LABEL: func.func @gradients
// MODEL: dl.all_reduce sum(data) %arg0, %arg1, %arg2 {dl.bucket = 0 : i64, tensors = ["a", "b", "c"]}
func.func @gradients(%da: tensor<64xf32>, %db: tensor<16xf32>, %dc: tensor<8xf32>, %l: tensor<f32>) -> tensor<f32> attributes {dl.entry} {
  %gc = dl.all_reduce sum(data) %dc : tensor<8xf32>
  %nc = dl.neg %gc : tensor<8xf32>
  %gb = dl.all_reduce sum(data) %db : tensor<16xf32>
  %nb = dl.neg %gb : tensor<16xf32>
  %ga = dl.all_reduce sum(data) %da : tensor<64xf32>
  %na = dl.neg %ga : tensor<64xf32>
  %loss = dl.all_reduce sum(data) %l : tensor<f32>
  dl.write @a, %na : tensor<64xf32>
  dl.write @b, %nb : tensor<16xf32>
  dl.write @c, %nc : tensor<8xf32>
  dl.write @stat, %loss : tensor<f32>
  return %loss : tensor<f32>
}

// -----

// A reduction that another one waits for keeps its place, though it is a gradient too; two that nothing separates are joined.
dl.mesh @mesh ["data" = 2]
dl.variable @a : tensor<8xf32> role(parameter) init(#dl.zeros)
dl.variable @b : tensor<8xf32> role(parameter) init(#dl.zeros)
dl.variable @c : tensor<8xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @urgent
// CHECK: %[[BC:.*]]:2 = dl.all_reduce sum(data) %arg1, %arg2 : tensor<8xf32>, tensor<8xf32>
// CHECK: %[[HALF:.*]] = dl.mul %arg0, %[[BC]]#0
// CHECK: %[[DA:.*]] = dl.mul %[[HALF]], %[[BC]]#1
// CHECK: dl.all_reduce sum(data) %[[DA]] {dl.bucket = 0 : i64, tensors = ["a"]}
// MODEL-LABEL: func.func @urgent
func.func @urgent(%x: tensor<8xf32>, %db: tensor<8xf32>, %dc: tensor<8xf32>) attributes {dl.entry} {
  %gb = dl.all_reduce sum(data) %db : tensor<8xf32>
  %gc = dl.all_reduce sum(data) %dc : tensor<8xf32>
  %da0 = dl.mul %x, %gb : tensor<8xf32>
  %da = dl.mul %da0, %gc : tensor<8xf32>
  %ga = dl.all_reduce sum(data) %da : tensor<8xf32>
  dl.write @a, %ga : tensor<8xf32>
  dl.write @b, %gb : tensor<8xf32>
  dl.write @c, %gc : tensor<8xf32>
  return
}

// -----

// Other axes and other element types are buckets of their own.
dl.mesh @mesh ["data" = 2, "model" = 2]
dl.variable @a : tensor<8xf32> role(parameter) init(#dl.zeros)
dl.variable @b : tensor<8xf64> role(parameter) init(#dl.zeros)
dl.variable @c : tensor<8xf32> role(parameter) init(#dl.zeros)
dl.variable @d : tensor<8xf32> role(parameter) init(#dl.zeros)
// CHECK-LABEL: func.func @unlike
// CHECK-DAG: dl.all_reduce sum(data, model) %{{.*}} {dl.bucket = {{.*}}, tensors = ["a"]}
// CHECK-DAG: dl.all_reduce sum(data) %{{.*}} {dl.bucket = {{.*}}, tensors = ["b"]} : tensor<8xf64>
// CHECK-DAG: dl.all_reduce sum(data) %{{.*}}, %{{.*}} {dl.bucket = {{.*}}, tensors = ["c", "d"]} : tensor<8xf32>, tensor<8xf32>
// MODEL-LABEL: func.func @unlike
func.func @unlike(%x: tensor<8xf32>, %y: tensor<8xf64>) attributes {dl.entry} {
  %a = dl.all_reduce sum(data, model) %x : tensor<8xf32>
  %b = dl.all_reduce sum(data) %y : tensor<8xf64>
  %u = dl.neg %x : tensor<8xf32>
  %c = dl.all_reduce sum(data) %u : tensor<8xf32>
  %v = dl.exp %x : tensor<8xf32>
  %d = dl.all_reduce sum(data) %v : tensor<8xf32>
  dl.write @a, %a : tensor<8xf32>
  dl.write @b, %b : tensor<8xf64>
  dl.write @c, %c : tensor<8xf32>
  dl.write @d, %d : tensor<8xf32>
  return
}

// -----

dl.mesh @mesh ["data" = 2]
// In steps of a loop small ones are joined as anywhere.
// CHECK-LABEL: func.func @steps(
// CHECK: dl.scan 3
// CHECK: dl.all_reduce sum(data) %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
// CHECK-NOT: dl.all_reduce
func.func @steps(%xs: tensor<3x4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> attributes {dl.entry} {
  %y = dl.scan 3 carry(%a = %h : tensor<4xf32>) slices(%x = %xs : tensor<3x4xf32>) -> (tensor<4xf32>) {
    %0 = dl.mul %a, %x : tensor<4xf32>
    %1 = dl.mul %0, %0 : tensor<4xf32>
    %2 = dl.all_reduce sum(data) %0 : tensor<4xf32>
    %3 = dl.all_reduce sum(data) %1 : tensor<4xf32>
    %4 = dl.sub %2, %3 : tensor<4xf32>
    dl.yield %4 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
