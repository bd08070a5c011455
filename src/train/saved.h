/* saved.h: a run's state to a checkpoint and back: params, optimizer state, constants of the data,
 * progress. */
#ifndef SAVED_H
#define SAVED_H

#include "checkpoint/checkpoint.h"
#include "train/run_data.h"

/* Writes the whole state to path. */
MUST_USE enum rc saved_write(const struct plan *plan, const struct run_data *data,
                             const struct progress *progress, const char *path, struct diag *d);
/* Reads params, and optimizer state where the plan has any, into the bound plan; every
 * difference of names and shapes is told, and then nothing is loaded. The training set's
 * constants replace those in `normalizer`. */
MUST_USE enum rc saved_read(const struct checkpoint *c, const struct plan *plan,
                            struct normalizer *normalizer, struct diag *d);

#endif
