/* step.h: one training step, and one evaluation. See step.c for the order of a step. */
#ifndef STEP_H
#define STEP_H

#include "dataset/dataset.h"
#include "train/params.h"
#include "train/scaler.h"

/* Where the time of a step goes. Narrowing, the finite check and the search for the cause of an
 * overflow are `check`. */
enum step_phase {
    STEP_DATA,
    STEP_FORWARD,
    STEP_BACKWARD,
    STEP_CHECK,
    STEP_UPDATE,
    STEP_PHASE_COUNT
};

/* Of the newest step. */
struct step_clock {
    double mark; /* clock_seconds() at the end of the last phase */
    double seconds[STEP_PHASE_COUNT];
};

/* What a step needs besides the plan. Buffers are made before the first step. */
struct step_state {
    const struct plan *plan;
    const struct dataset *data;
    const struct normalizer *normalizer;
    struct params params;
    struct scaler scaler;
    struct progress progress;
    double planned;     /* steps of the whole run, for the schedule */
    int64_t *order;     /* (rows) rows of this epoch in the order of use */
    int64_t order_epoch; /* the epoch that `order` is of; -1: none */
    void *targets;      /* of a whole accumulation window */
    struct step_clock clock;
};

enum step_outcome { STEP_APPLIED, STEP_SKIPPED, STEP_EMPTY };

/* Why a step was skipped: the first bad tensor in order of execution. */
struct step_blame {
    bool forward;       /* else in a gradient */
    const char *tensor, *node;
    const char *kind;   /* "inf" or "nan" */
    int64_t count;      /* of values that are not finite in that tensor */
    double max_finite;
    int64_t micro_batch;
};

struct step_result {
    enum step_outcome outcome;
    double loss;        /* mean over the valid targets; 0 where there are none */
    double lr, scale, grad_norm, clip_factor;
    int64_t examples, zero_grads;
    struct step_blame blame;    /* STEP_SKIPPED */
    struct scale_change change;
};

MUST_USE enum rc step_init(struct step_state *s, const struct plan *plan,
                           const struct dataset *data, const struct normalizer *normalizer,
                           struct pool *pool, struct diag *d);
void step_run(struct step_state *s, struct step_result *out);

/* Sums of the loss over all rows of a split, weights as they are. Touches no progress. */
struct op_loss step_evaluate(const struct plan *plan, const struct dataset *data,
                             const struct normalizer *normalizer, uint64_t seed, int64_t *order);
/* Forward pass of n rows: fills the plan's input and target and returns the loss sums. */
struct op_loss step_forward_rows(const struct plan *plan, const struct dataset *data,
                                 const struct normalizer *normalizer, const int64_t *order,
                                 int64_t n);

#endif
