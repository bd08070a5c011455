/* bench_rows.c: the option --row of gemm and cast. */
#include "config.h"

#include "bench/bench.h"

#include <string.h>

bool bench_rows_wants(const struct bench_opts *o, const char *row)
{
    for (int i = 0; i < o->n_rows; i++)
        if (strcmp(o->rows[i], row) == 0)
            return true;
    return o->n_rows == 0;
}

struct names {
    const char *(*next)(int i);
};

static const char *next_name(const void *context, int i)
{
    return ((const struct names *)context)->next(i);
}

static bool listed(const char *(*next)(int i), const char *row)
{
    const char *name;
    for (int i = 0; (name = next(i)) != NULL; i++)
        if (strcmp(name, row) == 0)
            return true;
    return false;
}

enum rc bench_rows_check(const struct bench_opts *o, const char *topic, const char *(*next)(int i),
                         struct diag *d)
{
    const struct names names = {next};
    enum rc rc = RC_OK;
    for (int i = 0; i < o->n_rows; i++) {
        if (listed(next, o->rows[i]))
            continue;
        rc = diag_error(d, RC_USAGE, NOWHERE, "bench %s: there is no kernel row '%.60s' here",
                        topic, o->rows[i]);
        const char *near = str_nearest(o->rows[i], next_name, &names);
        if (near)
            diag_note(d, NOWHERE, "did you mean '%s'?", near);
    }
    if (rc != RC_OK)
        diag_note(d, NOWHERE, "see: mptrain list kernels");
    return rc;
}
