/* kern_gemm_ref.c: the yardstick: plain C, one multiplication after the other, in the order of k.
 * Accepts everything, uses no table and no other kernel, and is meant to be believed, not fast. */
#include "config.h"

#include "base/half.h"
#include "base/par.h"
#include "kern/kern_gemm_row.h"

#include <math.h>

static float load(const void *p, int64_t at, enum dtype t)
{
    if (t == DTYPE_F32)
        return ((const float *)p)[at];
    uint16_t bits = ((const uint16_t *)p)[at];
    return t == DTYPE_BF16 ? half_bf16_to_f32(bits) : half_f16_to_f32(bits);
}

static void store(void *p, int64_t at, enum dtype t, float x)
{
    if (t == DTYPE_F32)
        ((float *)p)[at] = x;
    else
        ((uint16_t *)p)[at] = t == DTYPE_BF16 ? half_f32_to_bf16(x) : half_f32_to_f16(x);
}

static float rounded(float x, enum dtype t)
{
    if (t == DTYPE_F32)
        return x;
    return t == DTYPE_BF16 ? half_bf16_to_f32(half_f32_to_bf16(x))
                           : half_f16_to_f32(half_f32_to_f16(x));
}

static float activated(float x, enum gemm_act act)
{
    switch (act) {
    case GEMM_ACT_RELU:
        return x < 0 ? 0 : x;
    case GEMM_ACT_GELU:
        return (float)(0.5 * x * (1 + erf(x * 0.70710678118654752440)));
    case GEMM_ACT_GELU_TANH:
        return (float)(0.5 * x *
                       (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * (double)x * x))));
    case GEMM_ACT_SILU:
        return (float)(x / (1 + exp(-(double)x)));
    case GEMM_ACT_TANH:
        return (float)tanh(x);
    case GEMM_ACT_SIGMOID:
        return (float)(1 / (1 + exp(-(double)x)));
    case GEMM_ACT_NONE:
        break;
    }
    return x;
}

struct job {
    const struct gemm_desc *d;
    const struct gemm_args *g;
};

/* Element (i,k) of op(A). */
static float element_a(const struct job *job, int64_t i, int64_t k)
{
    const struct gemm_desc *d = job->d;
    const struct gemm_patches *p = &d->patches;
    int64_t lda = job->g->lda;
    if (p->kernel_h == 0)
        return load(job->g->a, d->a_trans ? k * lda + i : i * lda + k, d->a);
    int64_t row = d->a_trans ? k : i, col = d->a_trans ? i : k, tap = col / p->c;
    int64_t b = row / (p->out_h * p->out_w), oy = row / p->out_w % p->out_h, ox = row % p->out_w;
    int64_t y = oy * p->stride_h - p->pad_h + tap / p->kernel_w * p->dilation_h;
    int64_t x = ox * p->stride_w - p->pad_w + tap % p->kernel_w * p->dilation_w;
    if (y < 0 || x < 0 || y % p->spread_h != 0 || x % p->spread_w != 0 || y / p->spread_h >= p->h ||
        x / p->spread_w >= p->w)
        return 0;
    int64_t pixel = (b * p->h + y / p->spread_h) * p->w + x / p->spread_w;
    return load(job->g->a, pixel * p->pixel + col % p->c, d->a);
}

/* Element (k,j) of op(B). */
static float element_b(const struct job *job, int64_t k, int64_t j)
{
    const struct gemm_desc *d = job->d;
    int64_t ldb = job->g->ldb;
    if (d->b_taps == 0)
        return load(job->g->b, d->b_trans ? j * ldb + k : k * ldb + j, d->b);
    int64_t tap_k = job->g->k / d->b_taps, tap = d->b_taps - 1 - k / tap_k;
    return load(job->g->b, (tap * job->g->n + j) * ldb + k % tap_k, d->b);
}

static void one_row(void *context, int64_t i)
{
    const struct job *job = context;
    const struct gemm_desc *d = job->d;
    const struct gemm_args *g = job->g;
    for (int64_t j = 0; j < g->n; j++) {
        float sum = 0;
        for (int64_t k = 0; k < g->k; k++) {
            sum += rounded(element_a(job, i, k), d->compute) *
                   rounded(element_b(job, k, j), d->compute);
        }
        if (g->add)
            sum += load(g->c, i * g->ldc + j, d->c);
        if (d->bias)
            sum += g->bias[j];
        if (g->pre)
            store(g->pre, i * g->ldc + j, d->c, sum);
        store(g->c, i * g->ldc + j, d->c, activated(sum, d->act));
    }
}

static void run(const struct gemm_plan *p, const struct gemm_args *args)
{
    struct job job = {&p->desc, args};
    par_for(args->m, one_row, &job);
}

static const char *accepts(const struct gemm_desc *d)
{
    (void)d;
    return NULL;
}

static size_t nothing(const struct gemm_plan *p)
{
    (void)p;
    return 0;
}

const struct gemm_row kern_gemm_ref = {
    .name = "ref",
    .help = "plain C, the yardstick",
    .isa = ISA_SCALAR,
    .accepts = accepts,
    .packed_bytes = nothing,
    .scratch_bytes = nothing,
    .run = run,
};
