/* op_layernorm.c: y = (x - mean) / sqrt(var + eps) * weight + bias over the last dimension (Ba et
 * al. 2016), var divided by n. FP32 inside (row_norm.c). */
#include "config.h"

#include "op/row_norm.h"

static const struct key keys[] = {
    {"eps", KEY_FLOAT, offsetof(struct row_norm_attrs, eps), "1e-5", 0, 1, KEY_ABOVE_MIN, NULL,
     "Added to the mean of the squares."},
    {"affine", KEY_BOOL, offsetof(struct row_norm_attrs, affine), "true", 0, 0, 0, NULL,
     "Multiply by a weight, which starts at 1."},
    {"bias", KEY_BOOL, offsetof(struct row_norm_attrs, bias), "true", 0, 0, 0, NULL,
     "Add a bias, which starts at 0; only with affine."},
    {0},
};

static const struct row_norm kind = {.centres = true};

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    return row_norm_shape(&kind, g, n, d);
}

static void forward(const struct op_run *r, const struct node *n)
{
    row_norm_forward(&kind, r, n);
}

static void backward(const struct op_run *r, const struct node *n)
{
    row_norm_backward(&kind, r, n);
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {5, 7}}}, 0},
    {NULL, 1, {{3, {3, 4, 33}}}, 0},
    {"{bias: false, eps: 0.1}", 1, {{2, {3, 6}}}, 0},
    {"{affine: false}", 1, {{2, {4, 3}}}, 0},
    {0},
};

const struct op op_layernorm = {
    .name = "layernorm",
    .help = "Normalises each row of the last dimension by its mean and deviation.",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct row_norm_attrs),
    .reads = OP_READS_IN,
    .shape = shape,
    .plan = row_norm_plan,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
