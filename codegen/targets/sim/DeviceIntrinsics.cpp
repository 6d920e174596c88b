// %v = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()      →  %v = load i32, ptr %self           DlcSimThread::thread[0]
// call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)  →  call void %barrier(ptr %self, ptr @site)
#include "targets/sim/DeviceIntrinsics.h"

#include "targets/sim/Checks.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace dlc;
using namespace dlc::codegen;
using llvm::Intrinsic::ID;

namespace {

/// Replaces one call. Each family answers false for what is not its own.
class Replacement {
public:
  Replacement(llvm::IntrinsicInst &call, ServiceCalls &services, bool checked)
      : call(call), services(services), checked(checked), builder(&call), id(call.getIntrinsicID()) {}

  bool run() {
    return replaceRegister() || replaceMath() || replaceBarrier() || replaceShuffle() || replaceVote() ||
           replaceCopy() || replaceMatrixLoad() || replaceProduct();
  }

private:
  bool replaceRegister();
  bool replaceMath();
  bool replaceBarrier();
  bool replaceShuffle();
  bool replaceVote();
  bool replaceCopy();
  bool replaceMatrixLoad();
  bool replaceProduct();

  bool become(llvm::Value *value) {
    if (!call.getType()->isVoidTy())
      call.replaceAllUsesWith(value);
    call.eraseFromParent();
    return true;
  }
  /// A 32-bit value of any type as i32.
  llvm::Value *word(llvm::Value *value) {
    if (value->getType()->isIntegerTy())
      return builder.CreateZExt(value, builder.getInt32Ty());
    return builder.CreateBitCast(value, builder.getInt32Ty());
  }
  // An instruction even of a global, which a folded constant would keep when the global's uses are replaced.
  llvm::Value *generic(llvm::Value *pointer) {
    return builder.Insert(new llvm::AddrSpaceCastInst(pointer, builder.getPtrTy()));
  }
  llvm::Value *number(uint32_t value) { return builder.getInt32(value); }
  llvm::Value *argument(unsigned i) { return call.getArgOperand(i); }
  llvm::Constant *checkedSite(DlcSimAccess access, llvm::Value *pointer, uint32_t alignment) {
    return checked ? services.site(call, access, pointer, llvm::Align(alignment))
                   : llvm::ConstantPointerNull::get(builder.getPtrTy());
  }
  void storeWords(llvm::Value *memory, llvm::ArrayRef<llvm::Value *> values) {
    for (auto [i, value] : llvm::enumerate(values))
      builder.CreateStore(word(value), builder.CreateConstInBoundsGEP1_64(builder.getInt32Ty(), memory, i));
  }

  llvm::IntrinsicInst &call;
  ServiceCalls &services;
  bool checked;
  llvm::IRBuilder<> builder;
  ID id;
};

bool Replacement::replaceRegister() {
  constexpr size_t thread = offsetof(DlcSimThread, thread), blockSize = offsetof(DlcSimThread, blockSize);
  constexpr size_t block = offsetof(DlcSimThread, block), gridSize = offsetof(DlcSimThread, gridSize);
  static constexpr std::pair<ID, size_t> registers[] = {
      {llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, thread},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y, thread + 4},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z, thread + 8},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x, blockSize},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y, blockSize + 4},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_z, blockSize + 8},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, block},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y, block + 4},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z, block + 8},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, gridSize},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y, gridSize + 4},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_z, gridSize + 8},
      {llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, offsetof(DlcSimThread, lane)}};
  if (id == llvm::Intrinsic::nvvm_read_ptx_sreg_warpsize)
    return become(number(32));
  for (auto [name, offset] : registers)
    if (id == name)
      return become(services.threadWord(offset));
  return false;
}

// Arithmetic that LLVM has under a name of its own, rounded the same.
bool Replacement::replaceMath() {
  static constexpr std::pair<ID, ID> unary[] = {{llvm::Intrinsic::nvvm_fabs, llvm::Intrinsic::fabs},
                                                {llvm::Intrinsic::nvvm_sqrt_rn_f, llvm::Intrinsic::sqrt},
                                                {llvm::Intrinsic::nvvm_sqrt_rn_d, llvm::Intrinsic::sqrt}};
  static constexpr std::pair<ID, ID> binary[] = {{llvm::Intrinsic::nvvm_fmin_f, llvm::Intrinsic::minnum},
                                                 {llvm::Intrinsic::nvvm_fmin_d, llvm::Intrinsic::minnum},
                                                 {llvm::Intrinsic::nvvm_fmax_f, llvm::Intrinsic::maxnum},
                                                 {llvm::Intrinsic::nvvm_fmax_d, llvm::Intrinsic::maxnum},
                                                 {llvm::Intrinsic::nvvm_fmin_nan_f, llvm::Intrinsic::minimum},
                                                 {llvm::Intrinsic::nvvm_fmax_nan_f, llvm::Intrinsic::maximum}};
  for (auto [name, host] : unary)
    if (id == name)
      return become(builder.CreateUnaryIntrinsic(host, argument(0)));
  for (auto [name, host] : binary)
    if (id == name)
      return become(builder.CreateBinaryIntrinsic(host, argument(0), argument(1)));
  switch (id) {
  case llvm::Intrinsic::nvvm_fma_rn_f:
  case llvm::Intrinsic::nvvm_fma_rn_d:
    return become(
        builder.CreateIntrinsic(llvm::Intrinsic::fma, {call.getType()}, {argument(0), argument(1), argument(2)}));
  case llvm::Intrinsic::nvvm_rcp_rn_f:
  case llvm::Intrinsic::nvvm_rcp_rn_d:
    return become(builder.CreateFDiv(llvm::ConstantFP::get(call.getType(), 1), argument(0)));
  default:
    return false;
  }
}

