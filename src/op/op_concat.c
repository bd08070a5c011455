/* op_concat.c: several tensors side by side in the last dimension (channels, features). Moves
 * values only. */
#include "config.h"

#include "base/par.h"
#include "kern/kern_vec.h"
#include "op/op.h"

#include <string.h>

enum { ROWS = 256 }; /* that one thread takes at a time */

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    struct tensor out = *graph_tensor(g, n->in[0]);
    for (int i = 1; i < n->n_in; i++) {
        const struct tensor *t = graph_tensor(g, n->in[i]);
        char a[TENSOR_SHAPE_ROOM], b[TENSOR_SHAPE_ROOM];
        size_t inner = (size_t)(out.rank - 1) * sizeof(out.dims[0]);
        if (t->rank != out.rank || memcmp(t->dims, out.dims, inner) != 0)
            return diag_error(d, RC_CONFIG, n->loc,
                              "concat '%s': '%s' %s and '%s' %s must differ in the last dimension "
                              "only",
                              n->name, graph_tensor(g, n->in[0])->name,
                              tensor_shape(a, graph_tensor(g, n->in[0])), t->name,
                              tensor_shape(b, t));
        out.dims[out.rank - 1] += tensor_columns(t);
    }
    return op_add_out(g, n, out.rank, out.dims, d);
}

struct job {
    struct view part, whole;
    int64_t rows, columns, all, at; /* of the part, of the whole, where the part begins */
    bool back, add;
};

static char *place(struct view v, int64_t element)
{
    return (char *)v.data + (size_t)element * dtype_size(v.dtype);
}

static void add_rows(const struct job *j, int64_t row, int64_t end)
{
    float tile[KERN_TILE];
    for (; row < end; row++)
        for (int64_t c = 0; c < j->columns; c += KERN_TILE) {
            int64_t n = j->columns - c < KERN_TILE ? j->columns - c : KERN_TILE;
            kern_store_add(j->part, row * j->columns + c, n,
                           kern_load(j->whole, row * j->all + j->at + c, n, tile));
        }
}

static void move_rows(void *context, int64_t block)
{
    const struct job *j = context;
    int64_t row = block * ROWS, end = row + ROWS < j->rows ? row + ROWS : j->rows;
    size_t item = dtype_size(j->part.dtype), part = (size_t)j->columns * item;
    size_t whole = (size_t)j->all * item;
    char *inside = place(j->whole, row * j->all + j->at), *own = place(j->part, row * j->columns);
    if (j->add)
        add_rows(j, row, end);
    else if (j->back)
        kern_vec()->rows_copy(end - row, part, own, part, inside, whole);
    else
        kern_vec()->rows_copy(end - row, part, inside, whole, own, part);
}

static void move(const struct op_run *r, const struct node *n, bool back)
{
    int64_t at = 0, all = tensor_columns(graph_tensor(r->graph, n->out));
    for (int i = 0; i < n->n_in; i++) {
        struct job j = {.part = back ? op_d_in(r, n, i) : op_view(r, n->in[i]),
                        .whole = back ? op_d_out(r, n) : op_view(r, n->out),
                        .columns = tensor_columns(graph_tensor(r->graph, n->in[i])),
                        .all = all,
                        .at = at,
                        .back = back,
                        .add = back && n->grad_adds[i]};
        j.rows = op_elements(r, n->in[i]) / j.columns;
        if (j.part.data)
            par_for((j.rows + ROWS - 1) / ROWS, move_rows, &j);
        at += j.columns;
    }
}

static void forward(const struct op_run *r, const struct node *n)
{
    move(r, n, false);
}

static void backward(const struct op_run *r, const struct node *n)
{
    move(r, n, true);
}

static const struct op_case cases[] = {
    {NULL, 2, {{2, {5, 7}}, {2, {5, 3}}}, 0},
    {NULL, 3, {{4, {2, 3, 2, 1}}, {4, {2, 3, 2, 33}}, {4, {2, 3, 2, 4}}}, 0},
    {0},
};

const struct op op_concat = {
    .name = "concat",
    .help = "Tensors side by side in the last dimension.",
    .kind = OP_LAYER,
    .class = OP_CLEAR,
    .in_min = 2,
    .in_max = NODE_MAX_IN,
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
