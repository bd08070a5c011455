/* op_conv2d.c: y = act(x * W + b) over images (B,H,W,C) -> (B,H',W',filters): cross-correlation, as
 * in every framework. W is (kernel_h,kernel_w,C/groups,filters). The three products are in conv.h;
 * with as many groups as channels there are none, see depthwise.h.
 *
 *     slot 0  y  = patches(x) . W + b
 *     slot 1  dx = patches(dy) . W turned over
 *     slot 2  dW = patches(x)' . dy              FP32, straight from the accumulators */
#include "config.h"

#include "op/conv_layer.h"

struct conv2d {
    struct conv_attrs conv;
    int64_t filters;
};

static const struct key keys[] = {
    {"filters", KEY_INT, offsetof(struct conv2d, filters), NULL, 1, 1 << 24, 0, NULL,
     "Channels of the output."},
    CONV_KEYS(struct conv2d, conv, WINDOW_PADDING_HELP),
    {0},
};

static enum rc fit(const struct node *n, const struct tensor *in, struct conv *c, struct diag *d)
{
    const struct conv2d *a = n->attrs.at;
    TRY(window_fit(&c->window, &a->conv.window, n, in, d));
    c->image_c = tensor_columns(in);
    c->map_c = a->filters;
    c->groups = a->conv.groups;
    return RC_OK;
}

static const struct conv_layer layer = {fit, CONV_MAP, CONV_IMAGE};

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    const struct conv2d *a = n->attrs.at;
    return conv_layer_shape(&layer, &a->conv, g, n, d);
}

static void plan(struct op_planner *p, struct node *n)
{
    conv_layer_plan(&layer, p, n);
}

static void forward(const struct op_run *r, const struct node *n)
{
    conv_layer_forward(&layer, r, n);
}

static void backward(const struct op_run *r, const struct node *n)
{
    conv_layer_backward(&layer, r, n);
}

static double flops(const struct graph *g, const struct node *n)
{
    return conv_layer_flops(&layer, g, n);
}

static const struct op_case cases[] = {
    {"{filters: 3, kernel: 3, padding: same}", 1, {{4, {2, 5, 4, 2}}}, 0},
    {"{filters: 4, kernel: [2, 3], stride: [2, 1], padding: 1, bias: false}",
     1,
     {{4, {3, 6, 5, 3}}},
     0},
    {"{filters: 2, kernel: 3, dilation: [2, 1], padding: [2, 2, 3, 1], stride: [1, 2]}",
     1,
     {{4, {2, 7, 6, 1}}},
     0},
    {"{filters: 6, kernel: 3, groups: 2, padding: same}", 1, {{4, {2, 4, 4, 4}}}, 0},
    {"{filters: 4, kernel: 3, groups: 4, padding: same}", 1, {{4, {2, 5, 5, 4}}}, 0},
    {"{filters: 3, kernel: [2, 3], groups: 3, stride: 2, padding: 1, bias: false}",
     1,
     {{4, {2, 5, 4, 3}}},
     0},
    {"{filters: 5, kernel: 1}", 1, {{4, {3, 4, 3, 7}}}, 0},
    {"{filters: 33, kernel: 2, init: xavier}", 1, {{4, {2, 2, 2, 32}}}, 0},
    {0},
};

const struct op op_conv2d = {
    .name = "conv2d",
    .help = "Convolution of images (B,H,W,C).",
    .kind = OP_LAYER,
    .class = OP_ALLOW,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct conv2d),
    .reads = OP_READS_IN,
    .takes_act = true,
    .shape = shape,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .flops = flops,
    .cases = cases,
};