bool Replacement::replaceBarrier() {
  switch (id) {
  case llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all:
  case llvm::Intrinsic::nvvm_barrier_cta_sync_all: {
    auto *barrier = llvm::dyn_cast<llvm::ConstantInt>(argument(0));
    if (!barrier || !barrier->isZero())
      return false; // one barrier a block
    return become(services.call(builder, offsetof(DlcSimApi, barrier), builder.getVoidTy(),
                                {services.site(call, DLC_SIM_LOAD, nullptr)}));
  }
  case llvm::Intrinsic::nvvm_bar_warp_sync:
    return become(services.call(builder, offsetof(DlcSimApi, warpBarrier), builder.getVoidTy(), {argument(0)}));
  case llvm::Intrinsic::nvvm_membar_cta:
  case llvm::Intrinsic::nvvm_membar_gl:
  case llvm::Intrinsic::nvvm_membar_sys:
    return become(builder.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent));
  default:
    return false;
  }
}

bool Replacement::replaceShuffle() {
  static constexpr std::pair<ID, DlcSimShuffle> modes[] = {
      {llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, DLC_SIM_SHUFFLE_XOR},
      {llvm::Intrinsic::nvvm_shfl_sync_bfly_f32, DLC_SIM_SHUFFLE_XOR},
      {llvm::Intrinsic::nvvm_shfl_sync_bfly_i32p, DLC_SIM_SHUFFLE_XOR},
      {llvm::Intrinsic::nvvm_shfl_sync_bfly_f32p, DLC_SIM_SHUFFLE_XOR},
      {llvm::Intrinsic::nvvm_shfl_sync_up_i32, DLC_SIM_SHUFFLE_UP},
      {llvm::Intrinsic::nvvm_shfl_sync_up_f32, DLC_SIM_SHUFFLE_UP},
      {llvm::Intrinsic::nvvm_shfl_sync_up_i32p, DLC_SIM_SHUFFLE_UP},
      {llvm::Intrinsic::nvvm_shfl_sync_up_f32p, DLC_SIM_SHUFFLE_UP},
      {llvm::Intrinsic::nvvm_shfl_sync_down_i32, DLC_SIM_SHUFFLE_DOWN},
      {llvm::Intrinsic::nvvm_shfl_sync_down_f32, DLC_SIM_SHUFFLE_DOWN},
      {llvm::Intrinsic::nvvm_shfl_sync_down_i32p, DLC_SIM_SHUFFLE_DOWN},
      {llvm::Intrinsic::nvvm_shfl_sync_down_f32p, DLC_SIM_SHUFFLE_DOWN},
      {llvm::Intrinsic::nvvm_shfl_sync_idx_i32, DLC_SIM_SHUFFLE_INDEX},
      {llvm::Intrinsic::nvvm_shfl_sync_idx_f32, DLC_SIM_SHUFFLE_INDEX},
      {llvm::Intrinsic::nvvm_shfl_sync_idx_i32p, DLC_SIM_SHUFFLE_INDEX},
      {llvm::Intrinsic::nvvm_shfl_sync_idx_f32p, DLC_SIM_SHUFFLE_INDEX}};
  auto *mode = llvm::find_if(modes, [&](auto entry) { return entry.first == id; });
  if (mode == std::end(modes))
    return false;
  llvm::Value *both = services.call(builder, offsetof(DlcSimApi, shuffle), builder.getInt64Ty(),
                                    {number(mode->second), argument(0), word(argument(1)), argument(2), argument(3)});
  llvm::Value *bits = builder.CreateTrunc(both, builder.getInt32Ty());
  auto *pair = llvm::dyn_cast<llvm::StructType>(call.getType());
  if (!pair)
    return become(builder.CreateBitCast(bits, call.getType()));
  llvm::Value *inRange = builder.CreateICmpNE(builder.CreateLShr(both, 32), builder.getInt64(0));
  llvm::Value *value = builder.CreateBitCast(bits, pair->getElementType(0));
  llvm::Value *result = builder.CreateInsertValue(llvm::PoisonValue::get(pair), value, 0);
  return become(builder.CreateInsertValue(result, inRange, 1));
}

