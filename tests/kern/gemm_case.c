/* gemm_case.c: see gemm_case.h. */
#include "config.h"

#include "gemm_case.h"

#include "base/cpu.h"
#include "base/half.h"
#include "base/par.h"
#include "base/rng.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 3, GUARD = 0x5A };

const enum dtype gemm_types[GEMM_N_TYPES] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16};

float gemm_round(float x, enum dtype t)
{
    if (t == DTYPE_BF16)
        return half_bf16_to_f32(half_f32_to_bf16(x));
    return t == DTYPE_F16 ? half_f16_to_f32(half_f32_to_f16(x)) : x;
}

static void put(void *p, int64_t at, enum dtype t, float x)
{
    if (t == DTYPE_F32)
        ((float *)p)[at] = x;
    else
        ((uint16_t *)p)[at] = t == DTYPE_BF16 ? half_f32_to_bf16(x) : half_f32_to_f16(x);
}

static float get(const void *p, int64_t at, enum dtype t)
{
    if (t == DTYPE_F32)
        return ((const float *)p)[at];
    uint16_t bits = ((const uint16_t *)p)[at];
    return t == DTYPE_BF16 ? half_bf16_to_f32(bits) : half_f16_to_f32(bits);
}

/* 64-byte aligned, as tensors are. */
static void *room(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 64) / 64 * 64);
    ck_assert_ptr_nonnull(p);
    return p;
}

static float *draw(int64_t n, enum gemm_fill fill, uint64_t seed)
{
    float *x = room((size_t)n * sizeof(float));
    struct rng_key key = rng_key(seed, RNG_SYNTHETIC, (uint64_t)n, fill);
    if (fill == FILL_NORMAL) {
        rng_normal(key, 0, n, x);
        return x;
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)rng_below(key, (uint64_t)i, 7) - 3;
    return x;
}

/* Writes op(X) (rows, cols) to its store, and rounds it to what can be stored. */
static void sync_one(float *x, int64_t rows, int64_t cols, bool trans, enum dtype t, void *store,
                     int64_t ld)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            float *value = x + i * cols + j;
            *value = gemm_round(*value, t);
            put(store, trans ? j * ld + i : i * ld + j, t, *value);
        }
}

static void *guarded(int64_t rows, int64_t ld, enum dtype t)
{
    size_t bytes = (size_t)((rows + 1) * ld) * dtype_size(t);
    void *p = room(bytes);
    memset(p, GUARD, bytes);
    return p;
}

void gemm_case_sync(struct gemm_case *x)
{
    const struct gemm_desc *d = &x->desc;
    sync_one(x->a, d->m, d->k, d->a_trans, d->a, x->a_store, x->lda);
    sync_one(x->b, d->k, d->n, d->b_trans, d->b, x->b_store, x->ldb);
    for (int64_t i = 0; i < d->m * d->n; i++)
        x->c[i] = gemm_round(x->c[i], d->c);
}

void gemm_case_init(struct gemm_case *x, const struct gemm_desc *desc, bool add,
                    enum gemm_fill fill)
{
    *x = (struct gemm_case){.desc = *desc, .add = add};
    x->lda = (desc->a_trans ? desc->m : desc->k) + GAP;
    x->ldb = (desc->b_trans ? desc->k : desc->n) + GAP;
    x->ldc = desc->n + GAP;
    x->a = draw(desc->m * desc->k, fill, 1);
    x->b = draw(desc->k * desc->n, fill, 2);
    x->c = draw(desc->m * desc->n, fill, 3);
    x->bias = draw(desc->n, fill, 4);
    x->a_store = guarded(desc->a_trans ? desc->k : desc->m, x->lda, desc->a);
    x->b_store = guarded(desc->b_trans ? desc->n : desc->k, x->ldb, desc->b);
    gemm_case_sync(x);
}

void gemm_case_release(struct gemm_case *x)
{
    free(x->a);
    free(x->b);
    free(x->c);
    free(x->bias);
    free(x->a_store);
    free(x->b_store);
}

size_t gemm_case_c_bytes(const struct gemm_case *x)
{
    return (size_t)((x->desc.m + 1) * x->ldc) * dtype_size(x->desc.c);
}

float gemm_case_at(const struct gemm_case *x, const void *c, int64_t i, int64_t j)
{
    return get(c, i * x->ldc + j, x->desc.c);
}

static void check_guards(const struct gemm_case *x, const void *c, const char *row)
{
    size_t size = dtype_size(x->desc.c);
    const char *p = c;
    for (int64_t i = 0; i <= x->desc.m; i++)
        for (int64_t j = i < x->desc.m ? x->desc.n : 0; j < x->ldc; j++)
            for (size_t byte = 0; byte < size; byte++)
                if (p[(size_t)(i * x->ldc + j) * size + byte] != GUARD)
                    ck_abort_msg("%s, %s: wrote outside C, row %d column %d", row,
                                 gemm_case_name(x), (int)i, (int)j);
}

