/* op_add.c: the sum of two or more tensors of one shape (residual connections). Summed in FP32 in
 * the order of the inputs, rounded once. */
#include "config.h"

#include "kern/kern_vec.h"
#include "op/op.h"

#include <string.h>

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    const struct tensor *first = graph_tensor(g, n->in[0]);
    for (int i = 1; i < n->n_in; i++) {
        const struct tensor *t = graph_tensor(g, n->in[i]);
        if (t->rank == first->rank &&
            memcmp(t->dims, first->dims, (size_t)t->rank * sizeof(t->dims[0])) == 0)
            continue;
        char a[TENSOR_SHAPE_ROOM], b[TENSOR_SHAPE_ROOM];
        return diag_error(d, RC_CONFIG, n->loc,
                          "add '%s': '%s' %s and '%s' %s differ in shape; only tensors of one "
                          "shape can be added",
                          n->name, first->name, tensor_shape(a, first), t->name,
                          tensor_shape(b, t));
    }
    return op_add_out_like(g, n, 0, d);
}

struct job {
    struct view from[NODE_MAX_IN], to;
    int n_from;
};

static void add_tile(void *context, int64_t at, int64_t n)
{
    const struct job *j = context;
    float sum[KERN_TILE], tile[KERN_TILE], other[KERN_TILE];
    const float *x = kern_load(j->from[0], at, n, tile);
    for (int i = 1; i < j->n_from; i++) {
        kern_vec()->add(n, x, kern_load(j->from[i], at, n, other), sum);
        x = sum;
    }
    kern_store(j->to, at, n, x);
}

static void forward(const struct op_run *r, const struct node *n)
{
    struct job job = {.to = op_view(r, n->out), .n_from = n->n_in};
    for (int i = 0; i < n->n_in; i++)
        job.from[i] = op_view(r, n->in[i]);
    op_tiles(op_elements(r, n->out), add_tile, &job);
}

static void backward(const struct op_run *r, const struct node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (op_d_in(r, n, i).data)
            op_copy(op_d_in(r, n, i), op_d_out(r, n), op_elements(r, n->out), n->grad_adds[i]);
}

static const struct op_case cases[] = {
    {NULL, 2, {{2, {5, 7}}, {2, {5, 7}}}, 0},
    {NULL, 3, {{3, {3, 11, 41}}, {3, {3, 11, 41}}, {3, {3, 11, 41}}}, 0},
    {0},
};

const struct op op_add = {
    .name = "add",
    .help = "Sum of tensors of one shape.",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 2,
    .in_max = NODE_MAX_IN,
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
