/* op_tanh.c: tanh(x), elementwise; the gradient 1 - y^2 needs the output only. */
#include "config.h"

#include "kern/kern_vec.h"
#include "op/op.h"

static void f(const void *attrs, int64_t n, const float *x, float *out)
{
    (void)attrs;
    kern_vec()->tanh(n, x, out);
}

static void f_grad(const void *attrs, int64_t n, const float *y, const float *dy, float *out)
{
    (void)attrs;
    kern_vec()->tanh_grad(n, y, dy, out);
}

static void forward(const struct op_run *r, const struct node *n)
{
    op_map(r, n, f);
}

static void backward(const struct op_run *r, const struct node *n)
{
    op_map_grad(r, n, f_grad);
}

static enum gemm_act as_act(const struct node *n)
{
    (void)n;
    return GEMM_ACT_TANH;
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {5, 7}}}, 0},
    {NULL, 1, {{3, {3, 11, 41}}}, 0},
    {0},
};

const struct op op_tanh = {
    .name = "tanh",
    .help = "Hyperbolic tangent",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 1,
    .in_max = 1,
    .reads = OP_READS_OUT,
    .shape = op_shape_same,
    .forward = forward,
    .backward = backward,
    .as_act = as_act,
    .cases = cases,
};
