// A trace of calls: `dlc run --profile`, and DLC_PROFILE for any program of the runtime.
// RUN: dlc compile %s -o %t.so
// RUN: dlc run %t.so --steps 3 --profile %t.json 2>&1 | FileCheck %s --check-prefix=TOLD
// RUN: %python %S/Inputs/trace.py %t.json 0 step 3
// RUN: env DLC_PROFILE=%t.env.json dlc run %t.so --steps 2 2>&1 | FileCheck %s --check-prefix=ENV
// RUN: %python %S/Inputs/trace.py %t.env.json 0 step 2
// RUN: env DLC_PROFILE=%t.job.json MASTER_ADDR=127.0.0.1 MASTER_PORT=1 RANK=2 WORLD_SIZE=4 LOCAL_RANK=2 dlc run %t.so
// RUN: %python %S/Inputs/trace.py %t.job.rank2.json 2 step 1
// RUN: env DLC_PROFILE=%t.none/trace.json dlc run %t.so 2>&1 | FileCheck %s --check-prefix=GOES-ON
// RUN: env DLC_PROFILE=/dev/full dlc run %t.so 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: not dlc run %t.so --profile %t.none/trace.json 2>&1 | FileCheck %s --check-prefix=REFUSED

// TOLD: dlc: profile: 3 calls, compute {{.*}} s, communication 0 s, of it exposed 0 s; {{.*}}.json
// ENV-DAG: weight = 0.25
// ENV-DAG: dlc: profile: 2 calls, {{.*}}; {{.*}}.env.json
// GOES-ON-DAG: dlc: DLC_PROFILE: {{.*}}.none/trace.json: cannot write the trace: No such file or directory; this run is not profiled
// GOES-ON-DAG: weight = 0.5
// FULL: dlc: profile: 1 calls, {{.*}}; /dev/full: cannot write the trace: No space left on device
// REFUSED: dlc: --profile: {{.*}}.none/trace.json: cannot write the trace: No such file or directory

dl.variable @weight : tensor<f32> role(parameter) init(#dl.constant<1.0>)

func.func @step() -> (tensor<f32> {dl.name = "weight"}) attributes {dl.entry} {
  %w = dl.read @weight : tensor<f32>
  %half = dl.constant dense<0.5> : tensor<f32>
  %new = dl.mul %w, %half : tensor<f32>
  dl.write @weight, %new : tensor<f32>
  return %new : tensor<f32>
}
