/* op_gelu.c: x/2 (1 + erf(x/sqrt 2)), or its tanh approximation, elementwise (Hendrycks and
 * Gimpel 2016). */
#include "config.h"

#include "kern/kern_vec.h"
#include "op/op.h"

#include <stddef.h>

enum { GELU_EXACT, GELU_TANH };

struct gelu {
    int approximate;
};

static const struct key keys[] = {
    {"approximate", KEY_CHOICE, offsetof(struct gelu, approximate), "none", 0, 0, 0, "none|tanh",
     "none: with erf; tanh: the approximation that GPT-2 uses."},
    {0},
};

static void f(const void *attrs, int64_t n, const float *x, float *out)
{
    const struct gelu *a = attrs;
    (a->approximate == GELU_TANH ? kern_vec()->gelu_tanh : kern_vec()->gelu)(n, x, out);
}

static void f_grad(const void *attrs, int64_t n, const float *x, const float *dy, float *out)
{
    const struct gelu *a = attrs;
    (a->approximate == GELU_TANH ? kern_vec()->gelu_tanh_grad : kern_vec()->gelu_grad)(n, x, dy,
                                                                                       out);
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
    const struct gelu *a = n->attrs.at;
    return a->approximate == GELU_TANH ? GEMM_ACT_GELU_TANH : GEMM_ACT_GELU;
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {5, 7}}}, 0},
    {NULL, 1, {{3, {3, 11, 41}}}, 0},
    {"{approximate: tanh}", 1, {{2, {5, 7}}}, 0},
    {"{approximate: tanh}", 1, {{3, {3, 11, 41}}}, 0},
    {0},
};

const struct op op_gelu = {
    .name = "gelu",
    .help = "x/2 (1 + erf(x/sqrt 2))",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct gelu),
    .reads = OP_READS_IN,
    .shape = op_shape_same,
    .forward = forward,
    .backward = backward,
    .as_act = as_act,
    .cases = cases,
};
