/* optim_sgd.c: stochastic gradient descent, as torch.optim.SGD (dampening 0). With the unscaled
 * gradient g, weight decay c, momentum m:
 *
 *     d = g + c w;    v = m v + d;    w = w - lr v           (momentum)
 *                                     w = w - lr (d + m v)   (nesterov)
 *
 * v starts at 0, so the first update is that of plain SGD. */
#include "config.h"

#include "optim/optim.h"

#include <stddef.h>

struct sgd {
    double momentum;
    bool nesterov;
};

static const struct key keys[] = {
    {"momentum", KEY_FLOAT, offsetof(struct sgd, momentum), "0", 0, 1, KEY_BELOW_MAX, NULL,
     "Share of the last step that is added to this one."},
    {"nesterov", KEY_BOOL, offsetof(struct sgd, nesterov), "false", 0, 0, 0, NULL,
     "Look one step ahead (Nesterov); needs momentum."},
    {0},
};

static enum rc check(const struct section *s, struct diag *d)
{
    const struct sgd *a = s->at;
    if (a->nesterov && a->momentum == 0)
        return diag_error(d, RC_CONFIG, keys_origin(s, "nesterov").loc,
                          "'%s.nesterov' has no effect without momentum; set momentum, for example "
                          "0.9, or leave nesterov out",
                          s->where);
    return RC_OK;
}

static int states_used(const void *attrs)
{
    const struct sgd *a = attrs;
    return a->momentum != 0;
}

static void prepare(const void *attrs, const struct optim_step *s, double weight_decay,
                    struct optim_update *out)
{
    const struct sgd *a = attrs;
    const struct vec_row *v = kern_vec();
    out->factors = (struct vec_update){.grad = (float)s->grad_factor,
                                       .decay = (float)weight_decay,
                                       .lr = (float)s->lr,
                                       .momentum = (float)a->momentum};
    out->run = a->momentum == 0 ? v->sgd : a->nesterov ? v->sgd_nesterov : v->sgd_momentum;
}

const struct optim optim_sgd = {
    .name = "sgd",
    .help = "Stochastic gradient descent, with or without momentum.",
    .keys = keys,
    .attrs_size = sizeof(struct sgd),
    .n_states = 1,
    .states = {"momentum"},
    .states_used = states_used,
    .check = check,
    .prepare = prepare,
};
