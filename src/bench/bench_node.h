/* bench_node.h: a graph of one node, filled with random numbers, to time an op by itself. */
#ifndef BENCH_NODE_H
#define BENCH_NODE_H

#include "base/arena.h"
#include "op/op.h"
#include "plan/plan.h"

struct bench_node {
    struct pool pool;
    struct plan plan; /* only its graph is used */
    struct arena memory;
    struct op_run run;
    struct op_loss loss;
};

/* What is to be built: shapes with the batch in dims[0]. */
struct bench_node_case {
    const struct op *op;
    const char *attrs; /* YAML of its keys, or NULL */
    int n_in, rank[OP_CASE_MAX_IN];
    int64_t dims[OP_CASE_MAX_IN][TENSOR_MAX_RANK];
    enum dtype dtype;
};

/* Where the op refuses the shapes or keys, its words are in d. On failure *b is released. */
MUST_USE enum rc bench_node_init(struct bench_node *b, const struct bench_node_case *c,
                                 struct diag *d);
void bench_node_release(struct bench_node *b);

void bench_node_forward(void *bench_node);
void bench_node_backward(void *bench_node);
/* Bytes that the pass must at least read and write. */
double bench_node_bytes(const struct bench_node *b, bool backward);

#endif
