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

void columns_walk(int64_t row, int64_t end, int64_t columns,
                  void (*fn)(void *context, const struct columns_tile *t), void *context)
{
    int64_t wide = columns < KERN_TILE ? columns : KERN_TILE, high = KERN_TILE / wide;
    for (; row < end; row += high)
        for (int64_t col = 0; col < columns; col += wide) {
            struct columns_tile t = {.at = row * columns + col, .col = col};
            t.rows = end - row < high ? end - row : high;
            t.cols = columns - col < wide ? columns - col : wide;
            t.n = t.rows * t.cols;
            fn(context, &t);
        }
}

static void each_part(void *context, int64_t part)
{
    const struct job *j = context;
    columns_walk(j->rows * part / j->parts, j->rows * (part + 1) / j->parts, j->columns, j->fn,
                 j->context);
}

struct sum_part {
    const struct job *job;
    double *total; /* (2, columns) */
};

static void sum_tile(void *context, const struct columns_tile *t)
{
    const struct sum_part *s = context;
    float first[KERN_TILE], second[KERN_TILE];
    memset(first, 0, (size_t)t->cols * sizeof(float));
    memset(second, 0, (size_t)t->cols * sizeof(float));
    s->job->sum(s->job->context, t, first, second);
    double *total = s->total + t->col, *other = total + s->job->columns;
    for (int64_t c = 0; c < t->cols; c++) {
        total[c] += (double)first[c];
        other[c] += (double)second[c];
    }
}

static void one_sum(void *context, int64_t part)
{
    const struct job *j = context;
    struct sum_part s = {j, j->partial + part * 2 * j->columns};
    memset(s.total, 0, (size_t)(2 * j->columns) * sizeof(*s.total));
    columns_walk(j->rows * part / j->parts, j->rows * (part + 1) / j->parts, j->columns, sum_tile,
                 &s);
}

void columns_each(int64_t rows, int64_t columns,
                  void (*fn)(void *context, const struct columns_tile *t), void *context)
{
    struct job j = job_of(rows, columns, context);
    j.fn = fn;
    par_for(j.parts, each_part, &j);
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
    par_for(j.parts, one_sum, &j);
    memset(out, 0, (size_t)(2 * columns) * sizeof(*out));
    for (int64_t p = 0; p < j.parts; p++)
        for (int64_t i = 0; i < 2 * columns; i++)
            out[i] += j.partial[p * 2 * columns + i];
}
