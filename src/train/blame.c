/* blame.c: see blame.h. */
#include "config.h"

#include "train/blame.h"

#include <math.h>

struct census {
    int64_t inf, nan;
    double max_finite;
};

static struct census look(struct view v, int64_t n)
{
    struct census c = {0};
    float tile[KERN_TILE];
    for (int64_t at = 0; at < n; at += KERN_TILE) {
        int64_t length = n - at < KERN_TILE ? n - at : KERN_TILE;
        const float *x = kern_load(v, at, length, tile);
        for (int64_t i = 0; i < length; i++) {
            if (isnan(x[i]))
                c.nan++;
            else if (isinf(x[i]))
                c.inf++;
            else
                c.max_finite = fmax(c.max_finite, fabs((double)x[i]));
        }
    }
    return c;
}

/* True where tensor t is not finite; then it is the one to blame. */
static bool is_bad(const struct op_run *r, int id, const char *node, struct step_blame *out)
{
    const struct tensor *t = graph_tensor(r->graph, id);
    struct view v = op_view(r, id);
    int64_t n = op_elements(r, id);
    if (kern_count_nonfinite(v, n) == 0)
        return false;
    struct census c = look(v, n);
    out->tensor = t->name;
    out->node = node;
    out->kind = c.nan > c.inf ? "nan" : "inf";
    out->count = c.inf + c.nan;
    out->max_finite = c.max_finite;
    return true;
}

/* The layer that the user wrote: of a cast, the node whose output it casts. */
static const char *user_node(const struct graph *g, const struct node *n)
{
    while (n->op == op_get(OP_cast)) {
        const struct node *from = NULL;
        for (int i = 0; i < n->id; i++)
            if (g->nodes[i].out == n->in[0])
                from = &g->nodes[i];
        if (!from)
            break;
        n = from;
    }
    return n->name;
}

bool blame_forward(const struct op_run *r, const struct plan *p, struct step_blame *out)
{
    out->forward = true;
    for (int i = 0; i < r->graph->n_nodes; i++) {
        const struct node *n = &r->graph->nodes[i];
        n->op->forward(r, n);
        if (n->out != TENSOR_NONE && is_bad(r, n->out, user_node(r->graph, n), out))
            return true;
    }
    if (isfinite(r->loss->sum))
        return false;
    out->tensor = out->node = p->graph.nodes[p->loss].name;
    out->kind = isnan(r->loss->sum) ? "nan" : "inf";
    out->count = 1;
    out->max_finite = 0;
    return true;
}

static const char *producer(const struct graph *g, int tensor, const char *other)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].out == tensor)
            return user_node(g, &g->nodes[i]);
    return other;
}

bool blame_backward(const struct op_run *r, const struct plan *p, struct step_blame *out)
{
    const struct graph *g = &p->graph;
    out->forward = false;
    for (int i = g->n_nodes - 1; i >= 0; i--) {
        const struct node *n = &g->nodes[i];
        if (!n->has_backward)
            continue;
        n->op->backward(r, n);
        for (int k = 0; k < n->n_in; k++) {
            int grad = graph_tensor(g, n->in[k])->grad;
            if (grad != TENSOR_NONE && is_bad(r, grad, producer(g, n->in[k], n->name), out))
                return true;
        }
        for (int k = 0; k < n->n_params; k++)
            if (is_bad(r, graph_tensor(g, n->param[k])->grad, n->name, out))
                return true;
    }
    return false;
}

void blame_unknown(struct step_blame *out)
{
    out->forward = false;
    out->tensor = out->node = "";
    out->kind = "inf";
    out->count = 0;
    out->max_finite = 0;
}
