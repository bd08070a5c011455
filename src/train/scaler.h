/* scaler.h: the loss scale: what is done with it after a clean step and after an overflow.
 *
 * The state (scale, clean steps, hysteresis left) lives in struct progress, so that it is saved
 * with the run; the policy comes from the config. */
#ifndef SCALER_H
#define SCALER_H

#include "checkpoint/checkpoint.h"
#include "plan/plan.h"

struct scaler {
    enum scale_type type;
    struct loss_scale_spec spec;
};

/* What a call changed. reason NULL: nothing worth a record. */
struct scale_change {
    double old_scale, new_scale;
    const char *reason; /* "growth", "overflow", "at max", "at min", "hysteresis" */
};

/* Fills s; and p with the start of the policy where `fresh`. On resume a scale outside the config's
 * limits is brought inside. */
void scaler_init(struct scaler *s, const struct plan *plan, struct progress *p, bool fresh);
struct scale_change scaler_clean(const struct scaler *s, struct progress *p);
struct scale_change scaler_overflow(const struct scaler *s, struct progress *p);
bool scaler_at_floor(const struct scaler *s, const struct progress *p);

#endif
