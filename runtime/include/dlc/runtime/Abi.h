/* The contract between compiled code and the runtime: plain C, fixed layout, append-only. */
#ifndef DLC_RUNTIME_ABI_H
#define DLC_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* major << 16 | minor. Major: layout. Minor: entries appended to a table or struct. */
#define DLC_ABI_VERSION ((1u << 16) | 3u)

typedef struct DlcBuffer {
  void *data;
  int64_t bytes;
} DlcBuffer;

struct DlcExecutor; /* opaque; used by one thread at a time */

/* A piece of a parallel loop: iterations [lo, hi). `pointers` are the kernel's buffers. */
typedef void (*DlcRange)(void *const *pointers, const int64_t *dims, int64_t lo, int64_t hi);

typedef struct DlcApi {
  uint32_t version, size; /* size = sizeof(DlcApi) */
  /* Runs fn over [0, extent) split at multiples of `grain`, returns when all is done. Results never depend on the
   * split. */
  void (*parallelFor)(struct DlcExecutor *, int64_t extent, int64_t grain, DlcRange fn, void *const *pointers,
                      const int64_t *dims);
  /* Records an error at a site of the manifest; returns code, which the entry returns in turn. */
  int32_t (*fail)(struct DlcExecutor *, int32_t code, uint32_t site, int64_t detail);
  /* Starts a kernel, by index of the manifest's "kernels", on the executor's stream. `pointers` are its operands in
   * device memory, read before this returns. 0 or a DlcCode. */
  int32_t (*launch)(struct DlcExecutor *, uint32_t kernel, void *const *pointers);
  /* Copies between two buffers of the device, in the order of the stream. 0 or a DlcCode. */
  int32_t (*copy)(struct DlcExecutor *, void *to, const void *from, int64_t bytes);
  /* Since ABI 1.2. Starts a collective, by index of the manifest's "collectives"; from == to for an all-reduce. Memory
   * of the device, which stays untouched until the wait. 0 or a DlcCode. */
  int32_t (*collectiveStart)(struct DlcExecutor *, uint32_t collective, const void *from, void *to);
  /* Returns when the collective started last under that index is done. 0 or a DlcCode. */
  int32_t (*collectiveWait)(struct DlcExecutor *, uint32_t collective);
  /* Since ABI 1.3. Copies device memory to the host, where all that was started before has run. 0 or a DlcCode. */
  int32_t (*fetch)(struct DlcExecutor *, void *to, const void *from, int64_t bytes);
} DlcApi;

/* One call of an entry. */
typedef struct DlcFrame {
  uint32_t size, device, flags, reserved; /* size = sizeof(DlcFrame) */
  const DlcApi *api;
  struct DlcExecutor *executor;
  char *const *arenas;        /* by index of the manifest's "arenas", 64-byte aligned */
  const DlcBuffer *arguments; /* by position, checked against the manifest by the caller */
  DlcBuffer *results;         /* by position, memory of the right size given by the caller */
  const int64_t *dims;
} DlcFrame;

enum DlcCode { DLC_OK, DLC_INVALID_ARGUMENT, DLC_OUT_OF_MEMORY, DLC_INTERNAL, DLC_PEER_FAILED };

/* 0 or a DlcCode; the text is in the executor. A service that returns another code than 0 ends the entry at once. */
typedef int32_t (*DlcEntry)(const DlcFrame *);

/* Kernels for one kind of device. */
typedef struct DlcDeviceCode {
  const char *target; /* "sm_90" */
  const char *format; /* "ptx", "cubin" */
  const void *data;
  uint64_t bytes;
} DlcDeviceCode;

struct DlcSimApi; /* SimAbi.h */

/* One thread of a kernel's grid on the simulated device; `pointers` are the kernel's operands. */
typedef void (*DlcSimKernel)(void *const *pointers);

/* What a compiled module exports, in an artifact through the one symbol `dlc_image_v1`. */
typedef struct DlcImage {
  uint32_t abi, entryCount;
  const char *manifest; /* JSON, UTF-8 */
  uint64_t manifestBytes;
  const DlcEntry *entries; /* by index of the manifest's "entries"; null: not compiled for the cpu */
  const void *initial;     /* given initial values of variables; offsets are in the manifest */
  uint64_t initialBytes;
  /* Since ABI 1.1: the same entries for devices with kernels of their own; null: not compiled for any. */
  const DlcEntry *deviceEntries;
  const DlcDeviceCode *deviceCode;
  uint64_t deviceCodeCount;
  const DlcSimKernel *simKernels;  /* by index of the manifest's "kernels"; null: not compiled for sim */
  const struct DlcSimApi **simApi; /* where those kernels find their services: set before the first launch */
  uint64_t simKernelCount;
} DlcImage;

typedef const DlcImage *(*DlcImageFunction)(void);

#ifdef __cplusplus
}
#endif
#endif
