/* bench_copy.c: see bench_copy.h. */
#include "config.h"

#include "bench/bench_copy.h"

#include "base/arena.h"
#include "base/par.h"
#include "bench/bench_time.h"

#include <string.h>

struct copy {
    unsigned char *from, *to;
    size_t bytes, block;
};

static void copy_block(void *context, int64_t i)
{
    const struct copy *c = context;
    size_t at = (size_t)i * c->block, left = c->bytes - at;
    memcpy(c->to + at, c->from + at, left < c->block ? left : c->block);
}

static void copy_all(void *context)
{
    const struct copy *c = context;
    par_for((int64_t)((c->bytes + c->block - 1) / c->block), copy_block, context);
}

/* memcpy treats large blocks in another way than small ones: the better of two counts. */
enum rc bench_copy(size_t footprint, int64_t least_ms, double *rate, struct diag *d)
{
    static const size_t blocks[] = {(size_t)64 << 10, (size_t)4 << 20};
    struct arena memory;
    size_t bytes = footprint / 2 + 1;
    if (arena_init(&memory, 2 * arena_round(bytes)) != RC_OK)
        return diag_no_memory(d);
    memset(memory.base, 1, memory.size); /* pages of the machine's own, not the shared zero page */
    *rate = 0;
    for (size_t i = 0; i < COUNT_OF(blocks); i++) {
        struct copy c = {memory.base, memory.base + arena_round(bytes), bytes, blocks[i]};
        double got = 2.0 * (double)bytes / bench_time(least_ms, copy_all, &c).best;
        *rate = got > *rate ? got : *rate;
    }
    arena_release(&memory);
    return RC_OK;
}
