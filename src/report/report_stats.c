/* report_stats.c: one pass over a run's records collects what the report says (see report_stats.h).
 *
 * Counts come from the counters in the log, not from the number of lines: with log.every a line
 * stands for many steps. */
#include "config.h"

#include "report/report_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *known(const char *text)
{
    return text ? text : "";
}

static bool same_cause(const struct report_cause *c, const struct record *r)
{
    return strcmp(c->where, known(r->where)) == 0 && strcmp(c->node, known(r->node)) == 0 &&
           strcmp(c->tensor, known(r->tensor)) == 0 && strcmp(c->kind, known(r->kind)) == 0;
}

static enum rc add_cause(struct report_stats *s, struct pool *pool, const struct record *r,
                         struct diag *d)
{
    struct report_cause *c = NULL;
    for (int i = 0; i < s->n_causes && !c; i++)
        c = same_cause(&s->causes[i], r) ? &s->causes[i] : NULL;
    if (!c) {
        size_t n = (size_t)s->n_causes;
        if ((n & (n - 1)) == 0) { /* room for the next power of two */
            c = pool_grow(pool, s->causes, n, n ? 2 * n : 1, sizeof(*c));
            TRY_ALLOC(c, d);
            s->causes = c;
        }
        c = &s->causes[s->n_causes++];
        *c = (struct report_cause){.where = known(r->where),
                                   .node = known(r->node),
                                   .tensor = known(r->tensor),
                                   .kind = known(r->kind),
                                   .first = r->step,
                                   .scale_low = r->loss_scale,
                                   .scale_high = r->loss_scale};
    }
    c->count++;
    c->last = r->step;
    c->values = r->count > c->values ? r->count : c->values;
    c->scale_low = fmin(c->scale_low, r->loss_scale);
    c->scale_high = fmax(c->scale_high, r->loss_scale);
    return RC_OK;
}

static void widen_scale(struct report_stats *s, double scale)
{
    if (!(s->scale_start > 0))
        s->scale_start = s->scale_low = s->scale_high = s->scale_final = scale;
    s->scale_low = fmin(s->scale_low, scale);
    s->scale_high = fmax(s->scale_high, scale);
}

static void add_scale(struct report_stats *s, double used, double next)
{
    widen_scale(s, used);
    widen_scale(s, next);
    s->scale_final = next;
}

static void add_step(struct report_stats *s, const struct record *r)
{
    if (!s->first_step)
        s->first_step = r;
    s->last_step = r;
    s->zero_grad_steps += r->zero_grads > 0;
    s->zero_grads = r->zero_grads > s->zero_grads ? r->zero_grads : s->zero_grads;
    if (!isfinite(r->loss))
        s->nonfinite_losses++;
    else if (!s->lowest || r->loss < s->lowest->loss)
        s->lowest = r;
    add_scale(s, r->loss_scale, r->next_scale);
}

static void add_eval(struct report_stats *s, const struct record *r)
{
    bool better = !s->best_eval || (r->best && !s->best_eval->best) ||
                  (r->best == s->best_eval->best && (r->best || r->loss < s->best_eval->loss));
    s->evals++;
    s->last_eval = r;
    if (better)
        s->best_eval = r;
}

/* precision: / compute: and fp16: of the effective config, which the program wrote itself. */
static void find_precision(struct report_stats *s, const char *config)
{
    const char *at = config ? strstr(config, "\nprecision:\n") : NULL;
    at = at ? strchr(at + 1, '\n') : NULL;
    for (; at && at[1] == ' '; at = strchr(at + 1, '\n')) {
        const char *key = at + 1 + strspn(at + 1, " ");
        s->may_use_fp16 = s->may_use_fp16 || strncmp(key, "fp16:", 5) == 0;
        if (strncmp(key, "compute:", 8) != 0)
            continue;
        key += 8 + strspn(key + 8, " ");
        size_t n = strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (n < sizeof(s->compute))
            memcpy(s->compute, key, n);
    }
    s->may_use_fp16 = s->may_use_fp16 || strcmp(s->compute, "fp16") == 0;
}

static enum rc add(struct report_stats *s, struct pool *pool, const struct record *r,
                   struct diag *d)
{
    switch (r->type) {
    case RECORD_HEADER:
        s->header = r;
        s->segments = r->segment;
        s->end = NULL; /* of the start before */
        break;
    case RECORD_STEP:
        add_step(s, r);
        break;
    case RECORD_OVERFLOW:
        if (r->loss_scale > 0)
            widen_scale(s, r->loss_scale);
        return add_cause(s, pool, r, d);
    case RECORD_SCALE:
        add_scale(s, r->old_scale, r->new_scale);
        s->scale_changes += r->old_scale != r->new_scale;
        break;
    case RECORD_EVAL:
        add_eval(s, r);
        break;
    case RECORD_CHECKPOINT:
        s->last_checkpoint = r;
        break;
    case RECORD_END:
        s->end = r;
        break;
    case RECORD_COUNT:
        break;
    }
    return RC_OK;
}

/* The counters of the last line that has them; an overflow may have come after it. */
static void count_steps(struct report_stats *s)
{
    const struct record *last = s->end ? s->end : s->last_step;
    int64_t overflows = 0;
    if (last) {
        s->attempted = last->step;
        s->applied = last->applied;
        s->skipped = last->skipped_total;
        if (__builtin_sub_overflow(last->step, last->applied, &s->empty) ||
            __builtin_sub_overflow(s->empty, last->skipped_total, &s->empty))
            s->empty = 0; /* no counters of ours */
    }
    for (int i = 0; i < s->n_causes; i++) {
        overflows += s->causes[i].count;
        if (s->causes[i].last > s->attempted)
            s->attempted = s->causes[i].last;
    }
    if (overflows > s->skipped)
        s->skipped = overflows;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_count(const void *a, const void *b)
{
    const struct report_cause *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static enum rc measure_speed(struct report_stats *s, struct diag *d)
{
    const struct log_records *records = &s->run->records;
    double *ms = malloc(((size_t)records->n + 1) * sizeof(*ms)), sum = 0, examples = 0;
    size_t n = 0;
    TRY_ALLOC(ms, d);
    for (int64_t i = 0; i < records->n; i++) {
        const struct record *r = &records->at[i];
        if (r->type != RECORD_STEP || !(r->step_ms > 0) || !isfinite(r->step_ms))
            continue;
        ms[n++] = r->step_ms;
        sum += r->step_ms;
        examples += (double)r->examples;
    }
    if (n) {
        qsort(ms, n, sizeof(*ms), by_size);
        s->step_ms = n % 2 ? ms[n / 2] : (ms[n / 2 - 1] + ms[n / 2]) / 2;
        s->examples_s = examples / sum * 1000;
    }
    free(ms);
    return RC_OK;
}

enum rc report_stats_make(struct report_stats *s, struct report_run *run, struct diag *d)
{
    *s = (struct report_stats){.run = run};
    for (int64_t i = 0; i < run->records.n; i++)
        TRY(add(s, &run->records.pool, &run->records.at[i], d));
    if (s->n_causes)
        qsort(s->causes, (size_t)s->n_causes, sizeof(*s->causes), by_count);
    s->has_scale = s->scale_start > 0 && (s->scale_low != 1 || s->scale_high != 1);
    if (s->header)
        find_precision(s, s->header->config);
    count_steps(s);
    return measure_speed(s, d);
}
