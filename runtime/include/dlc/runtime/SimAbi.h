/* The contract between kernels compiled for the simulated device and its engine: plain C, append-only.
 * One call of a DlcSimKernel (Abi.h) is one thread of a grid. The thread asks `self` who it is and hands that record to
 * every service. A service that fails never returns: the engine drops the thread and ends the launch. */
#ifndef DLC_RUNTIME_SIMABI_H
#define DLC_RUNTIME_SIMABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* major << 16 | minor, as DLC_ABI_VERSION. */
#define DLC_SIM_ABI_VERSION ((1u << 16) | 0u)

/* The special registers of a thread; x, y, z. */
typedef struct DlcSimThread {
  uint32_t thread[3], blockSize[3], block[3], gridSize[3];
  uint32_t lane;
} DlcSimThread;

enum DlcSimAccess { DLC_SIM_LOAD, DLC_SIM_STORE, DLC_SIM_ATOMIC };
enum DlcSimSpace { DLC_SIM_GLOBAL, DLC_SIM_SHARED, DLC_SIM_CONSTANT };

/* A place of the kernel's code, for messages and checks. */
typedef struct DlcSimSite {
  const char *file; /* null: unknown */
  uint32_t line, column;
  uint32_t access, space; /* DlcSimAccess, DlcSimSpace */
  int32_t operand;        /* global: the kernel operand the pointer derives from, or -1 */
  uint32_t alignment;     /* the address must be a multiple of; a power of two */
  const char *variable;   /* shared: the variable the pointer derives from, or null */
  uint64_t offset, bytes; /* shared: where that variable lies in the block's memory */
} DlcSimSite;

enum DlcSimShuffle { DLC_SIM_SHUFFLE_XOR, DLC_SIM_SHUFFLE_UP, DLC_SIM_SHUFFLE_DOWN, DLC_SIM_SHUFFLE_INDEX };
enum DlcSimVote { DLC_SIM_VOTE_ALL, DLC_SIM_VOTE_ANY, DLC_SIM_VOTE_EQUAL, DLC_SIM_VOTE_BALLOT };
enum DlcSimProduct { DLC_SIM_M16N8K16_F16, DLC_SIM_M16N8K16_BF16, DLC_SIM_M16N8K8_TF32 };

typedef struct DlcSimApi {
  uint32_t version, size; /* size = sizeof(DlcSimApi) */
  /* The calling thread. */
  DlcSimThread *(*self)(void);
  /* The block's shared memory, 128-byte aligned; every call of a block asks for the same number of bytes. The first
   * one fills it with 0xFF. */
  void *(*shared)(DlcSimThread *, uint64_t bytes);
  /* bar.sync 0: returns when every thread of the block has come. */
  void (*barrier)(DlcSimThread *, const DlcSimSite *);
  /* bar.warp.sync. */
  void (*warpBarrier)(DlcSimThread *, uint32_t mask);
  /* shfl.sync of 32 bits: the value in the low half, whether the source lane is in range in bit 32. `clamp` is the
   * instruction's operand c. */
  uint64_t (*shuffle)(DlcSimThread *, uint32_t mode, uint32_t mask, uint32_t value, uint32_t source, uint32_t clamp);
  /* vote.sync: 0 or 1, the ballot as bits. */
  uint32_t (*vote)(DlcSimThread *, uint32_t mode, uint32_t mask, uint32_t predicate);
  /* match.any.sync: the lanes of the mask that bring the same value. */
  uint32_t (*match)(DlcSimThread *, uint32_t mask, uint32_t value);
  /* cp.async: the first `sourceBytes` of `bytes` from global memory, the others zero. `site`: where to, when accesses
   * are checked, else null. */
  void (*copyAsync)(DlcSimThread *, const DlcSimSite *site, void *to, const void *from, uint32_t bytes,
                    uint32_t sourceBytes);
  void (*commitCopies)(DlcSimThread *);
  /* cp.async.wait_group: all but the `pending` youngest groups are done; ~0u: everything, committed or not. */
  void (*waitCopies)(DlcSimThread *, uint32_t pending);
  /* ldmatrix: `count` (1, 2, 4) matrices of 8 x 8 of 16 bits; lane 8 i + r brings the address of row r of matrix i.
   * `site` as in copyAsync. */
  void (*loadMatrix)(DlcSimThread *, const DlcSimSite *site, uint32_t *out, const void *row, uint32_t count,
                     uint32_t transposed);
  /* mma.sync: `in` is the lane's fragments of A (4 words), B (2) and C (4 x f32), `out` of D (4 x f32). */
  void (*multiply)(DlcSimThread *, uint32_t product, float *out, const uint32_t *in);
  /* Called before an access where accesses are checked: bounds, races, memory nobody wrote. */
  void (*access)(DlcSimThread *, const DlcSimSite *, const void *pointer, uint64_t bytes);
} DlcSimApi;

#ifdef __cplusplus
}
#endif
#endif
