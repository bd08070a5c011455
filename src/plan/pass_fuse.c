/* pass_fuse.c: an activation behind a layer that can apply it while it stores its output becomes
 * part of that layer: the tensor between them is never stored, or only where backward reads it.
 *
 * They stay apart where someone else reads that tensor, or where the two run in different types. */
#include "config.h"

#include "plan/pass.h"

static int readers(const struct graph *g, int tensor)
{
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++)
            n += g->nodes[i].in[k] == tensor;
    return n;
}

static const struct node *reader(const struct graph *g, int tensor)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].n_in == 1 && g->nodes[i].in[0] == tensor)
            return &g->nodes[i];
    return NULL;
}

static const struct node *fusible(const struct plan *p, const struct node *n)
{
    if (!n->op->takes_act || n->act != GEMM_ACT_NONE || n->out == p->output ||
        readers(&p->graph, n->out) != 1)
        return NULL;
    const struct node *next = reader(&p->graph, n->out);
    return next && next->op->as_act && next->dtype == n->dtype ? next : NULL;
}

enum rc pass_fuse(struct plan *p, struct diag *d)
{
    (void)d;
    struct graph *g = &p->graph;
    for (int i = 0; i < g->n_nodes; i++) {
        struct node *n = &g->nodes[i];
        const struct node *next = fusible(p, n);
        if (!next)
            continue;
        struct tensor *between = graph_tensor(g, n->out);
        n->act = (int)next->op->as_act(next);
        n->act_name = next->name;
        between->role = ROLE_FUSED;
        if (p->training && !kern_gemm_act_reads_out((enum gemm_act)n->act)) {
            between->role = ROLE_SAVED;
            n->pre = n->saved[n->n_saved++] = n->out;
        }
        n->out = next->out;
        graph_remove_node(g, next->id);
    }
    p->loss = g->n_nodes - 1;
    return RC_OK;
}
