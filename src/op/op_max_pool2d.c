/* op_max_pool2d.c: the largest value in each window of an image (B,H,W,C), each channel by itself.
 * Padding is never the largest. The gradient goes to the first pixel that has the value. */
#include "config.h"

#include "op/pooling.h"

struct max_pool2d {
    struct window_attrs window;
};

static const struct key keys[] = {
    WINDOW_KERNEL_KEY(struct max_pool2d, window),
    WINDOW_STRIDE_KEY(struct max_pool2d, window, "[]", POOLING_STRIDE_HELP),
    WINDOW_PADDING_KEY(struct max_pool2d, window, WINDOW_PADDING_HELP),
    WINDOW_DILATION_KEY(struct max_pool2d, window),
    {0},
};

static const struct window_attrs *attrs(const struct node *n)
{
    return &((const struct max_pool2d *)n->attrs.at)->window;
}

static const struct pooling pooling = {.attrs = attrs};

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    return pooling_shape(&pooling, g, n, d);
}

static void plan(struct op_planner *p, struct node *n)
{
    pooling_plan(&pooling, p, n);
}

static void forward(const struct op_run *r, const struct node *n)
{
    pooling_forward(&pooling, r, n);
}

static void backward(const struct op_run *r, const struct node *n)
{
    pooling_backward(&pooling, r, n);
}

static const struct op_case cases[] = {
    {"{kernel: 2}", 1, {{4, {1, 4, 4, 3}}}, 0},
    {"{kernel: [3, 2], stride: [2, 1], padding: same}", 1, {{4, {2, 3, 3, 1}}}, 0},
    {"{kernel: 3, dilation: 2, stride: 1, padding: 2}", 1, {{4, {1, 4, 5, 1}}}, 0},
    {0},
};

const struct op op_max_pool2d = {
    .name = "max_pool2d",
    .help = "Largest value in each window of images (B,H,W,C).",
    .kind = OP_LAYER,
    .class = OP_CLEAR,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct max_pool2d),
    .reads = OP_READS_IN | OP_READS_OUT,
    .shape = shape,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
