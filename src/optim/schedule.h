/* schedule.h: the learning rate of each applied update. Skipped steps do not advance it. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "base/keys.h"

#include <stdbool.h>
#include <stdint.h>

enum schedule_type { SCHEDULE_CONSTANT, SCHEDULE_STEP, SCHEDULE_LINEAR, SCHEDULE_COSINE };

/* Config section `schedule`. */
struct schedule {
    int type;            /* enum schedule_type */
    int64_t warmup;      /* updates: update k of the warm-up uses lr k/warmup */
    int64_t total;       /* updates until the end; 0: the planned steps of the run */
    double min_factor;   /* linear, cosine: the lr at the end, as a share of lr */
    struct key_list at;  /* step: int64_t updates after which lr is multiplied by gamma */
    double gamma;        /* step */
};

extern const struct key schedule_keys[];

/* Does this type read the key? */
bool schedule_uses(int type, const char *key);

/* Refuses keys that have no effect for the type, and orders of updates that make no sense.
 * planned: steps of the whole run, where known; 0: not yet. */
MUST_USE enum rc schedule_check(const struct section *s, int64_t planned, struct diag *d);

/* The factor on lr of applied update number `update` (from 1).
 * planned: steps of the whole run, used where total is 0. */
double schedule_factor(const struct schedule *s, int64_t update, int64_t planned);

#endif
