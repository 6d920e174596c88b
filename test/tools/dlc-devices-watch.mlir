// How busy devices are: the cpu, simulated ones, two GPUs of a library that only says it is NVIDIA's (test/fakegpu/Nvml.cpp).
// RUN: env DLC_SIM_DEVICES=2 DLC_SIM_MEMORY=1073741824 DLC_GPU_LIBRARY=%fakegpu DLCFAKE_DEVICES=2 dlc devices --watch --count 2 --interval 0.01 | FileCheck %s --check-prefix=TWICE
// RUN: env DLC_GPU_LIBRARY=%fakegpu DLCFAKE_FAIL=nvmlDeviceGetPowerUsage:1 DLCFAKE_UNSUPPORTED=nvmlDeviceGetUtilizationRates,nvmlDeviceGetTemperature dlc devices --watch --count 1 | FileCheck %s --check-prefix=PART
// RUN: env DLC_SIM_DEVICES=0 DLC_GPU_LIBRARY=none.so dlc devices --watch --count 1 | FileCheck %s --check-prefix=NONE
// RUN: env DLC_SIM_DEVICES=0 DLC_GPU_LIBRARY=%fakegpu %python %S/Inputs/watch.py dlc devices --watch --interval 0.05
// RUN: %S/Inputs/expect_exit.sh 2 dlc devices --count 1 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: %S/Inputs/expect_exit.sh 2 dlc devices --watch --interval 0 2>&1 | FileCheck %s --check-prefix=INTERVAL
// RUN: dlc devices --help | FileCheck %s --check-prefix=HELP

// TWICE: {{^}}time device use memory power temp name{{$}}
// TWICE-NEXT: {{^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]}} cpu {{([0-9]+ %|-)}} {{[0-9.]+}} / {{[0-9.]+}} GiB - - {{.*}} processor{{.*}}, load {{[0-9.]+$}}
// TWICE-NEXT: sim:0 - sim:1 - 0.0 / 1.0 GiB - - simulated on the cpu, {{.*}}, of this process alone
// TWICE-NEXT: gpu 0 25 % 1.0 / 80.0 GiB 100 / 700 W 40 °C dlc fake GPU, 00000000:01:00.0
// TWICE-NEXT: gpu 1 50 % 2.0 / 80.0 GiB 201 / 700 W 41 °C dlc fake GPU, 00000000:02:00.0
// TWICE-NEXT: pid {{[0-9]+}} 512 MiB dlc, on gpu 0
// TWICE-NEXT: pid 2147483647 - -, on gpu 0
// TWICE-NEXT: {{^[0-9:]+}} cpu
// TWICE: pid 2147483647 - -, on gpu 0{{$}}
// TWICE-NOT: {{.}}

// PART: gpu 0 - 1.0 / 80.0 GiB - / 700 W - dlc fake GPU, 00000000:01:00.0; nvmlDeviceGetPowerUsage: GPU is lost

// NONE: {{^}}sim none: DLC_SIM_DEVICES asks for none
// NONE-NEXT: {{^}}cuda none: DLC_GPU_LIBRARY: none.so: cannot open
// NONE-NEXT: {{^}}time
// NONE-NEXT: cpu {{.*}}
// NONE-NOT: {{.}}

// ALONE: --count requires --watch
// INTERVAL: --interval
// HELP-DAG: --watch
// HELP-DAG: --interval
// HELP-DAG: --count
