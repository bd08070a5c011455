/* bench_cast.c: `mptrain bench cast`: conversions between the float types, by each row of
 * kern_cast: a tile that stays in L1 on one thread, and a large array on all threads. */
#include "config.h"

#include "bench/bench.h"

#include "base/arena.h"
#include "base/cpu.h"
#include "base/par.h"
#include "base/rng.h"
#include "bench/bench_time.h"
#include "kern/kern_cast.h"

#include <string.h>

static const struct pair {
    enum dtype from, to;
} pairs[] = {
    {DTYPE_F32, DTYPE_BF16}, {DTYPE_BF16, DTYPE_F32}, {DTYPE_F32, DTYPE_F16},
    {DTYPE_F16, DTYPE_F32},  {DTYPE_BF16, DTYPE_F16},
};

enum { LARGE = 1 << 24, MAX_RESULTS = 64 }; /* LARGE elements: 64 MiB of FP32 */

struct result {
    const char *row;
    struct pair pair;
    int64_t n;
    int threads;
    struct bench_times t;
};

/* One conversion, as the stopwatch calls it. */
struct conversion {
    struct pair pair;
    int64_t n;
    const void *src;
    void *dst;
};

static void convert(void *context)
{
    const struct conversion *c = context;
    if (c->n > KERN_TILE)
        kern_cast_all(c->pair.to, c->dst, c->pair.from, c->src, c->n);
    else
        kern_cast(c->pair.to, c->dst, c->pair.from, c->src, c->n);
}

static double gbs(const struct result *r, double seconds)
{
    return 1e-9 * (double)r->n * (double)(dtype_size(r->pair.from) + dtype_size(r->pair.to)) /
           seconds;
}

/* Normal numbers of moderate size in every type. */
static void fill(void *src, enum dtype dtype)
{
    struct rng_key key = rng_key(1, RNG_SYNTHETIC, 0, 0);
    float tile[KERN_TILE];
    for (int64_t at = 0; at < LARGE; at += KERN_TILE) {
        rng_normal(key, (uint64_t)at, KERN_TILE, tile);
        kern_store((struct view){src, dtype}, at, KERN_TILE, tile);
    }
}

static int measure(const struct bench_opts *o, const struct arena *memory, struct result *out)
{
    const char *row;
    int n = 0;
    unsigned char *src = memory->base, *dst = src + memory->size / 2;
    for (size_t p = 0; p < COUNT_OF(pairs); p++) {
        fill(src, pairs[p].from);
        for (int i = 0; (row = kern_cast_row_name(i)) != NULL; i++) {
            if (!bench_rows_wants(o, row))
                continue;
            (void)kern_cast_force(row); /* it was listed, so it runs */
            for (int large = 0; large < 2; large++) {
                struct conversion c = {pairs[p], large ? LARGE : KERN_TILE, src, dst};
                BUG_IF(n == MAX_RESULTS);
                out[n++] = (struct result){row, pairs[p], c.n, large ? par_threads() : 1,
                                           bench_time(o->ms, convert, &c)};
            }
            (void)kern_cast_force(NULL);
        }
    }
    return n;
}

static json_t *as_json(const struct result *results, int n)
{
    json_t *rows = json_array();
    for (int i = 0; i < n; i++) {
        const struct result *r = &results[i];
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:s, s:I, s:i, s:f, s:f, s:f, s:f}", "row", r->row, "from",
                            dtype_name(r->pair.from), "to", dtype_name(r->pair.to), "elements",
                            (json_int_t)r->n, "threads", r->threads, "best_ns", 1e9 * r->t.best,
                            "median_ns", 1e9 * r->t.median, "best_gbs", gbs(r, r->t.best),
                            "median_gbs", gbs(r, r->t.median)));
    }
    return json_pack("{s:s, s:i, s:o}", "cpu", cpu_name(), "threads", par_threads(), "rows", rows);
}

static void as_text(const struct result *results, int n, struct str *out)
{
    bench_time_machine(out);
    str_printf(out, "GB/s count bytes read and bytes written.\n\n");
    str_printf(out, "%-8s %-12s %9s %8s %14s %14s %10s %11s\n", "row", "types", "elements",
               "threads", "best ns", "median ns", "best GB/s", "median GB/s");
    for (int i = 0; i < n; i++) {
        const struct result *r = &results[i];
        str_printf(out, "%-8s %s->%-6s %9lld %8d %14.1f %14.1f %10.2f %11.2f\n", r->row,
                   dtype_name(r->pair.from), dtype_name(r->pair.to), (long long)r->n, r->threads,
                   1e9 * r->t.best, 1e9 * r->t.median, gbs(r, r->t.best), gbs(r, r->t.median));
    }
}

enum rc bench_cast(const struct bench_opts *o, struct str *out, struct diag *d)
{
    struct result results[MAX_RESULTS];
    struct arena memory;
    TRY(bench_rows_check(o, "cast", kern_cast_row_name, d));
    if (arena_init(&memory, (size_t)2 * LARGE * sizeof(float)) != RC_OK)
        return diag_no_memory(d);
    int n = measure(o, &memory, results);
    arena_release(&memory);
    if (o->json)
        return bench_time_json(as_json(results, n), out, d);
    as_text(results, n, out);
    return RC_OK;
}
