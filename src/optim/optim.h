/* optim.h: what an optimizer is. One optimizer is one file, optim_<name>.c, and one line in
 * optim.list. Everything is FP32: the master weight, the gradient, the state.
 *
 * prepare() runs once a step, in FP64; what it fills then runs over blocks of a param's elements,
 * on any thread, only on steps whose gradients are all finite: it is the commit of the step. The
 * loops themselves are in kern/kern_vec_update.h. */
#ifndef OPTIM_H
#define OPTIM_H

#include "base/keys.h"
#include "kern/kern_vec.h"

#include <stdbool.h>
#include <stdint.h>

enum { OPTIM_MAX_STATES = 3 };

/* Factors of one update; the same for all params. */
struct optim_step {
    double lr;
    double grad_factor;  /* 1/scale x clip factor: the gradient is multiplied by it once, in FP32 */
    int64_t update;      /* number of this applied update, from 1 */
};

/* One update, ready to run over any block: run(&factors, n, w, g, state). */
struct optim_update {
    vec_update_fn *run;
    struct vec_update factors;
};

struct optim {
    const char *name, *help;
    const struct key *keys; /* its own keys besides type, lr, weight_decay and decay */
    size_t attrs_size;
    int n_states;
    const char *states[OPTIM_MAX_STATES]; /* "momentum", "exp_avg", ...: names in checkpoints */
    /* States that these attrs need (sgd without momentum: 0). NULL: n_states. */
    int (*states_used)(const void *attrs);
    /* Refuses attrs that contradict each other. NULL: none can. */
    enum rc (*check)(const struct section *s, struct diag *d);
    void (*prepare)(const void *attrs, const struct optim_step *s, double weight_decay,
                    struct optim_update *out);
};

const struct optim *optim_find(const char *name);
const struct optim *optim_at(int i); /* NULL behind the last */
int optim_states(const struct optim *o, const void *attrs);
MUST_USE enum rc optim_check(const struct optim *o, const struct section *s, struct diag *d);

#endif
