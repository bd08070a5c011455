/* blame.h: finds the first tensor that is not finite, in order of execution, by running one
 * micro-batch again with a look at each tensor. Called only after an overflow. */
#ifndef BLAME_H
#define BLAME_H

#include "train/step.h"

/* True, with *out filled (but for micro_batch), where some output of the forward is not finite. */
bool blame_forward(const struct op_run *r, const struct plan *p, struct step_blame *out);
/* The same for gradients of activations, then of weights, node by node from the loss. */
bool blame_backward(const struct op_run *r, const struct plan *p, struct step_blame *out);
/* Where a second run finds nothing (it was a sum over micro-batches, or an unscaled value). */
void blame_unknown(struct step_blame *out);

#endif
