/* bench_time.c: see bench_time.h. */
#include "config.h"

#include "bench/bench_time.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/par.h"
#include "base/pool.h"

#include <stdlib.h>

enum { LEAST_SAMPLES = 7, MOST_SAMPLES = 2000, JSON_DIGITS = 6 };

static const double slow = 1.0;             /* seconds: not repeated */
static const double shortest_sample = 2e-5; /* the clock's own cost is lost in it */

static double time_calls(int64_t calls, void (*body)(void *context), void *context)
{
    double start = clock_seconds();
    for (int64_t i = 0; i < calls; i++)
        body(context);
    return (clock_seconds() - start) / (double)calls;
}

/* Runs for a quarter of the least time, so that caches, pages and clock rates settle. Returns the
 * fastest call. */
static double warm_up(double least, void (*body)(void *context), void *context)
{
    double fastest = time_calls(1, body, context), end = clock_seconds() + least / 4;
    while (fastest < slow && clock_seconds() < end) {
        double seconds = time_calls(1, body, context);
        fastest = seconds < fastest ? seconds : fastest;
    }
    return fastest;
}

/* One of the bodies that are timed in turn. */
struct turn {
    void *context;
    int64_t calls; /* of a sample; 0: too slow to be repeated */
    double spent;  /* seconds */
    int n;
    double *samples; /* (MOST_SAMPLES) */
};

static void prepare(struct turn *t, double least, void (*body)(void *context))
{
    double fastest = warm_up(least, body, t->context);
    double sample = least / MOST_SAMPLES > shortest_sample ? least / MOST_SAMPLES : shortest_sample;
    if (fastest < slow)
        t->calls = fastest > 0 ? (int64_t)(sample / fastest) + 1 : 1000;
    else
        t->samples[t->n++] = fastest;
}

/* False where it has all that it needs. */
static bool take(struct turn *t, double least, void (*body)(void *context))
{
    if (t->calls == 0 || t->n == MOST_SAMPLES || (t->n >= LEAST_SAMPLES && t->spent >= least))
        return false;
    double seconds = time_calls(t->calls, body, t->context);
    t->samples[t->n++] = seconds;
    t->spent += seconds * (double)t->calls;
    return true;
}

static void in_turn(struct turn *turns, int n, double least, void (*body)(void *context))
{
    for (int i = 0; i < n; i++)
        prepare(&turns[i], least, body);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < n; i++)
            more |= take(&turns[i], least, body);
    }
}

struct bench_times bench_time(int64_t least_ms, void (*body)(void *context), void *context)
{
    double samples[MOST_SAMPLES];
    struct turn t = {.context = context, .samples = samples};
    in_turn(&t, 1, 1e-3 * (double)least_ms, body);
    return bench_time_sort(samples, t.n);
}

enum rc bench_time_turns(int n, int64_t least_ms, void (*body)(void *context),
                         void *const *contexts, struct bench_times *out, struct diag *d)
{
    struct pool pool;
    pool_init(&pool);
    struct turn *turns = pool_array(&pool, (size_t)n, sizeof(*turns));
    double *samples = pool_array(&pool, (size_t)n * MOST_SAMPLES, sizeof(*samples));
    bool room = turns && samples;
    for (int i = 0; room && i < n; i++)
        turns[i] = (struct turn){.context = contexts[i], .samples = samples + i * MOST_SAMPLES};
    if (room)
        in_turn(turns, n, 1e-3 * (double)least_ms, body);
    for (int i = 0; room && i < n; i++)
        out[i] = bench_time_sort(turns[i].samples, turns[i].n);
    pool_release(&pool);
    return room ? RC_OK : diag_no_memory(d);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct bench_times bench_time_sort(double *seconds, int n)
{
    qsort(seconds, (size_t)n, sizeof(*seconds), compare);
    double median = n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
    return (struct bench_times){seconds[0], median, n};
}

void bench_time_machine(struct str *out)
{
    str_printf(out, "CPU: %s, level %s, %d thread%s\n", cpu_name(), isa_name(cpu_isa()),
               par_threads(), par_threads() == 1 ? "" : "s");
}

enum rc bench_time_json(json_t *j, struct str *out, struct diag *d)
{
    char *text = j ? json_dumps(j, JSON_INDENT(2) | JSON_REAL_PRECISION(JSON_DIGITS)) : NULL;
    json_decref(j);
    TRY_ALLOC(text, d);
    str_printf(out, "%s\n", text);
    free(text);
    return RC_OK;
}
