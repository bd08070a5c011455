/* bench_product.h: one matrix product as a layer runs it, on one row of kern_gemm, to be timed. */
#ifndef BENCH_PRODUCT_H
#define BENCH_PRODUCT_H

#include "base/arena.h"
#include "bench/bench_time.h"
#include "kern/kern_gemm.h"

/* C (M,N) = A (M,K) . B (K,N): A and C in `dtype`, which is also the type of the products; B is a
 * weight: FP32, stored (N,K) as a linear layer has it, and packed. */
struct bench_product {
    struct gemm_plan plan;
    struct gemm_args args;
    const void *weight; /* (N,K) f32 */
    void *packed;       /* NULL: the row reads B in place */
    bool pack;          /* packing is part of the product */
    struct arena memory;
};

/* False, with a fixed text in *reason, where the row refuses. No memory is taken yet. */
bool bench_product_plan(struct bench_product *p, enum dtype dtype, const char *row,
                        const int64_t mnk[3], const char **reason);
/* Memory, and random operands. */
MUST_USE enum rc bench_product_bind(struct bench_product *p, struct diag *d);
void bench_product_release(struct bench_product *p);

double bench_product_flops(const struct bench_product *p);
struct bench_times bench_product_run(struct bench_product *p, int64_t least_ms);
/* Several, sample by sample in turn. */
MUST_USE enum rc bench_product_turns(struct bench_product *const *p, int n, int64_t least_ms,
                                     struct bench_times *out, struct diag *d);
struct bench_times bench_product_pack(struct bench_product *p, int64_t least_ms);

/* FLOP/s that the row reaches at its best on a large square product; *side: of that square. */
MUST_USE enum rc bench_product_peak(enum dtype dtype, const char *row, int64_t least_ms,
                                    int64_t *side, double *rate, struct diag *d);

#endif
