/* optim_adam.h: what adam and adamw share: the keys, the states and the update but for where the
 * weight decay goes. */
#ifndef OPTIM_ADAM_H
#define OPTIM_ADAM_H

#include "optim/optim.h"

struct optim_adam_attrs {
    struct key_list betas; /* two doubles */
    double eps;
};

extern const struct key optim_adam_keys[];
enum rc optim_adam_check(const struct section *s, struct diag *d);

/* decay_grad: weight decay added to the gradient (adam); decay_weight: share of the weight taken
 * off beside it, lr included (adamw). One of them is 0. */
void optim_adam_prepare(const struct optim_adam_attrs *a, const struct optim_step *s,
                        double decay_grad, double decay_weight, struct optim_update *out);

#endif
