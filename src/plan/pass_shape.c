/* pass_shape.c: every tensor that the forward pass has. Runs after pass_build. */
#include "config.h"

#include "plan/pass.h"

#include <string.h>

static enum rc add_batch(struct plan *p, struct diag *d)
{
    const struct plan_data *data = p->data;
    bool classes = p->spec->loss.op->target == TARGET_CLASS;
    int64_t dims[TENSOR_MAX_RANK] = {p->graph.batch};
    int64_t target[2] = {p->graph.batch, data->target_columns ? data->target_columns : 1};
    if (data->rank + 1 > TENSOR_MAX_RANK)
        return diag_error(d, RC_CONFIG, p->spec->data_section.loc,
                          "rows of %d dimensions: at most %d", data->rank, TENSOR_MAX_RANK - 1);
    memcpy(dims + 1, data->dims, (size_t)data->rank * sizeof(*dims));
    p->input = graph_add_tensor(&p->graph, "input", ROLE_INPUT, DTYPE_F32, true, data->rank + 1,
                                dims);
    p->target = graph_add_tensor(&p->graph, "target", ROLE_INPUT, classes ? DTYPE_I32 : DTYPE_F32,
                                 true, classes ? 1 : 2, target);
    return p->input == TENSOR_NONE || p->target == TENSOR_NONE ? diag_no_memory(d) : RC_OK;
}

enum rc pass_shape(struct plan *p, struct diag *d)
{
    struct graph *g = &p->graph;
    TRY(add_batch(p, d));
    for (int i = 0; i < g->n_nodes; i++) {
        struct node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++) {
            int from = n->in[k];
            n->in[k] = from == PASS_READS_INPUT    ? p->input
                       : from == PASS_READS_TARGET ? p->target
                                                   : g->nodes[from].out;
        }
        /* predict knows no targets: take as many as the model gives */
        if (n->op->kind == OP_LOSS && n->op->target == TARGET_REAL && p->data->target_columns == 0)
            graph_tensor(g, p->target)->dims[1] = tensor_row_elements(graph_tensor(g, n->in[0]));
        TRY(n->op->shape(g, n, d));
        if (n->op->flops)
            n->flops = n->op->flops(g, n);
    }
    p->output = g->nodes[p->loss].in[0];
    return RC_OK;
}
