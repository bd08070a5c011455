/* pass_kernels.c: lets each op pick its kernel rows and book scratch, and adds the optimizer's
 * state. dtypes and gradients are final here. */
#include "config.h"

#include "plan/pass.h"

static enum rc add_states(struct plan *p, struct diag *d)
{
    struct graph *g = &p->graph;
    const struct optimizer_spec *o = &p->spec->optimizer;
    int n_states = optim_states(o->optim, o->attrs.at), n_tensors = g->n_tensors;
    for (int i = 0; i < n_tensors; i++) {
        struct tensor t = *graph_tensor(g, i);
        for (int s = 0; t.role == ROLE_PARAM && s < n_states; s++) {
            const char *name = pool_printf(&p->pool, "%s.%s", t.name, o->optim->states[s]);
            TRY_ALLOC(name, d);
            int id = graph_add_tensor(g, name, ROLE_STATE, DTYPE_F32, false, t.rank, t.dims);
            if (id == TENSOR_NONE)
                return diag_no_memory(d);
            graph_tensor(g, id)->of = i;
        }
    }
    return RC_OK;
}

enum rc pass_kernels(struct plan *p, struct diag *d)
{
    struct graph *g = &p->graph;
    struct op_planner planner = {g, &p->pool, p->training, false};
    for (int i = 0; i < g->n_nodes; i++) {
        struct node *n = &g->nodes[i];
        if (n->op->plan)
            n->op->plan(&planner, n);
        if (n->scratch_bytes > p->totals.scratch_bytes)
            p->totals.scratch_bytes = n->scratch_bytes;
        /* backward: as much again for each gradient that a GEMM makes */
        p->totals.flops_per_step += n->flops * (n->has_backward && n->n_params ? 2 : 1);
        if (n->has_backward && graph_tensor(g, n->in[0])->grad != TENSOR_NONE)
            p->totals.flops_per_step += n->flops;
    }
    p->totals.flops_per_step *= (double)p->spec->train.accumulate;
    if (planner.failed)
        return diag_no_memory(d);
    return p->training ? add_states(p, d) : RC_OK;
}
