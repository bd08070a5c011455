/* columns.c: see columns.h. */
#include "config.h"

#include "op/columns.h"

#include "base/par.h"

#include <string.h>

enum { PART = 32 * KERN_TILE }; /* elements that are worth a part of their own */

struct job {
    int64_t rows, columns, parts;
    void (*fn)(void *context, const struct columns_tile *t);
    void (*sum)(void *context, const struct columns_tile *t, float *first, float *second);
    void *context;
    double *partial; /* (parts, 2, columns) */
};

static struct job job_of(int64_t rows, int64_t columns, void *context)
{
    int64_t parts = rows * columns / PART + 1;
    parts = parts < COLUMNS_MOST_PARTS ? parts : COLUMNS_MOST_PARTS;
    return (struct job){
        .rows = rows, .columns = columns, .parts = parts < rows ? parts : rows, .context = context};
}

static void one_tile(const struct job *j, const struct columns_tile *t, double *total)
{
    float first[KERN_TILE], second[KERN_TILE];
    if (j->fn) {
        j->fn(j->context, t);
        return;
    }
    memset(first, 0, (size_t)t->cols * sizeof(float));
    memset(second, 0, (size_t)t->cols * sizeof(float));
    j->sum(j->context, t, first, second);
    for (int64_t c = 0; c < t->cols; c++) {
        total[t->col + c] += (double)first[c];
        total[j->columns + t->col + c] += (double)second[c];
    }
}

static void one_part(void *context, int64_t part)
{
    const struct job *j = context;
    int64_t row = j->rows * part / j->parts, end = j->rows * (part + 1) / j->parts;
    int64_t wide = j->columns < KERN_TILE ? j->columns : KERN_TILE, high = KERN_TILE / wide;
    double *total = j->partial ? j->partial + part * 2 * j->columns : NULL;
    if (total)
        memset(total, 0, (size_t)(2 * j->columns) * sizeof(*total));
    for (; row < end; row += high)
        for (int64_t col = 0; col < j->columns; col += wide) {
            struct columns_tile t = {.at = row * j->columns + col, .col = col};
            t.rows = end - row < high ? end - row : high;
            t.cols = j->columns - col < wide ? j->columns - col : wide;
            t.n = t.rows * t.cols;
            one_tile(j, &t, total);
        }
}

void columns_each(int64_t rows, int64_t columns,
                  void (*fn)(void *context, const struct columns_tile *t), void *context)
{
    struct job j = job_of(rows, columns, context);
    j.fn = fn;
    par_for(j.parts, one_part, &j);
}

size_t columns_scratch(int64_t columns)
{
    return (size_t)COLUMNS_MOST_PARTS * 2 * (size_t)columns * sizeof(double);
}

void columns_sums(int64_t rows, int64_t columns,
                  void (*fn)(void *context, const struct columns_tile *t, float *first,
                             float *second),
                  void *context, void *scratch, double *out)
{
    struct job j = job_of(rows, columns, context);
    j.sum = fn;
    j.partial = scratch;
    par_for(j.parts, one_part, &j);
    memset(out, 0, (size_t)(2 * columns) * sizeof(*out));
    for (int64_t p = 0; p < j.parts; p++)
        for (int64_t i = 0; i < 2 * columns; i++)
            out[i] += j.partial[p * 2 * columns + i];
}
