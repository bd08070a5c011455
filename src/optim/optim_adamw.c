/* optim_adamw.c: Adam with decoupled weight decay (Loshchilov and Hutter 2019), as
 * torch.optim.AdamW: w loses lr c w beside Adam's step, whatever the gradient. */
#include "config.h"

#include "optim/optim_adam.h"

static void prepare(const void *attrs, const struct optim_step *s, double weight_decay,
                    struct optim_update *out)
{
    optim_adam_prepare(attrs, s, 0, s->lr * weight_decay, out);
}

const struct optim optim_adamw = {
    .name = "adamw",
    .help = "Adam; weight decay is taken off the weight itself.",
    .keys = optim_adam_keys,
    .attrs_size = sizeof(struct optim_adam_attrs),
    .n_states = 2,
    .states = {"exp_avg", "exp_avg_sq"},
    .check = optim_adam_check,
    .prepare = prepare,
};
