/* optim_adamw.c: Adam with decoupled weight decay (Loshchilov and Hutter 2019), as
 * torch.optim.AdamW: w loses lr c w beside Adam's step, whatever the gradient. */
#include "config.h"

#include "optim/optim_adam.h"

static void update(const void *attrs, const struct optim_step *s, double weight_decay, int64_t n,
                   float *w, const float *g, float *const state[])
{
    optim_adam_step(attrs, s, 0, s->lr * weight_decay, n, w, g, state);
}

const struct optim optim_adamw = {
    .name = "adamw",
    .help = "Adam; weight decay is taken off the weight itself.",
    .keys = optim_adam_keys,
    .attrs_size = sizeof(struct optim_adam_attrs),
    .n_states = 2,
    .states = {"exp_avg", "exp_avg_sq"},
    .check = optim_adam_check,
    .update = update,
};
