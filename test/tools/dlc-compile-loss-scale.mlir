// RUN: dlc compile %s --train=sgd --loss-scale=dynamic --clip-norm=1 --emit=dl | FileCheck %s --check-prefix=DL
// RUN: dlc compile %s --train=sgd --loss-scale=1024 --emit=dl | FileCheck %s --check-prefix=STATIC
// DL: dl.variable @scaler.scale : tensor<f32> role(hyper) init(#dl.constant<6.553600e+04
// DL: dl.clip_factor
// DL: dl.update_scale
// STATIC: dl.variable @scaler.scale : tensor<f32> role(hyper) init(#dl.constant<1.024000e+03
// STATIC: dl.unscale
// STATIC-NOT: dl.update_scale

// Gradient 3e38 times 65536 is infinite in f32, and 3e38 times 2: the scale halves 16 times, and the state says so.
// RUN: dlc compile %s --train=sgd --loss-scale=dynamic -o %t.so
// RUN: dlc run %t.so --steps 16 --save-state %t.skipped.safetensors
// RUN: %python %S/Inputs/state.py %t.skipped.safetensors w scaler.scale scaler.growth_tracker opt.step | FileCheck %s --check-prefix=SKIPPED
// SKIPPED: w 0.5
// SKIPPED: scaler.scale 1
// SKIPPED: scaler.growth_tracker 0
// SKIPPED: opt.step 0
// And on from there: 0.5 - 1e-37 * 3e38.
// RUN: dlc run %t.so --state %t.skipped.safetensors --set lr=1e-37 --save-state %t.on.safetensors
// RUN: %python %S/Inputs/state.py %t.on.safetensors w scaler.scale scaler.growth_tracker opt.step | FileCheck %s --check-prefix=ON
// ON: w -29.5
// ON: scaler.scale 1
// ON: scaler.growth_tracker 1
// ON: opt.step 1

// RUN: %S/Inputs/expect_exit.sh 2 dlc compile %s --loss-scale=dynamic -o %t.so 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: %S/Inputs/expect_exit.sh 2 dlc compile %s --clip-norm=1 -o %t.so 2>&1 | FileCheck %s --check-prefix=CLIP-ALONE
// RUN: %S/Inputs/expect_exit.sh 2 dlc compile %s --train=sgd --loss-scale=0 -o %t.so 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: %S/Inputs/expect_exit.sh 2 dlc compile %s --train=sgd --loss-scale=-8 -o %t.so 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: %S/Inputs/expect_exit.sh 2 dlc compile %s --train=sgd --loss-scale=big -o %t.so 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: %S/Inputs/expect_exit.sh 2 dlc compile %s --train=sgd --loss-scale=1e39 -o %t.so 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: %S/Inputs/expect_exit.sh 2 dlc compile %s --train=sgd --clip-norm=nan -o %t.so 2>&1 | FileCheck %s --check-prefix=NAN
// ALONE: --loss-scale: expects a training step; add --train=sgd or --train=adamw
// CLIP-ALONE: --clip-norm: expects a training step; add --train=sgd or --train=adamw
// ZERO: --loss-scale: expects dynamic or a number above 0 that f32 holds, got '0'
// NEGATIVE: --loss-scale: expects dynamic or a number above 0 that f32 holds, got '-8'
// WORD: --loss-scale: expects dynamic or a number above 0 that f32 holds, got 'big'
// LARGE: --loss-scale: expects dynamic or a number above 0 that f32 holds, got '1e39'
// NAN: --clip-norm: expects a number above 0 that f32 holds, got 'nan'

dl.variable @w : tensor<f32> role(parameter) init(#dl.constant<0.5>)

func.func @loss() -> tensor<f32> attributes {dl.entry} {
  %w = dl.read @w : tensor<f32>
  %c = dl.constant dense<3.0e38> : tensor<f32>
  %l = dl.mul %w, %c : tensor<f32>
  return %l : tensor<f32>
}
