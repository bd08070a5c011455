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

static void one_row(void *context, int64_t i)
{
    const struct job *job = context;
    const struct gemm_desc *d = job->d;
    const struct gemm_args *g = job->g;
    for (int64_t j = 0; j < g->n; j++) {
        float sum = 0;
        for (int64_t k = 0; k < g->k; k++) {
            float a = load(g->a, d->a_trans ? k * g->lda + i : i * g->lda + k, d->a);
            float b = load(g->b, d->b_trans ? j * g->ldb + k : k * g->ldb + j, d->b);
            sum += rounded(a, d->compute) * rounded(b, d->compute);
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
