/* op_flatten.c: (B,...) -> (B,C): all inner dimensions become one. Moves values only. */
#include "config.h"

#include "op/op.h"

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    const struct tensor *in = graph_tensor(g, n->in[0]);
    int64_t dims[2] = {in->dims[0], tensor_row_elements(in)};
    return op_add_out(g, n, 2, dims, d);
}

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
    {NULL, 1, {{4, {3, 5, 7, 2}}}, 0},
    {NULL, 1, {{3, {3, 11, 41}}}, 0},
    {NULL, 1, {{2, {2, 3}}}, 0},
    {0},
};

const struct op op_flatten = {
    .name = "flatten",
    .help = "Makes all dimensions but the batch one.",
    .kind = OP_LAYER,
    .class = OP_CLEAR,
    .in_min = 1,
    .in_max = 1,
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
