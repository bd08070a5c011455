/* row_norm.h: layernorm and rmsnorm: each row of the last dimension normalised by its own mean and
 * deviation, or by its root mean square. FP32 inside. */
#ifndef ROW_NORM_H
#define ROW_NORM_H

#include "op/op.h"

struct row_norm_attrs {
    double eps;
    bool affine, bias; /* bias: layernorm only */
};

struct row_norm {
    bool centres; /* subtracts the mean */
};

MUST_USE enum rc row_norm_shape(const struct row_norm *k, struct graph *g, struct node *n,
                                struct diag *d);
void row_norm_plan(struct op_planner *p, struct node *n);
void row_norm_forward(const struct row_norm *k, const struct op_run *r, const struct node *n);
void row_norm_backward(const struct row_norm *k, const struct op_run *r, const struct node *n);

#endif
