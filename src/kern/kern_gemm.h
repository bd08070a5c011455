/* kern_gemm.h: C = act(A·B [+ C] [+ bias]), FP32 accumulation always; the table of rows that do it.
 *
 *     A (M,K), B (K,N) in fp32, bf16 or fp16, either of them stored transposed
 *     C (M,N)          in fp32, bf16 or fp16
 *     bias (N)         fp32
 *
 * A row is picked once, when the plan is made (kern_gemm_plan); a step only runs it. Packing B is a
 * separate, explicit step, so that a weight is packed once per applied update and used many times.
 * The packed panel is what the design calls the shadow of a weight.
 *
 * Rows, best first, stand in kern_gemm.c; each says why it refuses. Every row gives the same bits
 * for every thread count; small-integer inputs give the same bits on every row. */
#ifndef KERN_GEMM_H
#define KERN_GEMM_H

#include "graph/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gemm_act {
    GEMM_ACT_NONE,
    GEMM_ACT_RELU,
    GEMM_ACT_GELU, /* exact form: x/2 (1 + erf(x/sqrt 2)) */
    GEMM_ACT_GELU_TANH,
    GEMM_ACT_SILU,
    GEMM_ACT_TANH,
    GEMM_ACT_SIGMOID,
};

/* A of a convolution: row (b,oy,ox) is the patch that this output pixel sees, column (ky,kx,c) one
 * of its values: x[b][Y/spread_h][X/spread_w][c] with Y = oy stride_h - pad_h + ky dilation_h, X
 * alike; zero outside the image and where spread does not divide. Never stored: gathered while A is
 * packed. */
struct gemm_patches {
    int64_t h, w;         /* of the image (B,h,w,pixel) */
    int64_t c, pixel;     /* channels of a patch; elements between pixels, >= c */
    int64_t out_h, out_w;
    int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
    int64_t spread_h, spread_w; /* 1; of an input gradient: the stride of the convolution */
};

/* What is known when the plan is made. */
struct gemm_desc {
    int64_t m, n, k;       /* the largest that a run will use; a run may use fewer */
    bool a_trans, b_trans; /* A is stored (K,M); B is stored (N,K) */
    enum dtype a, b, c;    /* how they are stored */
    enum dtype compute;    /* A and B are rounded to this type (nearest even) before they are
                              multiplied; products and sums are FP32 */
    struct gemm_patches patches; /* of A, where kernel_h > 0; with a_trans A is their transpose */
    int64_t b_taps; /* above 0: B is stored (b_taps,N,K/b_taps), the last tap first: a kernel turned
                       over, for the gradient of the input; b_trans is false */
    bool b_is_weight;      /* B will be packed ahead with kern_gemm_pack */
    bool bias;
    enum gemm_act act;
};

enum { GEMM_MAX_ROWS = 16 };

struct gemm_row;

struct gemm_refusal {
    const char *row, *reason; /* fixed texts */
};

/* The choice for one desc. Plain data; no release. */
struct gemm_plan {
    struct gemm_desc desc;
    const struct gemm_row *row;
    size_t packed_bytes;  /* of B packed ahead; 0: the row reads B in place, nothing to pack */
    size_t scratch_bytes; /* that kern_gemm_run wants, for all threads together */
    int threads;          /* par_threads() when the plan was made; a run may use fewer */
    int n_refused;
    struct gemm_refusal refused[GEMM_MAX_ROWS]; /* the rows above the chosen one, and why */
};

/* One product. Dimensions are those of this run (m <= desc.m ...). Leading dimensions count
 * elements of the stored matrix. */
struct gemm_args {
    int64_t m, n, k;
    const void *a;
    int64_t lda; /* not of an image */
    const void
        *b;      /* stored as desc.b, or the packed panel where desc.b_is_weight and packed_bytes */
    int64_t ldb; /* ignored for a packed panel */
    void *c;
    int64_t ldc;
    bool add;          /* add to what C holds; otherwise C is never read */
    const float *bias; /* (N), where desc.bias */
    void *pre;         /* (M,N) like C, ldc: gets what act is applied to; NULL: not wanted. Not with
                          relu, whose slope is told by C */
    void *scratch;     /* scratch_bytes, 64-byte aligned */
};

/* Picks the best row that accepts. Cannot fail: the last row, `ref`, accepts everything. */
void kern_gemm_plan(struct gemm_plan *out, const struct gemm_desc *desc);
/* The same with one row only; false and a reason when it refuses or there is no such row. */
bool kern_gemm_plan_row(struct gemm_plan *out, const struct gemm_desc *desc, const char *row,
                        const char **reason);

/* Packs B (stored as desc.b, leading dimension ldb) into packed_bytes at `packed`. All threads. */
void kern_gemm_pack(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed);
/* The same piece by piece, on the calling thread: an update packs what it has just written, while
 * it is hot. Every part once after a kern_gemm_pack_begin, from any threads, gives what
 * kern_gemm_pack gives. Parts start at multiples of GEMM_PACK_UNIT and end there or at the
 * matrix's end. */
enum { GEMM_PACK_UNIT = 32 };
struct gemm_part {
    int64_t row, rows, col, cols; /* of B as it is stored */
};
bool kern_gemm_packs_parts(const struct gemm_plan *p); /* false: as a whole only, or not at all */
void kern_gemm_pack_begin(const struct gemm_plan *p, void *packed);
void kern_gemm_pack_part(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed,
                         const struct gemm_part *part);
/* Runs on par_threads() threads. Must not be called from inside par_for. */
void kern_gemm_run(const struct gemm_plan *p, const struct gemm_args *args);

/* x = act(x), n elements. */
void kern_gemm_act(enum gemm_act act, int64_t n, float *x);
/* The slope of an activation is told by its output (relu, tanh, sigmoid), or by its input. */
bool kern_gemm_act_reads_out(enum gemm_act act);
/* out = dy act'(saved), n elements, saved as kern_gemm_act_reads_out says; out may be dy. */
void kern_gemm_act_grad(enum gemm_act act, int64_t n, const float *saved, const float *dy,
                        float *out);

/* The table, for list, bench, tests and the log header; NULL behind the last row. */
const char *kern_gemm_row_name(int i);
const char *kern_gemm_row_help(int i);
/* True where the row's products or sums flush subnormals (tile instructions do). */
bool kern_gemm_row_flushes(int i);
const char *kern_gemm_name(const struct gemm_plan *p);

/* The kernels that OpenBLAS says it runs ("SkylakeX"), NULL where it is not there; loads it. */
const char *kern_gemm_blas_core(void);
/* What the user should know about them, such as kernels older than the CPU; NULL when fine. */
const char *kern_gemm_blas_note(void);

#endif
