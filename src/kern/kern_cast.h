/* kern_cast.h: conversions between FP32 and the half types, in bulk: round to nearest even, NaN
 * stays NaN with its sign, overflow becomes inf, subnormals are kept. One table of rows (scalar,
 * avx2, avx512), all with the same bits; picked once from base/cpu.
 *
 * Everything but kern_gemm computes in FP32 over tiles of KERN_TILE elements that fit in L1, read
 * and written through kern_load and kern_store: so no op knows a half type. */
#ifndef KERN_CAST_H
#define KERN_CAST_H

#include "graph/dtype.h"

#include <stdint.h>

enum { KERN_TILE = 1024 };

/* Where the elements of a tensor are, and how they are stored. */
struct view {
    void *data;
    enum dtype dtype; /* fp32, bf16 or fp16 */
};

/* n elements from src to dst, both fp32/bf16/fp16, not overlapping; the calling thread only.
 * half to another half goes through FP32. Equal types copy. */
void kern_cast(enum dtype to, void *dst, enum dtype from, const void *src, int64_t n);
/* The same for large n, on all threads. */
void kern_cast_all(enum dtype to, void *dst, enum dtype from, const void *src, int64_t n);

/* Elements at .. at+n-1 of v as FP32: v's own memory where it is FP32, else converted into tile. */
const float *kern_load(struct view v, int64_t at, int64_t n, float *tile);
/* Writes n FP32 values to elements at .. of v, narrowing once. x may be v's own memory. */
void kern_store(struct view v, int64_t at, int64_t n, const float *x);
/* The same, added to what is there (gradients of a tensor with several readers). */
void kern_store_add(struct view v, int64_t at, int64_t n, const float *x);

/* How many of n elements are not finite, by their exponent bits (-ffast-math cannot remove it). */
int64_t kern_count_nonfinite(struct view v, int64_t n);

/* The rows that this machine can run, for tests and the log header; NULL behind the last. */
const char *kern_cast_row_name(int i);
/* Forces a row by name until called with NULL; false when it cannot run here. For tests. */
int kern_cast_force(const char *name);
const char *kern_cast_name(void);

#endif
