/* optim_adam.c: Adam (Kingma and Ba 2015), as torch.optim.Adam. With the unscaled gradient g,
 * weight decay c, update number t:
 *
 *     d = g + c w;   m = m + (1 - b1)(d - m);   v = b2 v + (1 - b2) d d
 *     w = w - lr/(1 - b1^t) m / (sqrt(v)/sqrt(1 - b2^t) + eps)
 *
 * The factors are formed in FP64, the elements in FP32: 1e-8 is 0 in FP16. */
#include "config.h"

#include "optim/optim_adam.h"

#include <math.h>
#include <stddef.h>

const struct key optim_adam_keys[] = {
    {"betas", KEY_FLOATS, offsetof(struct optim_adam_attrs, betas), "[0.9, 0.999]", 0, 1,
     KEY_BELOW_MAX, NULL, "Decay rates of the averages of the gradient and of its square."},
    {"eps", KEY_FLOAT, offsetof(struct optim_adam_attrs, eps), "1e-8", 1e-38, 1, 0, NULL,
     "Added to the denominator, in FP32."},
    {0},
};

enum rc optim_adam_check(const struct section *s, struct diag *d)
{
    const struct optim_adam_attrs *a = s->at;
    if (a->betas.n != 2)
        return diag_error(d, RC_CONFIG, keys_origin(s, "betas").loc,
                          "'%s.betas' must be two numbers, for example [0.9, 0.999], not %d",
                          s->where, a->betas.n);
    return RC_OK;
}

void optim_adam_prepare(const struct optim_adam_attrs *a, const struct optim_step *s,
                        double decay_grad, double decay_weight, struct optim_update *out)
{
    const double *betas = a->betas.at, t = (double)s->update;
    out->factors = (struct vec_update){
        .grad = (float)s->grad_factor,
        .decay = (float)decay_grad,
        .lr = (float)(s->lr / (1 - pow(betas[0], t))),
        .keep = (float)(1 - decay_weight),
        .one_minus_beta1 = (float)(1 - betas[0]),
        .beta2 = (float)betas[1],
        .one_minus_beta2 = (float)(1 - betas[1]),
        .inverse_root = (float)(1 / sqrt(1 - pow(betas[1], t))),
        .eps = (float)a->eps,
    };
    out->run = kern_vec()->adam;
}

static void prepare(const void *attrs, const struct optim_step *s, double weight_decay,
                    struct optim_update *out)
{
    optim_adam_prepare(attrs, s, weight_decay, 0, out);
}

const struct optim optim_adam = {
    .name = "adam",
    .help = "Adam; weight decay is added to the gradient.",
    .keys = optim_adam_keys,
    .attrs_size = sizeof(struct optim_adam_attrs),
    .n_states = 2,
    .states = {"exp_avg", "exp_avg_sq"},
    .check = optim_adam_check,
    .prepare = prepare,
};