bool Replacement::replaceVote() {
  static constexpr std::pair<ID, DlcSimVote> modes[] = {{llvm::Intrinsic::nvvm_vote_all_sync, DLC_SIM_VOTE_ALL},
                                                        {llvm::Intrinsic::nvvm_vote_any_sync, DLC_SIM_VOTE_ANY},
                                                        {llvm::Intrinsic::nvvm_vote_uni_sync, DLC_SIM_VOTE_EQUAL},
                                                        {llvm::Intrinsic::nvvm_vote_ballot_sync, DLC_SIM_VOTE_BALLOT}};
  if (id == llvm::Intrinsic::nvvm_match_any_sync_i32)
    return become(services.call(builder, offsetof(DlcSimApi, match), builder.getInt32Ty(), {argument(0), argument(1)}));
  for (auto [name, mode] : modes)
    if (id == name) {
      llvm::Value *result = services.call(builder, offsetof(DlcSimApi, vote), builder.getInt32Ty(),
                                          {number(mode), argument(0), word(argument(1))});
      return become(builder.CreateTrunc(result, call.getType()));
    }
  return false;
}

bool Replacement::replaceCopy() {
  static constexpr std::pair<ID, uint32_t> sizes[] = {{llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4, 4},
                                                      {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4_s, 4},
                                                      {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8, 8},
                                                      {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8_s, 8},
                                                      {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_16, 16},
                                                      {llvm::Intrinsic::nvvm_cp_async_ca_shared_global_16_s, 16},
                                                      {llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16, 16},
                                                      {llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s, 16}};
  llvm::Type *none = builder.getVoidTy();
  switch (id) {
  case llvm::Intrinsic::nvvm_cp_async_commit_group:
    return become(services.call(builder, offsetof(DlcSimApi, commitCopies), none, {}));
  case llvm::Intrinsic::nvvm_cp_async_wait_group:
    return become(services.call(builder, offsetof(DlcSimApi, waitCopies), none, {argument(0)}));
  case llvm::Intrinsic::nvvm_cp_async_wait_all:
    return become(services.call(builder, offsetof(DlcSimApi, waitCopies), none, {number(~0u)}));
  default:
    break;
  }
  for (auto [name, bytes] : sizes) {
    if (id != name)
      continue;
    llvm::Value *to = argument(0), *from = argument(1);
    llvm::Value *sourceBytes = call.arg_size() > 2 ? argument(2) : number(bytes);
    if (checked)
      insertAccessCheck(call, services, DLC_SIM_LOAD, from, sourceBytes, llvm::Align(bytes));
    return become(
        services.call(builder, offsetof(DlcSimApi, copyAsync), none,
                      {checkedSite(DLC_SIM_STORE, to, bytes), generic(to), generic(from), number(bytes), sourceBytes}));
  }
  return false;
}

bool Replacement::replaceMatrixLoad() {
  struct Shape {
    ID id;
    uint32_t count;
    bool transposed;
  };
  static constexpr Shape shapes[] = {{llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_b16, 1, false},
                                     {llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16, 1, true},
                                     {llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16, 2, false},
                                     {llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16, 2, true},
                                     {llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16, 4, false},
                                     {llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16, 4, true}};
  auto *shape = llvm::find_if(shapes, [&](const Shape &entry) { return entry.id == id; });
  if (shape == std::end(shapes))
    return false;
  llvm::Value *out = services.words(shape->count), *row = argument(0);
  services.call(
      builder, offsetof(DlcSimApi, loadMatrix), builder.getVoidTy(),
      {checkedSite(DLC_SIM_LOAD, row, 16), out, generic(row), number(shape->count), number(shape->transposed)});
  return become(builder.CreateLoad(call.getType(), out));
}

bool Replacement::replaceProduct() {
  static constexpr std::pair<ID, DlcSimProduct> products[] = {
      {llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32, DLC_SIM_M16N8K16_F16},
      {llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16, DLC_SIM_M16N8K16_BF16},
      {llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32, DLC_SIM_M16N8K8_TF32}};
  for (auto [name, product] : products) {
    if (id != name)
      continue;
    llvm::Value *in = services.words(call.arg_size()), *out = services.words(4);
    storeWords(in, llvm::SmallVector<llvm::Value *>(call.args()));
    services.call(builder, offsetof(DlcSimApi, multiply), builder.getVoidTy(), {number(product), out, in});
    return become(builder.CreateLoad(call.getType(), out));
  }
  return false;
}

} // namespace

Status dlc::codegen::replaceDeviceIntrinsics(llvm::Function &function, ServiceCalls &services, bool checked) {
  llvm::SmallVector<llvm::CallInst *> calls;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      calls.push_back(call);
  auto unknown = [&](const llvm::Twine &what) {
    return Status(
        StatusCode::Internal,
        ("expects device code that simulated devices can run, got " + what + " in '" + function.getName() + "'").str());
  };
  for (llvm::CallInst *call : calls) {
    if (auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
      return unknown("inline assembly '" + assembly->getAsmString() + "'");
    auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(call);
    if (!intrinsic || !intrinsic->getCalledFunction()->getName().starts_with("llvm.nvvm."))
      continue;
    if (!Replacement(*intrinsic, services, checked).run())
      return unknown(intrinsic->getCalledFunction()->getName());
  }
  return Status();
}
