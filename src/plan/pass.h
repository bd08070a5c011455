/* pass.h: the passes, in the order in which plan.c runs them. Each reads and changes the graph, and
 * leaves it whole. To add a pass: a file pass_<name>.c, a line here and one in plan.c. */
#ifndef PASS_H
#define PASS_H

#include "plan/plan.h"

/* Nodes in execution order from the layers. Until pass_shape, a node's `in` holds the number of the
 * node it reads, or PASS_READS_INPUT, PASS_READS_TARGET. */
enum { PASS_READS_INPUT = -1, PASS_READS_TARGET = -2 };
MUST_USE enum rc pass_build(struct plan *p, struct diag *d);
/* Tensors: outputs, params, saved; `in` becomes tensor ids. */
MUST_USE enum rc pass_shape(struct plan *p, struct diag *d);
/* Each node's dtype and the rule behind it; casts where the two ends of an edge differ. */
MUST_USE enum rc pass_precision(struct plan *p, struct diag *d);
/* Activations that the layer before applies. */
MUST_USE enum rc pass_fuse(struct plan *p, struct diag *d);
/* Gradient tensors, and which of their writers add. */
MUST_USE enum rc pass_backward(struct plan *p, struct diag *d);
/* Kernels, shadows, scratch; optimizer state. */
MUST_USE enum rc pass_kernels(struct plan *p, struct diag *d);
/* Lifetimes, offsets, totals. */
MUST_USE enum rc pass_memory(struct plan *p, struct diag *d);
/* Our own promises: a fault here is ours. */
MUST_USE enum rc pass_verify(struct plan *p, struct diag *d);

#endif
