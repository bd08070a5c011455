/* bench_copy.h: how fast this machine copies memory: the yardstick for passes over the params. */
#ifndef BENCH_COPY_H
#define BENCH_COPY_H

#include "base/diag.h"

#include <stdint.h>

/* Bytes read plus bytes written per second, by memcpy on all threads, from one half of `footprint`
 * bytes to the other: as large as what it is compared with, so that caches help both alike. */
MUST_USE enum rc bench_copy(size_t footprint, int64_t least_ms, double *rate, struct diag *d);

#endif
