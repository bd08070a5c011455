/* graph.h: tensors and nodes in execution order. Passes touch a graph only through these calls. */
#ifndef GRAPH_H
#define GRAPH_H

#include "base/pool.h"
#include "graph/node.h"
#include "graph/tensor.h"

struct graph {
    struct pool *pool; /* borrowed: the plan's */
    int n_tensors, room_tensors;
    struct tensor *tensors;
    int n_nodes, room_nodes;
    struct node *nodes; /* in execution order: a node reads only what stands before it */
    int64_t batch;      /* planned rows of a batch */
};

void graph_init(struct graph *g, struct pool *pool, int64_t batch);

/* A new tensor, zeroed but for name and role, grad and of = TENSOR_NONE. Returns its id, or
 * TENSOR_NONE when out of memory. A pointer into tensors[] is stale after the next call. */
int graph_add_tensor(struct graph *g, const char *name, enum role role, enum dtype dtype,
                     bool batched, int rank, const int64_t *dims);
/* A new node at position `at` (n_nodes: at the end), zeroed, ids TENSOR_NONE. NULL when out of
 * memory. Node pointers are stale after the next call; ids are renumbered. */
struct node *graph_insert_node(struct graph *g, int at, const struct op *op, const char *name);

/* Nobody may read its output afterwards; ids are renumbered. */
void graph_remove_node(struct graph *g, int at);

struct tensor *graph_tensor(const struct graph *g, int id);
struct node *graph_find_node(const struct graph *g, const char *name); /* NULL: none */

#endif