static void tell_refusal(const char *row, const char *reason)
{
    static const char *told[32][2];
    static size_t n;
    if (strncmp(reason, "multiplies", 10) == 0)
        return; /* not for this compute type, on any machine */
    for (size_t i = 0; i < n; i++)
        if (told[i][0] == row && told[i][1] == reason)
            return;
    printf("skipped: %s: %s\n", row, reason);
    if (n < COUNT_OF(told)) {
        told[n][0] = row;
        told[n++][1] = reason;
    }
}

void *gemm_case_run(const struct gemm_case *x, const char *row)
{
    const struct gemm_desc *d = &x->desc;
    struct gemm_plan plan;
    const char *reason;
    if (!kern_gemm_plan_row(&plan, d, row, &reason)) {
        tell_refusal(row, reason);
        return NULL;
    }
    void *c = guarded(d->m, x->ldc, d->c);
    for (int64_t i = 0; i < d->m; i++)
        for (int64_t j = 0; j < d->n; j++)
            put(c, i * x->ldc + j, d->c, x->add ? x->c[i * d->n + j] : NAN);
    /* what memory held before must not matter: all bits set are NaN in every type */
    void *scratch = room(plan.scratch_bytes), *packed = room(plan.packed_bytes);
    memset(scratch, 0xFF, plan.scratch_bytes);
    memset(packed, 0xFF, plan.packed_bytes);
    kern_gemm_pack(&plan, x->b_store, x->ldb, packed);
    struct gemm_args args = {.m = d->m,
                             .n = d->n,
                             .k = d->k,
                             .a = x->a_store,
                             .lda = x->lda,
                             .b = plan.packed_bytes > 0 ? packed : x->b_store,
                             .ldb = x->ldb,
                             .c = c,
                             .ldc = x->ldc,
                             .add = x->add,
                             .bias = d->bias ? x->bias : NULL,
                             .scratch = scratch};
    kern_gemm_run(&plan, &args);
    check_guards(x, c, row);
    free(scratch);
    free(packed);
    return c;
}

double gemm_case_exact(const struct gemm_case *x, int64_t i, int64_t j, double *size)
{
    const struct gemm_desc *d = &x->desc;
    double sum = 0, sizes = 0;
    for (int64_t k = 0; k < d->k; k++) {
        double product = (double)gemm_round(x->a[i * d->k + k], d->compute) *
                         (double)gemm_round(x->b[k * d->n + j], d->compute);
        sum += product;
        sizes += fabs(product);
    }
    if (x->add) {
        sum += (double)x->c[i * d->n + j];
        sizes += fabs((double)x->c[i * d->n + j]);
    }
    if (d->bias) {
        sum += (double)x->bias[j];
        sizes += fabs((double)x->bias[j]);
    }
    *size = sizes;
    return sum;
}

const char *gemm_case_name(const struct gemm_case *x)
{
    static const char *const acts[] = {"", " relu", " gelu", " silu", " tanh", " sigmoid"};
    static char name[160];
    const struct gemm_desc *d = &x->desc;
    snprintf(name, sizeof(name), "m %d n %d k %d %c%c a %s b %s c %s compute %s%s%s%s%s", (int)d->m,
             (int)d->n, (int)d->k, d->a_trans ? 't' : 'n', d->b_trans ? 't' : 'n', dtype_name(d->a),
             dtype_name(d->b), dtype_name(d->c), dtype_name(d->compute), x->add ? " add" : "",
             d->b_is_weight ? " packed" : "", d->bias ? " bias" : "", acts[d->act]);
    return name;
}

/* All rows give ref's bits. */
void gemm_check_bits(const struct gemm_desc *desc, bool add)
{
    struct gemm_case x;
    gemm_case_init(&x, desc, add, FILL_INTEGERS);
    void *right = gemm_case_run(&x, "ref");
    for (int r = 0; kern_gemm_row_name(r); r++) {
        void *c = gemm_case_run(&x, kern_gemm_row_name(r));
        if (c && memcmp(c, right, gemm_case_c_bytes(&x)) != 0)
            ck_abort_msg("%s is not ref: %s", kern_gemm_row_name(r), gemm_case_name(&x));
        free(c);
    }
    free(right);
    gemm_case_release(&x);
}

/* Takes bits off a number, one choice after the other. */
static bool flip(unsigned *bits)
{
    bool b = *bits & 1;
    *bits >>= 1;
    return b;
}

struct gemm_desc gemm_some_desc(int64_t m, int64_t n, int64_t k, enum dtype compute, unsigned bits)
{
    struct gemm_desc d = {.m = m, .n = n, .k = k, .compute = compute};
    d.a_trans = flip(&bits);
    d.b_trans = flip(&bits);
    d.b_is_weight = flip(&bits);
    d.bias = flip(&bits);
    d.act = flip(&bits) ? GEMM_ACT_RELU : GEMM_ACT_NONE;
    d.a = gemm_types[bits % 3];
    d.b = gemm_types[bits / 3 % 3];
    d.c = gemm_types[bits / 9 % 3];
    return d;
}

void gemm_case_cap(const char *isa)
{
    static struct diag d;
    diag_init(&d);
    ck_assert_int_eq(cpu_init(isa, &d), RC_OK);
}

void gemm_case_setup(void)
{
    gemm_case_cap(NULL);
    par_set_threads(1); /* a team wakes up slowly on a busy machine; `threads` takes several */
}
