/* bench_product.c: see bench_product.h. */
#include "config.h"

#include "bench/bench_product.h"

#include "base/rng.h"
#include "kern/kern_cast.h"

#include <string.h>

bool bench_product_plan(struct bench_product *p, enum dtype dtype, const char *row,
                        const int64_t mnk[3], const char **reason)
{
    struct gemm_desc desc = {.m = mnk[0],
                             .n = mnk[1],
                             .k = mnk[2],
                             .b_trans = true,
                             .a = dtype,
                             .b = DTYPE_F32,
                             .c = dtype,
                             .compute = dtype,
                             .b_is_weight = true};
    memset(p, 0, sizeof(*p));
    return kern_gemm_plan_row(&p->plan, &desc, row, reason);
}

/* Uniform in [-1, 1). */
static void fill(void *to, enum dtype dtype, int64_t n, uint64_t which)
{
    struct rng_key key = rng_key(1, RNG_SYNTHETIC, which, 0);
    float tile[KERN_TILE];
    for (int64_t at = 0; at < n; at += KERN_TILE) {
        int64_t count = n - at < KERN_TILE ? n - at : KERN_TILE;
        rng_uniform(key, (uint64_t)at, count, tile);
        for (int64_t i = 0; i < count; i++)
            tile[i] = 2 * tile[i] - 1;
        kern_store((struct view){to, dtype}, at, count, tile);
    }
}

enum rc bench_product_bind(struct bench_product *p, struct diag *d)
{
    const struct gemm_desc *desc = &p->plan.desc;
    size_t item = dtype_size(desc->a), m = (size_t)desc->m, n = (size_t)desc->n;
    size_t k = (size_t)desc->k, at[5], end = 0;
    const size_t bytes[] = {m * k * item, n * k * sizeof(float), m * n * item, p->plan.packed_bytes,
                            p->plan.scratch_bytes};
    for (size_t i = 0; i < COUNT_OF(bytes); i++) {
        at[i] = end;
        end += arena_round(bytes[i]);
    }
    if (arena_init(&p->memory, end) != RC_OK) {
        char room[STR_BYTES_ROOM];
        return diag_error(d, RC_FAILED, NOWHERE, "bench: out of memory: this product needs %s",
                          str_bytes(room, end));
    }
    unsigned char *base = p->memory.base;
    fill(base + at[0], desc->a, desc->m * desc->k, 0);
    fill(base + at[1], DTYPE_F32, desc->n * desc->k, 1);
    p->weight = base + at[1];
    p->packed = p->plan.packed_bytes ? base + at[3] : NULL;
    kern_gemm_pack(&p->plan, p->weight, desc->k, p->packed);
    p->args = (struct gemm_args){.m = desc->m,
                                 .n = desc->n,
                                 .k = desc->k,
                                 .a = base + at[0],
                                 .lda = desc->k,
                                 .b = p->packed ? p->packed : p->weight,
                                 .ldb = desc->k,
                                 .c = base + at[2],
                                 .ldc = desc->n,
                                 .scratch = base + at[4]};
    return RC_OK;
}

void bench_product_release(struct bench_product *p)
{
    arena_release(&p->memory);
}

double bench_product_flops(const struct bench_product *p)
{
    return 2.0 * (double)p->args.m * (double)p->args.n * (double)p->args.k;
}

static void pack(void *context)
{
    struct bench_product *p = context;
    kern_gemm_pack(&p->plan, p->weight, p->plan.desc.k, p->packed);
}

static void multiply(void *context)
{
    struct bench_product *p = context;
    if (p->pack)
        pack(p);
    kern_gemm_run(&p->plan, &p->args);
}

struct bench_times bench_product_run(struct bench_product *p, int64_t least_ms)
{
    return bench_time(least_ms, multiply, p);
}

enum rc bench_product_turns(struct bench_product *const *p, int n, int64_t least_ms,
                            struct bench_times *out, struct diag *d)
{
    return bench_time_turns(n, least_ms, multiply, (void *const *)p, out, d);
}

struct bench_times bench_product_pack(struct bench_product *p, int64_t least_ms)
{
    if (!p->packed)
        return (struct bench_times){0, 0, 0};
    return bench_time(least_ms, pack, p);
}

enum { SMALL_SIDE = 512, LARGE_SIDE = 2048, ROUNDS = 2 };

static enum rc square(enum dtype dtype, const char *row, int64_t side, int64_t least_ms,
                      double *rate, struct diag *d)
{
    struct bench_product p;
    const char *reason;
    const int64_t mnk[] = {side, side, side};
    BUG_IF(!bench_product_plan(&p, dtype, row, mnk, &reason)); /* the plan picked this row */
    TRY(bench_product_bind(&p, d));
    *rate = bench_product_flops(&p) / bench_product_run(&p, least_ms).best;
    bench_product_release(&p);
    return RC_OK;
}

/* The large one only where it takes no more than about half a second; in turn, so that a busy
 * moment of the machine does not hit one of them alone. */
enum rc bench_product_peak(enum dtype dtype, const char *row, int64_t least_ms, int64_t *side,
                           double *rate, struct diag *d)
{
    static const int64_t sides[] = {SMALL_SIDE, LARGE_SIDE};
    *rate = 0;
    for (int i = 0; i < ROUNDS * (int)COUNT_OF(sides); i++) {
        double n = (double)sides[i % 2], got;
        if (i % 2 && 2 * n * n * n / *rate > 0.5)
            continue;
        TRY(square(dtype, row, sides[i % 2], least_ms, &got, d));
        if (got > *rate) {
            *rate = got;
            *side = sides[i % 2];
        }
    }
    return RC_OK;
}
