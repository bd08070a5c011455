/* op_conv_transpose2d.c: y = act(the transpose of a convolution applied to x, + b), images
 * (B,H,W,C) -> (B,H',W',filters): what conv2d with this window does to a gradient. W is
 * (kernel_h,kernel_w,filters/groups,C): the weight of that convolution, from y to x. conv.h has the
 * products.
 *
 *     slot 0  y  = patches(x, spread by the stride) . W turned over + b
 *     slot 1  dx = patches(dy) . W
 *     slot 2  dW = patches(dy)' . x */
#include "config.h"

#include "op/conv_layer.h"

struct conv_transpose2d {
    struct conv_attrs conv;
    int64_t filters;
    struct key_list output_padding;
};

static const struct key keys[] = {
    {"filters", KEY_INT, offsetof(struct conv_transpose2d, filters), NULL, 1, 1 << 24, 0, NULL,
     "Channels of the output."},
    CONV_KEYS(struct conv_transpose2d, conv,
              "valid: (size-1) stride + window pixels come out. same: size x stride. Or what is "
              "cut off: on all sides; of height and width; of top, left, bottom and right."),
    {"output_padding", KEY_INTS, offsetof(struct conv_transpose2d, output_padding), "0", 0, 1 << 15,
     0, NULL,
     "Pixels that come out in addition, at the bottom and right; below the stride. Not with "
     "padding: same."},
    {0},
};

static enum rc fit(const struct node *n, const struct tensor *in, struct conv *c, struct diag *d)
{
    const struct conv_transpose2d *a = n->attrs.at;
    TRY(window_unfit(&c->window, &a->conv.window, &a->output_padding, n, in, d));
    c->image_c = a->filters;
    c->map_c = tensor_columns(in);
    c->groups = a->conv.groups;
    return RC_OK;
}

static const struct conv_layer layer = {fit, CONV_IMAGE, CONV_MAP};

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    const struct conv_transpose2d *a = n->attrs.at;
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
    {"{filters: 3, kernel: 3}", 1, {{4, {2, 3, 4, 2}}}, 0},
    {"{filters: 4, kernel: 3, stride: 2, padding: same}", 1, {{4, {2, 3, 4, 3}}}, 0},
    {"{filters: 2, kernel: 4, stride: 2, padding: 1, bias: false}", 1, {{4, {2, 3, 3, 5}}}, 0},
    {"{filters: 4, kernel: [3, 2], stride: [3, 2], output_padding: [2, 1], groups: 2}",
     1,
     {{4, {2, 2, 3, 6}}},
     0},
    {"{filters: 17, kernel: 2, stride: 2}", 1, {{4, {1, 1, 2, 34}}}, 0},
    {0},
};

const struct op op_conv_transpose2d = {
    .name = "conv_transpose2d",
    .help = "Transposed convolution of images (B,H,W,C): makes them larger.",
    .kind = OP_LAYER,
    .class = OP_ALLOW,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct conv_transpose2d),
    .reads = OP_READS_IN,
    .takes_act = true,
    .shape = shape,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .flops = flops,
    .cases = cases,
};
