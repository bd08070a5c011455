/* bench.h: how fast products, conversions, ops and whole steps are on this machine. Behind
 * `mptrain bench`; measures and writes a text or JSON, prints nothing.
 *
 * To add a measure: a bench_<name>.c with a function as below, and a row in `topics` of
 * cmd/cmd_bench.c. */
#ifndef BENCH_H
#define BENCH_H

#include "config/spec.h"

struct bench_opts {
    int64_t m, n, k;   /* gemm */
    const char *dtype; /* gemm, op: this one only; NULL: all that are taken */
    int n_rows;        /* gemm, cast: these only; 0: all */
    const char *const *rows;
    bool pack;         /* gemm: packing B counts */
    const char *shape; /* op: of the inputs, "256,1024"; NULL: those of the op's cases */
    const char *attrs; /* op: its keys, YAML; NULL: those of the op's cases */
    int64_t steps, warmup;
    int64_t ms; /* least time of one measure */
    bool json;
};

/* False where o asks for other rows only. */
bool bench_rows_wants(const struct bench_opts *o, const char *row);
/* Refuses a row that `next` does not list, with the nearest name and a word where to look. */
MUST_USE enum rc bench_rows_check(const struct bench_opts *o, const char *topic,
                                  const char *(*next)(int i), struct diag *d);

MUST_USE enum rc bench_gemm(const struct bench_opts *o, struct str *out, struct diag *d);
MUST_USE enum rc bench_cast(const struct bench_opts *o, struct str *out, struct diag *d);
MUST_USE enum rc bench_op(const struct bench_opts *o, const char *name, struct str *out,
                          struct diag *d);
MUST_USE enum rc bench_step(const struct bench_opts *o, const struct spec *spec, struct str *out,
                            struct diag *d);

#endif
