/* gemm_case.h: one product, with its memory: for tests of kern_gemm. Every stored matrix has three
 * unused columns and a row behind it, filled with guard values that nobody may touch. */
#ifndef GEMM_CASE_H
#define GEMM_CASE_H

#include "kern/kern_gemm.h"

/* fp32, bf16, fp16 */
enum { GEMM_N_TYPES = 3 };
extern const enum dtype gemm_types[GEMM_N_TYPES];

struct gemm_case {
    struct gemm_desc desc;
    bool add;
    /* stored values, FP32 images of what is in memory, without guards */
    float *a, *b, *c, *bias; /* op(A) (m,k), op(B) (k,n), C before (m,n), (n) */
    void *a_store, *b_store; /* as desc says */
    int64_t lda, ldb, ldc;
};

/* What values to draw. */
enum gemm_fill {
    FILL_INTEGERS, /* -3 .. 3: exact on every row */
    FILL_NORMAL,   /* standard normal numbers, rounded to the stored types */
};

/* Makes A, B, C before and the bias; release with gemm_case_release. */
void gemm_case_init(struct gemm_case *x, const struct gemm_desc *desc, bool add,
                    enum gemm_fill fill);
void gemm_case_release(struct gemm_case *x);
/* Writes the FP32 images to the stores again, rounding them (and the images) to the stored types:
 * for tests that change values. */
void gemm_case_sync(struct gemm_case *x);

/* Runs the row and returns C with its guards, to be freed: gemm_case_c_bytes. Checks the guards.
 * Where desc.b_is_weight, B is packed ahead. Without add, C is NaN before. NULL: the row refuses,
 * printed once per reason. */
void *gemm_case_run(const struct gemm_case *x, const char *row);
size_t gemm_case_c_bytes(const struct gemm_case *x);
/* Element (i, j) of such a C. */
float gemm_case_at(const struct gemm_case *x, const void *c, int64_t i, int64_t j);

/* The exact product of the rounded operands plus what is added, before the activation; and the sum
 * of the sizes of all that went into it, for error bounds. */
double gemm_case_exact(const struct gemm_case *x, int64_t i, int64_t j, double *size);

/* A desc whose other choices are made by the bits of a number: 32 * 27 different ones. */
struct gemm_desc gemm_some_desc(int64_t m, int64_t n, int64_t k, enum dtype compute, unsigned bits);
/* Small integers: all rows give ref's bits. */
void gemm_check_bits(const struct gemm_desc *desc, bool add);

/* cpu_init(isa), which must succeed. */
void gemm_case_cap(const char *isa);
/* Fixture: the best level, one thread. */
void gemm_case_setup(void);

float gemm_round(float x, enum dtype t);
/* "m 3 n 5 k 7 tn a bf16 b fp16 c fp32 compute bf16 add packed bias relu" */
const char *gemm_case_name(const struct gemm_case *x);

#endif
