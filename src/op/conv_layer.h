/* conv_layer.h: what conv2d and conv_transpose2d are, but for their direction. */
#ifndef CONV_LAYER_H
#define CONV_LAYER_H

#include "op/conv.h"

struct conv_attrs {
    struct window_attrs window;
    int64_t groups;
    bool bias;
    struct op_init_attrs init;
};

#define CONV_KEYS(type, field, padding_help)                                                       \
    WINDOW_KERNEL_KEY(type, field.window),                                                         \
        WINDOW_STRIDE_KEY(type, field.window, "1", "Pixels from one window to the next."),         \
        WINDOW_PADDING_KEY(type, field.window, padding_help),                                      \
        WINDOW_DILATION_KEY(type, field.window),                                                   \
        {"groups",                                                                                 \
         KEY_INT,                                                                                  \
         offsetof(type, field.groups),                                                             \
         "1",                                                                                      \
         1,                                                                                        \
         1 << 24,                                                                                  \
         0,                                                                                        \
         NULL,                                                                                     \
         "Groups of channels that do not see one another; divides both channel counts."},          \
        {"bias",                                                                                   \
         KEY_BOOL,                                                                                 \
         offsetof(type, field.bias),                                                               \
         "true",                                                                                   \
         0,                                                                                        \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "Add a bias. It starts uniform within 1/sqrt(fan_in) with init: kaiming, at 0 "           \
         "otherwise."},                                                                            \
        OP_INIT_KEYS(type, field.init)

struct conv_layer {
    /* Fills the geometry from the input and the node's keys. */
    enum rc (*fit)(const struct node *n, const struct tensor *in, struct conv *c, struct diag *d);
    enum conv_product out, d_in; /* what forward and the gradient of the input are */
};

MUST_USE enum rc conv_layer_shape(const struct conv_layer *l, const struct conv_attrs *a,
                                  struct graph *g, struct node *n, struct diag *d);
void conv_layer_plan(const struct conv_layer *l, struct op_planner *p, struct node *n);
void conv_layer_forward(const struct conv_layer *l, const struct op_run *r, const struct node *n);
void conv_layer_backward(const struct conv_layer *l, const struct op_run *r, const struct node *n);
double conv_layer_flops(const struct conv_layer *l, const struct graph *g, const struct node *n);

#endif
