/* restore.h: a trained model out of a checkpoint, for eval and predict: config, plan, weights. */
#ifndef RESTORE_H
#define RESTORE_H

#include "checkpoint/checkpoint.h"
#include "plan/plan.h"

struct restore {
    struct pool pool;
    struct checkpoint checkpoint;
    struct spec spec;
    struct plan plan;
    bool has_plan;
    struct normalizer normalizer;
};

/* path: a checkpoint file, or a run folder: its best.mpt where `best`, else its newest whole
 * checkpoint. Reads the config in it and applies sets. On failure *r is released. */
MUST_USE enum rc restore_open(struct restore *r, const char *path, bool best,
                              const char *const *sets, int n_sets, struct diag *d);
/* Plans a forward pass for rows of this shape and loads the weights and the constants of the data.
 * target_columns 0: as many as the model gives. */
MUST_USE enum rc restore_plan(struct restore *r, const struct plan_data *data, struct diag *d);
void restore_release(struct restore *r);

#endif
