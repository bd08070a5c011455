/* run_data.h: the splits that a run uses, opened, checked and with the training set's constants. */
#ifndef RUN_DATA_H
#define RUN_DATA_H

#include "config/spec.h"
#include "plan/plan.h"

struct run_data {
    struct dataset train, validation, test;
    bool has_train, has_validation, has_test;
    struct normalizer normalizer;
    struct plan_data shape; /* for plan_make */
    char fingerprint[16];   /* of the training rows, after holding out */
};

/* Opens train and, where the config has them, validation (or the held-out rows) and test. */
MUST_USE enum rc run_data_open(struct run_data *r, const struct spec *spec, struct diag *d);
void run_data_release(struct run_data *r);
/* Labels against the number of classes that the planned model has. */
MUST_USE enum rc run_data_check(const struct run_data *r, const struct plan *plan, struct diag *d);
/* The split that `train.eval.split` means; NULL where there is none. *name: "test", ... */
const struct dataset *run_data_eval(const struct run_data *r, const struct spec *spec,
                                    const char **name);

#endif
