/* pass_backward.c: which tensors have a gradient, and which of its writers add. Backward runs the
 * nodes in reverse; the first that writes a gradient overwrites, later ones add. */
#include "config.h"

#include "plan/pass.h"

static bool needs_backward(const struct plan *p, const struct node *n, const bool *wanted)
{
    if (n->n_params > 0)
        return true;
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k] != p->target && wanted[n->in[k]])
            return true;
    return false;
}

static enum rc add_gradient(struct plan *p, int id, struct diag *d)
{
    struct tensor t = *graph_tensor(&p->graph, id); /* a copy: tensors move */
    const char *name = pool_printf(&p->pool, "d_%s", t.name);
    TRY_ALLOC(name, d);
    int grad = graph_add_tensor(&p->graph, name, ROLE_GRAD, t.dtype, t.batched, t.rank, t.dims);
    if (grad == TENSOR_NONE)
        return diag_no_memory(d);
    graph_tensor(&p->graph, id)->grad = grad;
    graph_tensor(&p->graph, grad)->of = id;
    return RC_OK;
}

enum rc pass_backward(struct plan *p, struct diag *d)
{
    struct graph *g = &p->graph;
    bool *wanted = pool_array(&p->pool, (size_t)g->n_tensors, sizeof(*wanted));
    bool *written = pool_array(&p->pool, (size_t)g->n_tensors, sizeof(*written));
    TRY_ALLOC(wanted, d);
    TRY_ALLOC(written, d);
    if (!p->training)
        return RC_OK;
    for (int i = 0; i < g->n_nodes; i++) {
        struct node *n = &g->nodes[i];
        n->has_backward = needs_backward(p, n, wanted);
        if (n->out == TENSOR_NONE || !n->has_backward)
            continue;
        wanted[n->out] = true;
        TRY(add_gradient(p, n->out, d));
    }
    if (!g->nodes[p->loss].has_backward)
        return diag_error(d, RC_CONFIG, p->spec->top_section.loc,
                          "the model has no weights: there is nothing to train");
    for (int i = g->n_nodes - 1; i >= 0; i--) {
        struct node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++) {
            n->grad_adds[k] = written[n->in[k]];
            written[n->in[k]] = true;
        }
    }
    return RC_OK;
}
