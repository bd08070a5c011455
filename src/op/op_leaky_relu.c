/* op_leaky_relu.c: x above 0, slope x below, elementwise. */
#include "config.h"

#include "kern/kern_vec.h"
#include "op/op.h"

#include <stddef.h>

struct leaky_relu {
    double slope;
};

static const struct key keys[] = {
    {"slope", KEY_FLOAT, offsetof(struct leaky_relu, slope), "0.01", 0, 1, 0, NULL,
     "Factor on negative inputs."},
    {0},
};

static void f(const void *attrs, int64_t n, const float *x, float *out)
{
    const struct leaky_relu *a = attrs;
    kern_vec()->leaky_relu(n, x, (float)a->slope, out);
}

static void f_grad(const void *attrs, int64_t n, const float *x, const float *dy, float *out)
{
    const struct leaky_relu *a = attrs;
    kern_vec()->leaky_relu_grad(n, x, dy, (float)a->slope, out);
}

static void forward(const struct op_run *r, const struct node *n)
{
    op_map(r, n, f);
}

static void backward(const struct op_run *r, const struct node *n)
{
    op_map_grad(r, n, f_grad);
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {5, 7}}}, 0.05},
    {NULL, 1, {{3, {3, 11, 41}}}, 0.05},
    {"{slope: 0.25}", 1, {{2, {2, 3}}}, 0.05},
    {0},
};

const struct op op_leaky_relu = {
    .name = "leaky_relu",
    .help = "x above 0, slope times x below",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct leaky_relu),
    .reads = OP_READS_IN,
    .shape = op_shape_same,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
