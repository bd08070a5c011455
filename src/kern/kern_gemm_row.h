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
    size_t (*packed_bytes)(const struct gemm_plan *p); /* asked only where B is a weight */
    size_t (*scratch_bytes)(const struct gemm_plan *p);
    void (*pack)(const struct gemm_plan *p, const void *b, int64_t ldb, void *packed);
    void (*run)(const struct gemm_plan *p, const struct gemm_args *args);
    const struct gemm_block *block; /* for rows that run on kern_gemm_block.c */
};

extern const struct gemm_row kern_gemm_ref, kern_gemm_blas, kern_gemm_avx2, kern_gemm_avx512,
    kern_gemm_avx512_bf16, kern_gemm_amx_bf16, kern_gemm_amx_f16x2;

#endif
