/* train.h: a whole run: folder, log, checkpoints, evaluations, and the loop over steps. */
#ifndef TRAIN_H
#define TRAIN_H

#include "config/spec.h"
#include "plan/plan.h"

struct train_options {
    const char *out;      /* run folder; NULL: runs/<config name> */
    const char *resume;   /* NULL: start; "": newest checkpoint of the folder; else that file */
    bool overwrite;       /* an earlier run in the folder is replaced */
    bool quiet;
    int64_t steps;        /* end after this many steps in all; 0: as the config says */
};

/* RC_OK, RC_NUMERIC, RC_INTERRUPTED, or an error. */
MUST_USE enum rc train_run(const struct spec *spec, const struct train_options *o, struct diag *d);

/* Params of a bound plan as its seed has them, and their shadows. */
void train_start_weights(const struct plan *p);

#endif
