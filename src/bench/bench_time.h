/* bench_time.h: the stopwatch of all benchmarks. Warms up, then repeats until both a least time and
 * a least number of samples are reached; tells the best and the median, because on a shared
 * machine a mean says more about the neighbours. */
#ifndef BENCH_TIME_H
#define BENCH_TIME_H

#include "base/diag.h"
#include "base/str.h"

#include <jansson.h>
#include <stdint.h>

struct bench_times {
    double best, median; /* seconds of one call */
    int n;               /* samples */
};

/* A call that takes longer than a second by itself is not repeated. */
struct bench_times bench_time(int64_t least_ms, void (*body)(void *context), void *context);
/* The same for n bodies in turn, sample after sample, until each has had its least time: a busy
 * moment of the machine hits all of them alike. */
MUST_USE enum rc bench_time_turns(int n, int64_t least_ms, void (*body)(void *context),
                                  void *const *contexts, struct bench_times *out, struct diag *d);
/* The same from samples taken elsewhere, n >= 1; sorts them. */
struct bench_times bench_time_sort(double *seconds, int n);

/* "CPU: ..., level amx, 2 threads" */
void bench_time_machine(struct str *out);
/* Writes and drops j, which may be NULL when out of memory. */
MUST_USE enum rc bench_time_json(json_t *j, struct str *out, struct diag *d);

#endif
