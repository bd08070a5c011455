/* pass_verify.c: what later code relies on. A fault found here is ours, not the user's. */
#include "config.h"

#include "plan/pass.h"

static void verify_node(const struct plan *p, const struct node *n)
{
    const struct graph *g = &p->graph;
    bool cast = n->op == op_get(OP_cast);
    for (int k = 0; k < n->n_in; k++) {
        const struct tensor *t = graph_tensor(g, n->in[k]);
        /* a kernel never meets a mix of types, and a node reads only what stands before it */
        BUG_IF(!cast && n->in[k] != p->target && t->dtype != n->dtype);
        BUG_IF(t->role == ROLE_ACT && t->first_use >= n->id);
        BUG_IF(t->grad != TENSOR_NONE && graph_tensor(g, t->grad)->dtype != t->dtype);
    }
    BUG_IF(n->out != TENSOR_NONE && graph_tensor(g, n->out)->dtype != n->dtype);
    for (int k = 0; k < n->n_params; k++)
        BUG_IF(graph_tensor(g, n->param[k])->dtype != DTYPE_F32); /* masters */
}

enum rc pass_verify(struct plan *p, struct diag *d)
{
    (void)d;
    const struct graph *g = &p->graph;
    for (int i = 0; i < g->n_nodes; i++)
        verify_node(p, &g->nodes[i]);
    for (int i = 0; i < g->n_tensors; i++)
        for (int j = 0; j < i; j++) {
            const struct tensor *a = &g->tensors[i], *b = &g->tensors[j];
            if (a->first_use < 0 || b->first_use < 0 || a->role == ROLE_INPUT ||
                b->role == ROLE_INPUT)
                continue;
            bool alive_together = a->first_use <= b->last_use && b->first_use <= a->last_use;
            bool overlap = a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
            BUG_IF(alive_together && overlap);
        }
    return RC_OK;
}
