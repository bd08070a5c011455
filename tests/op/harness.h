/* harness.h: a graph of one node, bound to plain memory, for tests of ops.
 *
 *     struct harness h;
 *     harness_init(&h, op, c, DTYPE_F32, DTYPE_F32, 0);
 *     harness_forward(&h, h.graph.batch);   harness_backward(&h, h.graph.batch);
 *     ... harness_get(&h, node->out, i) ...
 *     harness_release(&h);
 *
 * Inputs, params and the gradient of the output hold small random numbers, all else NaN. Every
 * tensor is an allocation of its own and exact size, so a sanitizer sees a step outside. */
#ifndef HARNESS_H
#define HARNESS_H

#include "op/op.h"

struct harness {
    struct pool pool;
    struct diag diag;
    struct graph graph;
    struct op_run run; /* rows are set by each call below; the rest is the test's to change */
    struct op_loss loss;
    int n_x; /* float inputs: in[0] .. in[n_x-1] */
};

/* in: dtype of the inputs; dtype: of the node. batch 0: that of the case. Where the op refuses,
 * returns its code with the words in h->diag (release all the same). */
enum rc harness_init(struct harness *h, const struct op *op, const struct op_case *c, enum dtype in,
                     enum dtype dtype, int64_t batch);
/* The same with an activation fused into it; harness_backward keeps the gradient of the output. */
enum rc harness_init_act(struct harness *h, const struct op *op, const struct op_case *c,
                         enum dtype in, enum dtype dtype, int64_t batch, enum gemm_act act);
void harness_release(struct harness *h);
struct node *harness_node(const struct harness *h);

/* Packs the weights, then runs the op over the first `rows` of the batch. */
void harness_forward(struct harness *h, int64_t rows);
void harness_backward(struct harness *h, int64_t rows);

/* Element i of a float tensor, as FP32. */
float harness_get(const struct harness *h, int tensor, int64_t i);
void harness_set(struct harness *h, int tensor, int64_t i, float x);
/* All elements to x (NaN: all bits 1). */
void harness_fill(struct harness *h, int tensor, float x);
/* All elements of a tensor of the other harness, of any dtypes and the same size. */
void harness_copy(struct harness *h, int tensor, const struct harness *from, int from_tensor);
int64_t harness_size(const struct harness *h, int tensor); /* elements */
int harness_grad(const struct harness *h, int tensor);     /* id of its gradient */

#endif
