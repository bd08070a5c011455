/* report_stats.h: one run in numbers. */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include "report/report.h"

/* Skipped steps with the same cause. */
struct report_cause {
    const char *where, *node, *tensor, *kind; /* "" where not known */
    int64_t count, first, last;               /* steps */
    int64_t values;                           /* most non-finite values in one step */
    double scale_low, scale_high;             /* loss scales at which it happened */
};

struct report_stats {
    const struct report_run *run;
    const struct record *header; /* of the last start; NULL: none */
    const struct record *end;    /* NULL: still running, or killed */
    int64_t segments;
    char compute[16]; /* "" where the config does not say */
    bool may_use_fp16; /* that, or precision.fp16 allows something */

    int64_t attempted, applied, skipped, empty;
    int n_causes;
    struct report_cause *causes; /* in the run's pool; most frequent first */

    const struct record *first_step, *last_step; /* step records; NULL: none */
    const struct record *lowest;                 /* of the lowest finite loss */
    int64_t nonfinite_losses;
    int64_t zero_grad_steps, zero_grads; /* steps on record with any; the most in one */

    bool has_scale; /* the loss scale was something else than 1 */
    double scale_start, scale_low, scale_high, scale_final;
    int64_t scale_changes;

    int64_t evals;
    const struct record *best_eval, *last_eval;
    const struct record *last_checkpoint;

    double step_ms, examples_s; /* median; mean; 0 where not known */
};

MUST_USE enum rc report_stats_make(struct report_stats *s, struct report_run *run, struct diag *d);

#endif
