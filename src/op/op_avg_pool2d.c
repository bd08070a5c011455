/* op_avg_pool2d.c: the mean of each window of an image (B,H,W,C), each channel by itself. Summed in
 * FP32, rounded once. */
#include "config.h"

#include "op/pooling.h"

struct avg_pool2d {
    struct window_attrs window;
    bool count_padding;
};

static const struct key keys[] = {
    WINDOW_KERNEL_KEY(struct avg_pool2d, window),
    WINDOW_STRIDE_KEY(struct avg_pool2d, window, "[]", POOLING_STRIDE_HELP),
    WINDOW_PADDING_KEY(struct avg_pool2d, window, WINDOW_PADDING_HELP),
    {"count_padding", KEY_BOOL, offsetof(struct avg_pool2d, count_padding), "true", 0, 0, 0, NULL,
     "Padding counts as zeros; otherwise the mean is of the pixels that are there."},
    {0},
};

static const struct window_attrs *attrs(const struct node *n)
{
    return &((const struct avg_pool2d *)n->attrs.at)->window;
}

static bool counts_padding(const struct node *n)
{
    return ((const struct avg_pool2d *)n->attrs.at)->count_padding;
}

static const struct pooling pooling = {
    .mean = true, .counts_padding = counts_padding, .attrs = attrs};

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
    {"{kernel: 2}", 1, {{4, {2, 4, 6, 3}}}, 0},
    {"{kernel: 3, stride: 2, padding: 1}", 1, {{4, {3, 5, 4, 2}}}, 0},
    {"{kernel: [2, 3], stride: 1, padding: same, count_padding: false}", 1, {{4, {2, 3, 5, 4}}}, 0},
    {0},
};

const struct op op_avg_pool2d = {
    .name = "avg_pool2d",
    .help = "Mean of each window of images (B,H,W,C).",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct avg_pool2d),
    .shape = shape,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
