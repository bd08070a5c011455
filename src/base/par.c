/* par.c: see par.h. */
#include "config.h"

#include "base/par.h"

#include <omp.h>

static int n_threads = 1;

void par_set_threads(int n)
{
    if (n <= 0)
        n = omp_get_num_procs();
    n_threads = n > PAR_MAX_THREADS ? PAR_MAX_THREADS : n;
}

int par_threads(void)
{
    return n_threads;
}

void par_for(int64_t n_blocks, void (*body)(void *context, int64_t block), void *context)
{
    int team = n_blocks < n_threads ? (int)n_blocks : n_threads;
    if (team <= 1) {
        for (int64_t i = 0; i < n_blocks; i++)
            body(context, i);
        return;
    }
    /* dynamic: blocks may differ in cost, and the machine may be shared */
#pragma omp parallel for schedule(dynamic) num_threads(team)
    for (int64_t i = 0; i < n_blocks; i++)
        body(context, i);
}

int par_thread(void)
{
    return omp_get_thread_num();
}
