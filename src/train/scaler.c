/* scaler.c: see scaler.h. To add a policy: an enum scale_type, its keys in the config, a row in
 * `policies`. */
#include "config.h"

#include "train/scaler.h"

#include <math.h>

struct policy {
    double (*start)(const struct loss_scale_spec *s);
    struct scale_change (*clean)(const struct loss_scale_spec *s, struct progress *p);
    struct scale_change (*overflow)(const struct loss_scale_spec *s, struct progress *p);
};

static double start_none(const struct loss_scale_spec *s)
{
    (void)s;
    return 1;
}

static double start_static(const struct loss_scale_spec *s)
{
    return s->scale;
}

static double start_dynamic(const struct loss_scale_spec *s)
{
    return s->init;
}

/* none and static: the scale stays what it is */
static struct scale_change keep(const struct loss_scale_spec *s, struct progress *p)
{
    (void)s;
    p->good_steps++;
    return (struct scale_change){p->loss_scale, p->loss_scale, NULL};
}

static struct scale_change keep_overflow(const struct loss_scale_spec *s, struct progress *p)
{
    (void)s;
    p->good_steps = 0;
    return (struct scale_change){p->loss_scale, p->loss_scale, NULL};
}

static struct scale_change grow(const struct loss_scale_spec *s, struct progress *p)
{
    struct scale_change c = {p->loss_scale, p->loss_scale, NULL};
    if (s->refill == REFILL_ON_CLEAN_STEP)
        p->hysteresis_left = s->hysteresis;
    if (++p->good_steps < s->interval)
        return c;
    p->good_steps = 0;
    p->hysteresis_left = s->hysteresis;
    /* the scale is used in FP32: a growth that is no power of two is rounded once, here */
    double next = (double)(float)fmin(p->loss_scale * s->growth, s->max);
    if (next <= p->loss_scale)
        return c; /* at the maximum: told when it got there */
    p->loss_scale = c.new_scale = next;
    c.reason = next >= s->max ? "at max" : "growth";
    return c;
}

static struct scale_change back_off(const struct loss_scale_spec *s, struct progress *p)
{
    struct scale_change c = {p->loss_scale, p->loss_scale, NULL};
    p->good_steps = 0;
    if (--p->hysteresis_left > 0) {
        c.reason = "hysteresis";
        return c;
    }
    p->hysteresis_left = 0;
    if (p->loss_scale <= s->min)
        return c; /* at the floor: told when it got there */
    double next = (double)(float)fmax(p->loss_scale * s->backoff, s->min);
    p->loss_scale = c.new_scale = next;
    c.reason = next <= s->min ? "at min" : "overflow";
    return c;
}

static const struct policy policies[] = {
    [SCALE_NONE] = {start_none, keep, keep_overflow},
    [SCALE_STATIC] = {start_static, keep, keep_overflow},
    [SCALE_DYNAMIC] = {start_dynamic, grow, back_off},
};

void scaler_init(struct scaler *s, const struct plan *plan, struct progress *p, bool fresh)
{
    s->type = plan->scale;
    s->spec = plan->spec->loss_scale;
    if (fresh || s->type != SCALE_DYNAMIC) {
        p->loss_scale = policies[s->type].start(&s->spec);
        p->hysteresis_left = s->spec.hysteresis;
    } else {
        p->loss_scale = fmin(fmax(p->loss_scale, s->spec.min), s->spec.max);
    }
}

struct scale_change scaler_clean(const struct scaler *s, struct progress *p)
{
    return policies[s->type].clean(&s->spec, p);
}

struct scale_change scaler_overflow(const struct scaler *s, struct progress *p)
{
    return policies[s->type].overflow(&s->spec, p);
}

bool scaler_at_floor(const struct scaler *s, const struct progress *p)
{
    return s->type == SCALE_DYNAMIC && p->loss_scale <= s->spec.min;
}
