/* op_loss.h: what the losses share. A loss sums its items (elements, or rows of logits) in blocks
 * whose size depends on the problem only, then adds the blocks in order, in FP64: the same bits for
 * every number of threads. */
#ifndef OP_LOSS_H
#define OP_LOSS_H

#include "op/op.h"

/* Adds the losses of items at .. at+n-1 to out. */
typedef void op_loss_body(const struct op_run *r, const struct node *n, int64_t at, int64_t items,
                          struct op_loss *out);

/* Items a block: about 16 tiles of values. columns: values of one item. */
int64_t op_loss_block(int64_t columns);
/* Books the scratch of op_loss_sum. */
void op_loss_book(struct node *n, int64_t items, int64_t columns);
/* Writes the sum over all items to *r->loss. */
void op_loss_sum(const struct op_run *r, const struct node *n, int64_t items, int64_t columns,
                 op_loss_body *body);

/* For losses that compare element by element with real targets of the same size: */
enum rc op_loss_shape(struct graph *g, struct node *n, struct diag *d);
void op_loss_plan(struct op_planner *p, struct node *n);
int64_t op_loss_count(const struct graph *g, const struct node *n, const void *targets,
                      int64_t rows);
int64_t op_loss_ignores_none(const struct node *n);
/* Targets of the batch: (rows, row elements) f32. */
const float *op_loss_targets(const struct op_run *r, const struct node *n);

#endif
