/* long_cast.c: narrows all 2^32 FP32 patterns with every row that runs here and compares each
 * result with the exact reference of cast_ref.h. Takes minutes, so `make check-long` runs it and
 * `make check` does not. */
#include "config.h"

#include "base/cpu.h"
#include "base/par.h"
#include "cast_ref.h"
#include "kern/kern_cast.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1 << 14, CHUNK = 1 << 24, CHUNKS = 1 << 8, BLOCKS = CHUNK / BLOCK };

static struct {
    enum dtype to;
    struct cast_format format;
    uint32_t first;        /* pattern of this chunk */
    float *x;              /* (CHUNK) */
    uint16_t *right, *out; /* (CHUNK) */
    int64_t wrong[BLOCKS]; /* per block, so that threads share nothing */
} job;

static void make_block(void *context, int64_t block)
{
    (void)context;
    for (uint32_t i = (uint32_t)block * BLOCK; i < (uint32_t)(block + 1) * BLOCK; i++) {
        uint32_t bits = job.first + i;
        memcpy(&job.x[i], &bits, sizeof(bits));
        job.right[i] = cast_ref(job.format, job.x[i]);
    }
}

static void check_block(void *context, int64_t block)
{
    (void)context;
    int64_t at = block * BLOCK;
    kern_cast(job.to, job.out + at, DTYPE_F32, job.x + at, BLOCK);
    for (int64_t i = at; i < at + BLOCK; i++)
        job.wrong[block] += job.out[i] != job.right[i];
}

/* The number of wrong results of one row on this chunk. */
static int64_t check_row(const char *name)
{
    int64_t wrong = 0;
    kern_cast_force(name);
    memset(job.wrong, 0, sizeof(job.wrong));
    par_for(BLOCKS, check_block, NULL);
    for (int i = 0; i < BLOCKS; i++)
        wrong += job.wrong[i];
    return wrong;
}

static int64_t check_type(enum dtype to, struct cast_format format)
{
    int64_t wrong[8] = {0}, total = 0;
    job.to = to;
    job.format = format;
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        job.first = chunk * CHUNK;
        par_for(BLOCKS, make_block, NULL);
        for (int r = 0; kern_cast_row_name(r) && r < 8; r++)
            wrong[r] += check_row(kern_cast_row_name(r));
    }
    for (int r = 0; kern_cast_row_name(r) && r < 8; r++) {
        printf("%s, row %s: %lld of 2^32 wrong\n", dtype_name(to), kern_cast_row_name(r),
               (long long)wrong[r]);
        total += wrong[r];
    }
    fflush(stdout);
    return total;
}

int main(void)
{
    static struct diag d;
    diag_init(&d);
    if (cpu_init(NULL, &d) != RC_OK) {
        diag_print(&d, 0, stderr);
        return EXIT_FAILURE;
    }
    par_set_threads(0);
    job.x = malloc(CHUNK * sizeof(*job.x));
    job.right = malloc(CHUNK * sizeof(*job.right));
    job.out = malloc(CHUNK * sizeof(*job.out));
    if (!job.x || !job.right || !job.out)
        return EXIT_FAILURE;
    int64_t wrong = check_type(DTYPE_F16, CAST_FP16) + check_type(DTYPE_BF16, CAST_BF16);
    free(job.x);
    free(job.right);
    free(job.out);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
