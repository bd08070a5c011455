/* params.h: passes over all params, cut into blocks of fixed size: the finite check with the norm,
 * and the update. No allocation after params_init.
 *
 * The update is one pass: a block of a weight is read with its gradient and state, written, and
 * packed into each shadow while it is in the cache. */
#ifndef PARAMS_H
#define PARAMS_H

#include "optim/optim.h"
#include "plan/plan.h"

struct params_block;
struct params_shadow;

struct params {
    const struct plan *plan; /* borrowed */
    int n_blocks, n_shadows;
    struct params_block *blocks; /* in the pool given */
    struct params_shadow *shadows;
};

/* Of the scaled gradients, over all params. */
struct params_check {
    int64_t nonfinite;
    double square_sum; /* FP64, fixed order; meaningless where nonfinite > 0 */
    double max_abs;    /* of the finite ones */
    int64_t zero;      /* params whose gradient is 0 everywhere: what underflow leaves */
};

MUST_USE enum rc params_init(struct params *p, const struct plan *plan, struct pool *pool,
                             struct diag *d);
/* param_grads: compute: rounds the gradients of params that a half node uses to its type. */
void params_narrow(const struct params *p);
struct params_check params_check(const struct params *p);
/* Masters, state and shadows. */
void params_update(const struct params *p, const struct optim_step *s);

#endif
