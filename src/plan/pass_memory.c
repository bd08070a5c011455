/* pass_memory.c: where each tensor's bytes are. Params, their gradients, shadows, state, inputs and
 * scratch stand side by side for the whole run. Activations and their gradients share an arena:
 * largest first, each at the lowest place that is free during its life.
 *
 * Timeline of N nodes: forward of node i at i, backward of node i at 2N-1-i. */
#include "config.h"

#include "plan/pass.h"

#include <stdlib.h>

static bool is_passing(const struct tensor *t)
{
    return t->role == ROLE_ACT || t->role == ROLE_SAVED || t->role == ROLE_GRAD;
}

static void use(struct tensor *t, int when)
{
    if (t->first_use < 0 || when < t->first_use)
        t->first_use = when;
    if (when > t->last_use)
        t->last_use = when;
}

static void find_lives(struct plan *p)
{
    struct graph *g = &p->graph;
    for (int i = 0; i < g->n_nodes; i++) {
        const struct node *n = &g->nodes[i];
        int back = 2 * g->n_nodes - 1 - i;
        for (int k = 0; k < n->n_in; k++) {
            struct tensor *t = graph_tensor(g, n->in[k]);
            use(t, i);
            if (n->has_backward && n->op->reads & OP_READS_IN)
                use(t, back);
            if (n->has_backward && t->grad != TENSOR_NONE)
                use(graph_tensor(g, t->grad), back);
        }
        for (int k = 0; k < n->n_saved; k++) {
            use(graph_tensor(g, n->saved[k]), i);
            use(graph_tensor(g, n->saved[k]), n->has_backward ? back : i);
        }
        if (n->out == TENSOR_NONE)
            continue;
        struct tensor *out = graph_tensor(g, n->out);
        use(out, i);
        bool undoes = n->act != GEMM_ACT_NONE && n->pre == TENSOR_NONE;
        if (n->has_backward && (n->op->reads & OP_READS_OUT || undoes))
            use(out, back);
        if (out->grad != TENSOR_NONE)
            use(graph_tensor(g, out->grad), back);
    }
    /* the prediction is read after the forward pass, by eval and predict */
    use(graph_tensor(g, p->output), g->n_nodes);
}

static bool meet(const struct tensor *a, const struct tensor *b)
{
    return a->first_use <= b->last_use && b->first_use <= a->last_use;
}

/* The lowest offset at which t overlaps none of the placed ones that live when it does. */
static size_t lowest_place(const struct tensor *t, struct tensor *const *placed, int n)
{
    size_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < n; i++) {
            const struct tensor *o = placed[i];
            bool apart = at + t->bytes <= o->offset || o->offset + o->bytes <= at;
            if (!meet(t, o) || apart)
                continue;
            at = o->offset + o->bytes;
            moved = true;
        }
    }
    return at;
}

static int by_size(const void *a, const void *b)
{
    const struct tensor *x = *(struct tensor *const *)a, *y = *(struct tensor *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : 1; /* a fixed order: the plan must not depend on qsort */
}

static enum rc place_passing(struct plan *p, struct diag *d)
{
    struct graph *g = &p->graph;
    struct tensor **list = pool_array(&p->pool, (size_t)g->n_tensors, sizeof(struct tensor *));
    int n = 0;
    TRY_ALLOC(list, d);
    for (int i = 0; i < g->n_tensors; i++)
        if (is_passing(&g->tensors[i]))
            list[n++] = &g->tensors[i];
    qsort(list, (size_t)n, sizeof(*list), by_size);
    for (int i = 0; i < n; i++) {
        list[i]->offset = lowest_place(list[i], list, i);
        if (list[i]->offset + list[i]->bytes > p->totals.arena_bytes)
            p->totals.arena_bytes = list[i]->offset + list[i]->bytes;
    }
    return RC_OK;
}

static void count(struct plan *p, const struct tensor *t, size_t bytes)
{
    struct plan_totals *to = &p->totals;
    switch (t->role) {
    case ROLE_PARAM:
        to->param_bytes += bytes;
        to->parameters += tensor_elements(t);
        break;
    case ROLE_SHADOW:
        to->shadow_bytes += bytes;
        break;
    case ROLE_DPARAM:
        to->grad_bytes += bytes;
        break;
    case ROLE_STATE:
    case ROLE_STATISTIC:
    case ROLE_STAGED:
        to->state_bytes += bytes;
        break;
    case ROLE_ACT:
    case ROLE_SAVED:
    case ROLE_GRAD:
        to->activation_bytes += bytes;
        break;
    default:
        break;
    }
}

enum rc pass_memory(struct plan *p, struct diag *d)
{
    struct graph *g = &p->graph;
    size_t lasting = 0;
    for (int i = 0; i < g->n_tensors; i++) {
        struct tensor *t = &g->tensors[i];
        size_t bytes = t->role == ROLE_SHADOW
                           ? t->bytes
                       : t->role == ROLE_FUSED
                           ? 0
                           : (size_t)tensor_elements(t) * dtype_size(t->dtype);
        count(p, t, bytes);
        t->bytes = arena_round(bytes);
        if (is_passing(t))
            continue;
        t->offset = lasting;
        lasting += t->bytes;
    }
    find_lives(p);
    p->lasting.size = lasting + arena_round(p->totals.scratch_bytes);
    return place_passing(p, d);
}
