/* pooling.h: max_pool2d and avg_pool2d: a window slides over images (B,H,W,C), each channel by
 * itself. Works on rows of pixels in FP32; a thread has buffers in the node's scratch. */
#ifndef POOLING_H
#define POOLING_H

#include "op/window.h"

#define POOLING_STRIDE_HELP "Pixels from one window to the next. Without: the size of the window."

/* What the two do differently. Rows are of pixels of C channels. */
struct pooling {
    bool mean;                                    /* else the largest */
    bool (*counts_padding)(const struct node *n); /* mean only */
    const struct window_attrs *(*attrs)(const struct node *n);
};

MUST_USE enum rc pooling_shape(const struct pooling *p, struct graph *g, struct node *n,
                               struct diag *d);
void pooling_plan(const struct pooling *p, struct op_planner *planner, struct node *n);
void pooling_forward(const struct pooling *p, const struct op_run *r, const struct node *n);
void pooling_backward(const struct pooling *p, const struct op_run *r, const struct node *n);

#endif
