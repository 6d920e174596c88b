#pragma once

namespace dlc::test {

/// The kernels of Program for CUDA devices, by hand: k0 adds, k1 scales, k2 turns bytes around through shared memory,
/// k3 fails when it runs.
inline constexpr char kProgramPtx[] = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry k0(.param .u64 w, .param .u64 x) {
  .reg .pred %p; .reg .b32 %i, %n, %t; .reg .b64 %w, %x, %o; .reg .f32 %a, %b;
  mov.u32 %i, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mov.u32 %t, %tid.x;
  mad.lo.s32 %i, %i, %n, %t;
  setp.ge.s32 %p, %i, 1000;
  @%p ret;
  ld.param.u64 %w, [w];
  ld.param.u64 %x, [x];
  cvta.to.global.u64 %w, %w;
  cvta.to.global.u64 %x, %x;
  mul.wide.s32 %o, %i, 4;
  add.s64 %w, %w, %o;
  add.s64 %x, %x, %o;
  ld.global.f32 %a, [%w];
  ld.global.f32 %b, [%x];
  add.rn.f32 %a, %a, %b;
  st.global.f32 [%w], %a;
  ret;
}

.visible .entry k1(.param .u64 x, .param .u64 c, .param .u64 y) {
  .reg .pred %p; .reg .b32 %i, %n, %t; .reg .b64 %x, %c, %y, %o; .reg .f32 %a, %b;
  mov.u32 %i, %ctaid.x;
  mov.u32 %n, %ntid.x;
  mov.u32 %t, %tid.x;
  mad.lo.s32 %i, %i, %n, %t;
  setp.ge.s32 %p, %i, 1000;
  @%p ret;
  ld.param.u64 %x, [x];
  ld.param.u64 %c, [c];
  ld.param.u64 %y, [y];
  cvta.to.global.u64 %x, %x;
  cvta.to.global.u64 %c, %c;
  cvta.to.global.u64 %y, %y;
  mul.wide.s32 %o, %i, 4;
  add.s64 %x, %x, %o;
  add.s64 %y, %y, %o;
  ld.global.f32 %a, [%x];
  ld.global.f32 %b, [%c];
  mul.rn.f32 %a, %a, %b;
  st.global.f32 [%y], %a;
  ret;
}

.visible .entry k2(.param .u64 x, .param .u64 y) {
  .shared .align 4 .b8 bytes[1237];
  .reg .pred %p; .reg .b32 %first, %i, %j, %n, %s; .reg .b64 %x, %y, %a, %o; .reg .b16 %v;
  mov.u32 %first, %tid.x;
  mov.u32 %n, %ntid.x;
  mov.u32 %s, bytes;
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
  cvta.to.global.u64 %x, %x;
  cvta.to.global.u64 %y, %y;
  mov.u32 %i, %first;
bring:
  setp.ge.s32 %p, %i, 1237;
  @%p bra brought;
  cvt.s64.s32 %o, %i;
  add.s64 %a, %x, %o;
  ld.global.u8 %v, [%a];
  add.s32 %j, %s, %i;
  st.shared.u8 [%j], %v;
  add.s32 %i, %i, %n;
  bra bring;
brought:
  bar.sync 0;
  mov.u32 %i, %first;
take:
  setp.ge.s32 %p, %i, 1237;
  @%p bra taken;
  sub.s32 %j, 1236, %i;
  add.s32 %j, %s, %j;
  ld.shared.u8 %v, [%j];
  cvt.s64.s32 %o, %i;
  add.s64 %a, %y, %o;
  st.global.u8 [%a], %v;
  add.s32 %i, %i, %n;
  bra take;
taken:
  ret;
}

.visible .entry k3(.param .u64 x) {
  trap;
}
)";

} // namespace dlc::test
