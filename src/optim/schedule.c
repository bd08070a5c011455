/* schedule.c: see schedule.h. Update k of a warm-up of u uses k/u. Behind it, with
 * t = (k - 1 - u)/(total - u) from 0 up to 1:
 *
 *     constant  1
 *     step      gamma for each entry of `at` below k (also during the warm-up)
 *     linear    1 + (min_factor - 1) t
 *     cosine    min_factor + (1 - min_factor)(1 + cos(pi t))/2
 *
 * To add a type: a choice in the table, an enum value, a case in schedule_factor, and in `uses` the
 * keys that it reads. */
#include "config.h"

#include "optim/schedule.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define PI 3.14159265358979323846

const struct key schedule_keys[] = {
    {"type", KEY_CHOICE, offsetof(struct schedule, type), "constant", 0, 0, 0,
     "constant|step|linear|cosine", "How the learning rate goes on after the warm-up."},
    {"warmup", KEY_INT, offsetof(struct schedule, warmup), "0", 0, 1e12, 0, NULL,
     "Applied updates over which lr rises in equal steps; update k uses lr k/warmup."},
    {"total", KEY_INT, offsetof(struct schedule, total), "0", 0, 1e12, 0, NULL,
     "linear, cosine: applied updates, warm-up included, until the end; 0: the steps of the run."},
    {"min_factor", KEY_FLOAT, offsetof(struct schedule, min_factor), "0", 0, 1, 0, NULL,
     "linear, cosine: the learning rate at the end, as a share of lr."},
    {"at", KEY_INTS, offsetof(struct schedule, at), "[]", 1, 1e12, 0, NULL,
     "step: applied updates after each of which lr is multiplied by gamma."},
    {"gamma", KEY_FLOAT, offsetof(struct schedule, gamma), "0.1", 0, 1, KEY_ABOVE_MIN, NULL,
     "step: factor on lr at each of `at`."},
    {0},
};

/* Which types read a key; keys that all of them read are not listed. */
static const struct {
    const char *key;
    unsigned types;
    const char *names;
} uses[] = {
    {"total", 1u << SCHEDULE_LINEAR | 1u << SCHEDULE_COSINE, "linear and cosine"},
    {"min_factor", 1u << SCHEDULE_LINEAR | 1u << SCHEDULE_COSINE, "linear and cosine"},
    {"at", 1u << SCHEDULE_STEP, "step"},
    {"gamma", 1u << SCHEDULE_STEP, "step"},
};

static const char *const type_names[] = {
    [SCHEDULE_CONSTANT] = "constant",
    [SCHEDULE_STEP] = "step",
    [SCHEDULE_LINEAR] = "linear",
    [SCHEDULE_COSINE] = "cosine",
};

bool schedule_uses(int type, const char *key)
{
    for (size_t i = 0; i < COUNT_OF(uses); i++)
        if (strcmp(uses[i].key, key) == 0)
            return uses[i].types >> type & 1;
    return true;
}

static enum rc check_effect(const struct section *s, struct diag *d)
{
    const struct schedule *a = s->at;
    enum rc rc = RC_OK;
    for (size_t i = 0; i < COUNT_OF(uses); i++) {
        struct key_origin origin = keys_origin(s, uses[i].key);
        if (origin.set && !(uses[i].types >> a->type & 1))
            rc = diag_error(d, RC_CONFIG, origin.loc,
                            "'%s.%s' has no effect with type %s; it belongs to %s", s->where,
                            uses[i].key, type_names[a->type], uses[i].names);
    }
    return rc;
}

static enum rc check_at(const struct section *s, struct diag *d)
{
    const struct schedule *a = s->at;
    const int64_t *at = a->at.at;
    struct loc loc = keys_origin(s, "at").loc;
    if (a->at.n == 0)
        return diag_error(d, RC_CONFIG, loc,
                          "'%s.at' is needed with type step: the updates after which lr is "
                          "multiplied by gamma, for example [1000, 2000]",
                          s->where);
    for (int i = 1; i < a->at.n; i++)
        if (at[i] <= at[i - 1])
            return diag_error(d, RC_CONFIG, loc, "'%s.at' must rise: %" PRId64 " follows %" PRId64,
                              s->where, at[i], at[i - 1]);
    return RC_OK;
}

enum rc schedule_check(const struct section *s, int64_t planned, struct diag *d)
{
    const struct schedule *a = s->at;
    TRY(check_effect(s, d));
    if (a->type == SCHEDULE_STEP)
        return check_at(s, d);
    int64_t total = a->total ? a->total : planned;
    bool decays = a->type == SCHEDULE_LINEAR || a->type == SCHEDULE_COSINE;
    if (decays && total > 0 && a->warmup >= total)
        return diag_error(d, RC_CONFIG, keys_origin(s, "warmup").loc,
                          "'%s.warmup' is %" PRId64 " updates and the whole schedule %" PRId64
                          ": nothing is left for type %s",
                          s->where, a->warmup, total, type_names[a->type]);
    return RC_OK;
}

static double step_factor(const struct schedule *s, int64_t update)
{
    const int64_t *at = s->at.at;
    double factor = 1;
    for (int i = 0; i < s->at.n && at[i] < update; i++)
        factor *= s->gamma;
    return factor;
}

/* Share of the way from the end of the warm-up to the end of the schedule. */
static double progress(const struct schedule *s, int64_t update, int64_t planned)
{
    int64_t total = s->total ? s->total : planned;
    if (update - 1 >= total || total <= s->warmup)
        return 1;
    return (double)(update - 1 - s->warmup) / (double)(total - s->warmup);
}

double schedule_factor(const struct schedule *s, int64_t update, int64_t planned)
{
    bool warming = update < s->warmup;
    double warm = warming ? (double)update / (double)s->warmup : 1;
    if (s->type == SCHEDULE_STEP)
        return warm * step_factor(s, update);
    if (s->type == SCHEDULE_CONSTANT || update <= s->warmup)
        return warm;
    double t = progress(s, update, planned);
    if (s->type == SCHEDULE_LINEAR)
        return 1 + (s->min_factor - 1) * t;
    return s->min_factor + (1 - s->min_factor) * (1 + cos(PI * t)) / 2;
}
