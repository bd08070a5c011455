/* kern_gemm_block.h: the blocking that all vector rows share. A row brings packing and a tile
 * product (struct gemm_block); the loops, the grid, threads and scratch are in kern_gemm_block.c.
 *
 * C is cut into a grid of blocks by the size of the problem alone. One thread computes a block
 * whole: for each chunk of K, for each mr rows of A: pack them (they fit in L1), then run along the
 * packed B of the block (it fits in L2), one mr x nr tile of C at a time. Sums stay in FP32 from
 * chunk to chunk, so where K is cut changes no bit. C is read and written once, with the last
 * chunk.
 *
 * An A panel is (mr, a_stride): k runs along a row. A B panel holds nr columns for all of K:
 *     FP32   (K, nr)
 *     BF16   (K/2, nr, 2): pairs of k side by side, as the dot product instructions want them
 * Everything behind the last row, column and k is zero, up to mr, nr and a multiple of k_unit. */
#ifndef KERN_GEMM_BLOCK_H
#define KERN_GEMM_BLOCK_H

#include "kern/kern_gemm_row.h"

/* A part of op(A) or op(B) to pack. w counts the rows of op(A) or the columns of op(B). */
struct gemm_operand {
    const void *data; /* the whole stored matrix */
    int64_t ld;
    enum dtype dtype, compute;
    bool k_inner; /* k runs along the stored rows: A as it is, B transposed */
    int64_t w, n_w, k, n_k;
};

/* One tile: sum (mr, nr) = [sum +] A panel · B panel. */
struct gemm_tile {
    int rows, cols;        /* that are wanted; at least 1 */
    int64_t n_k;           /* a multiple of k_unit */
    const void *a, *a_low; /* (mr, a_stride); low: of rows with two parts */
    const void *b, *b_low;
    float *sum;   /* (mr, nr) f32 */
    bool resume;  /* sum holds the chunks before */
    bool special; /* two parts only: inf or NaN is among a or b */
};

/* What happens to a finished tile. */
struct gemm_out {
    void *c; /* (M,N) */
    int64_t ldc;
    enum dtype dtype;
    bool add, relu;
    const float *bias; /* (N) or NULL */
};

struct gemm_block {
    int mr, nr, k_unit;
    int parts;    /* panels per operand: 2 where a value is the sum of two */
    int k_chunk;  /* most k at a time, a multiple of 32; A panel within half of L1 */
    int a_stride; /* elements; >= k_chunk */
    /* An A panel of type a_type has element (row, k) at
     * row row_step + k / group group_step + k % group: for operands that need no conversion. */
    struct {
        int row_step, group, group_step;
    } a_layout;
    enum dtype a_type;
    size_t element;                    /* bytes, in a panel */
    int64_t least_work;                /* products that are worth a block of their own */
    void (*begin)(void), (*end)(void); /* on the thread, around a block; NULL: nothing to do */
    /* True where inf or NaN is in it (rows with two parts; others need not look). */
    bool (*pack_a)(const struct gemm_operand *s, void *panel, void *low);
    bool (*pack_b)(const struct gemm_operand *s, void *panel, void *low);
    void (*multiply)(const struct gemm_tile *t);
    /* The same two for an A panel of rows `stride` elements apart, k along a row from any start:
     * kern_gemm_shift.c. NULL: none. */
    void (*pack_rows)(const struct gemm_operand *s, void *panel, int64_t stride);
    void (*multiply_rows)(const struct gemm_tile *t, int64_t stride);
    /* A's rows are pixels of c elements side by side, a multiple of k_unit; the sum goes over taps,
     * whose rows are offsets[tap] elements further on, and channels: kern_gemm_slide.c. */
    void (*multiply_taps)(const struct gemm_tile *t, const int64_t *offsets, int64_t taps,
                          int64_t c);
    /* sum (mr, nr) [+ C] [+ bias], in place */
    void (*merge)(const struct gemm_out *o, int64_t row, int64_t col, const struct gemm_tile *t);
    /* C = the same, relu, narrowed */
    void (*store)(const struct gemm_out *o, int64_t row, int64_t col, const struct gemm_tile *t);
};

/* What kern_gemm.c calls for a row with a block. */
size_t kern_gemm_block_packed_bytes(const struct gemm_plan *p);
size_t kern_gemm_block_scratch_bytes(const struct gemm_plan *p);
void kern_gemm_block_pack(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed);
void kern_gemm_block_pack_begin(const struct gemm_plan *p, void *packed);
void kern_gemm_block_pack_part(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed,
                               const struct gemm_part *part);
void kern_gemm_block_run(const struct gemm_plan *p, const struct gemm_args *args);

#endif
