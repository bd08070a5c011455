/* kern_cast.c: see kern_cast.h. Picks the row, and walks tensors of any type with it.
 *
 * Invariant: the row never changes a result, only the speed.
 * To add a row: fill a struct cast_row in a file of its own, put it into the library of its
 * instruction set (Makefile.am) and into `rows`, best first. */
#include "config.h"

#include "kern/kern_cast.h"

#include "base/diag.h"
#include "base/par.h"
#include "kern/kern_cast_row.h"

#include <string.h>

static const struct cast_row *const rows[] = {
#ifdef HAVE_AVX512
    &kern_cast_avx512,
#endif
#ifdef HAVE_AVX2
    &kern_cast_avx2,
#endif
    &kern_cast_scalar,
};

static const struct cast_row *forced; /* by a test; NULL: the best that runs */

enum {
    STEP = 256,           /* elements converted on the stack at a time */
    CAST_BLOCK = 1 << 16, /* elements that one thread converts at a time */
};

/* The i-th row that runs here, NULL behind the last. */
static const struct cast_row *row_at(int i)
{
    for (size_t r = 0; r < COUNT_OF(rows); r++)
        if (cpu_has(rows[r]->needs) && i-- == 0)
            return rows[r];
    return NULL;
}

static const struct cast_row *row(void)
{
    return forced ? forced : row_at(0); /* scalar always runs */
}

const char *kern_cast_row_name(int i)
{
    const struct cast_row *r = row_at(i);
    return r ? r->name : NULL;
}

int kern_cast_force(const char *name)
{
    forced = NULL;
    if (!name)
        return 1;
    for (int i = 0; row_at(i); i++)
        if (strcmp(row_at(i)->name, name) == 0) {
            forced = row_at(i);
            return 1;
        }
    return 0;
}

const char *kern_cast_name(void)
{
    return row()->name;
}

static void *element(void *data, enum dtype t, int64_t at)
{
    return (unsigned char *)data + (size_t)at * dtype_size(t);
}

static const void *const_element(const void *data, enum dtype t, int64_t at)
{
    return (const unsigned char *)data + (size_t)at * dtype_size(t);
}

static void widen(enum dtype from, const void *src, int64_t n, float *out)
{
    BUG_IF(!dtype_is_half(from));
    (from == DTYPE_BF16 ? row()->bf16_to_f32 : row()->f16_to_f32)(n, src, out);
}

static void narrow(enum dtype to, const float *src, int64_t n, void *out)
{
    BUG_IF(!dtype_is_half(to));
    (to == DTYPE_BF16 ? row()->f32_to_bf16 : row()->f32_to_f16)(n, src, out);
}

void kern_cast(enum dtype to, void *dst, enum dtype from, const void *src, int64_t n)
{
    if (n <= 0)
        return;
    if (to == from) {
        memcpy(dst, src, (size_t)n * dtype_size(to));
    } else if (from == DTYPE_F32) {
        narrow(to, src, n, dst);
    } else if (to == DTYPE_F32) {
        widen(from, src, n, dst);
    } else {
        float tile[STEP];
        for (int64_t i = 0; i < n; i += STEP) {
            int64_t m = n - i < STEP ? n - i : STEP;
            widen(from, const_element(src, from, i), m, tile);
            narrow(to, tile, m, element(dst, to, i));
        }
    }
}

struct cast_all {
    enum dtype to, from;
    void *dst;
    const void *src;
    int64_t n;
};

static void cast_block(void *context, int64_t block)
{
    const struct cast_all *c = context;
    int64_t at = block * CAST_BLOCK;
    int64_t n = c->n - at < CAST_BLOCK ? c->n - at : CAST_BLOCK;
    kern_cast(c->to, element(c->dst, c->to, at), c->from, const_element(c->src, c->from, at), n);
}

void kern_cast_all(enum dtype to, void *dst, enum dtype from, const void *src, int64_t n)
{
    struct cast_all c = {to, from, dst, src, n};
    par_for((n + CAST_BLOCK - 1) / CAST_BLOCK, cast_block, &c);
}

const float *kern_load(struct view v, int64_t at, int64_t n, float *tile)
{
    const void *p = const_element(v.data, v.dtype, at);
    if (v.dtype == DTYPE_F32)
        return p;
    if (n > 0)
        widen(v.dtype, p, n, tile);
    return tile;
}

void kern_store(struct view v, int64_t at, int64_t n, const float *x)
{
    void *p = element(v.data, v.dtype, at);
    if (n <= 0)
        return;
    if (v.dtype != DTYPE_F32)
        narrow(v.dtype, x, n, p);
    else if (p != (const void *)x)
        memmove(p, x, (size_t)n * sizeof(float));
}

void kern_store_add(struct view v, int64_t at, int64_t n, const float *x)
{
    float tile[STEP], sum[STEP];
    for (int64_t i = 0; i < n; i += STEP) {
        int64_t m = n - i < STEP ? n - i : STEP;
        const float *old = kern_load(v, at + i, m, tile);
        for (int64_t j = 0; j < m; j++)
            sum[j] = old[j] + x[i + j];
        kern_store(v, at + i, m, sum);
    }
}

int64_t kern_count_nonfinite(struct view v, int64_t n)
{
    BUG_IF(v.dtype != DTYPE_F32 && !dtype_is_half(v.dtype));
    if (v.dtype == DTYPE_F32)
        return row()->count32(n, v.data, 0x7F800000u);
    return row()->count16(n, v.data, v.dtype == DTYPE_BF16 ? 0x7F80 : 0x7C00);
}
