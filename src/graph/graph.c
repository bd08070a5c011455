/* graph.c: see graph.h. */
#include "config.h"

#include "graph/graph.h"

#include <string.h>

void graph_init(struct graph *g, struct pool *pool, int64_t batch)
{
    memset(g, 0, sizeof(*g));
    g->pool = pool;
    g->batch = batch;
}

int graph_add_tensor(struct graph *g, const char *name, enum role role, enum dtype dtype,
                     bool batched, int rank, const int64_t *dims)
{
    BUG_IF(rank < 0 || rank > TENSOR_MAX_RANK);
    if (g->n_tensors == g->room_tensors) {
        int room = g->room_tensors ? 2 * g->room_tensors : 64;
        struct tensor *more = pool_grow(g->pool, g->tensors, (size_t)g->n_tensors, (size_t)room,
                                        sizeof(*more));
        if (!more)
            return TENSOR_NONE;
        g->tensors = more;
        g->room_tensors = room;
    }
    const char *own_name = pool_strdup(g->pool, name);
    if (!own_name)
        return TENSOR_NONE;
    struct tensor *t = &g->tensors[g->n_tensors];
    memset(t, 0, sizeof(*t));
    t->name = own_name;
    t->role = role;
    t->dtype = dtype;
    t->batched = batched;
    t->rank = rank;
    for (int i = 0; i < rank; i++)
        t->dims[i] = dims[i];
    t->of = t->grad = TENSOR_NONE;
    t->first_use = t->last_use = -1;
    return g->n_tensors++;
}

struct node *graph_insert_node(struct graph *g, int at, const struct op *op, const char *name)
{
    if (g->n_nodes == g->room_nodes) {
        int room = g->room_nodes ? 2 * g->room_nodes : 32;
        struct node *more = pool_grow(g->pool, g->nodes, (size_t)g->n_nodes, (size_t)room,
                                      sizeof(*more));
        if (!more)
            return NULL;
        g->nodes = more;
        g->room_nodes = room;
    }
    const char *own_name = pool_strdup(g->pool, name);
    if (!own_name)
        return NULL;
    memmove(&g->nodes[at + 1], &g->nodes[at], (size_t)(g->n_nodes - at) * sizeof(*g->nodes));
    g->n_nodes++;
    struct node *n = &g->nodes[at];
    memset(n, 0, sizeof(*n));
    n->op = op;
    n->name = own_name;
    n->out = n->pre = TENSOR_NONE;
    for (int i = 0; i < NODE_MAX_GEMMS; i++)
        n->shadow[i] = TENSOR_NONE;
    for (int i = 0; i < g->n_nodes; i++)
        g->nodes[i].id = i;
    return n;
}

void graph_remove_node(struct graph *g, int at)
{
    g->n_nodes--;
    memmove(&g->nodes[at], &g->nodes[at + 1], (size_t)(g->n_nodes - at) * sizeof(*g->nodes));
    for (int i = at; i < g->n_nodes; i++)
        g->nodes[i].id = i;
}

struct tensor *graph_tensor(const struct graph *g, int id)
{
    BUG_IF(id < 0 || id >= g->n_tensors);
    return &g->tensors[id];
}

struct node *graph_find_node(const struct graph *g, const char *name)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (strcmp(g->nodes[i].name, name) == 0)
            return &g->nodes[i];
    return NULL;
}
