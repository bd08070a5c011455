/* op_cast.c: changes the dtype, from that of its input to the node's. Inserted by
 * plan/pass_precision.c where the two ends of an edge differ; its gradient is the cast back. */
#include "config.h"

#include "op/op.h"

static void forward(const struct op_run *r, const struct node *n)
{
    op_copy(op_view(r, n->out), op_view(r, n->in[0]), op_elements(r, n->out), false);
}

static void backward(const struct op_run *r, const struct node *n)
{
    if (op_d_in(r, n, 0).data)
        op_copy(op_d_in(r, n, 0), op_d_out(r, n), op_elements(r, n->out), n->grad_adds[0]);
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {5, 7}}}, 0},
    {NULL, 1, {{3, {3, 11, 41}}}, 0},
    {0},
};

const struct op op_cast = {
    .name = "cast",
    .help = "Changes the precision of a tensor.",
    .kind = OP_INTERNAL,
    .class = OP_CLEAR,
    .in_min = 1,
    .in_max = 1,
    .shape = op_shape_same,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
