/* kern_gemm_row.h: what a row of the GEMM table is (kern_gemm.c holds the table).
 *
 * To add a row: a file kern_gemm_<name>.c that ends in one `const struct gemm_row`, a line in the
 * table. A row that only brings packing and a tile product fills a struct gemm_block and takes its
 * functions from kern_gemm_block.h. */
#ifndef KERN_GEMM_ROW_H
#define KERN_GEMM_ROW_H

#include "base/cpu.h"
#include "kern/kern_gemm.h"

struct gemm_block;

struct gemm_row {
    const char *name, *help;
    enum isa isa; /* the level it needs */
    bool flushes; /* subnormal operands, products or sums count as zero */
    /* NULL: accepts; else why not, a fixed text. The level is checked before. */
    const char *(*accepts)(const struct gemm_desc *d);
    /* Where it would run, but a row below is faster on CPUs whose brand holds this word. */
    const char *slow_on, *slow_reason;
    /* Either a block, to run on kern_gemm_block.c: so that files compiled for an instruction set
     * call nothing outside. Or functions of its own: */
    const struct gemm_block *block;
    size_t (*packed_bytes)(const struct gemm_plan *p); /* asked only where B is a weight */
    size_t (*scratch_bytes)(const struct gemm_plan *p);
    void (*pack)(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed);
    void (*run)(const struct gemm_plan *p, const struct gemm_args *args);
};

/* x = act(x), by kern_vec; for none and relu it does nothing: rows do relu while they store. */
void kern_gemm_activate(enum gemm_act act, int64_t n, float *x);
/* True where kern_gemm_activate has something to do. */
bool kern_gemm_act_is_curved(enum gemm_act act);

extern const struct gemm_row kern_gemm_ref, kern_gemm_blas, kern_gemm_avx2, kern_gemm_avx512,
    kern_gemm_avx512_bf16, kern_gemm_amx_bf16, kern_gemm_amx_f16x2;

#endif
