/* normalizer.c: the constants of input normalisation, from the training split.
 *
 * standard: (x - mean) / standard deviation of the population; minmax: to [0, 1]. Statistics are
 * FP64, in two passes over the data, by blocks of columns, so that threads do not matter. A column
 * is constant where its spread (max - min) is at most 1e-20, or 1e-6 of its largest magnitude
 * (about 8 steps of FP32: rounding noise, not data). Its factor is 0. */
#include "config.h"

#include "base/par.h"
#include "dataset/dataset.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_COLUMNS = 64, WARNED = 5 };

#define SPREAD_ABSOLUTE 1e-20
#define SPREAD_RELATIVE 1e-6

struct column_stats {
    double mean, variance, min, max;
};

struct survey {
    const struct dataset *ds;
    struct column_stats *stats; /* (columns) */
};

/* A block's part of one row; behind the last column 0, so that loops have a fixed length, which
 * compilers vectorise. */
static void load(const struct dataset *ds, int64_t row, int64_t first, int64_t n,
                 double out[BLOCK_COLUMNS])
{
    int64_t at = row * ds->columns + first;
    const uint8_t *bytes = (const uint8_t *)ds->inputs + at;
    const float *floats = (const float *)ds->inputs + at;
    if (ds->dtype == DTYPE_U8)
        for (int64_t c = 0; c < n; c++)
            out[c] = bytes[c];
    else
        for (int64_t c = 0; c < n; c++)
            out[c] = (double)floats[c];
}

static void survey_block(void *context, int64_t block)
{
    const struct survey *s = context;
    const struct dataset *ds = s->ds;
    int64_t first = block * BLOCK_COLUMNS;
    int64_t n = ds->columns - first < BLOCK_COLUMNS ? ds->columns - first : BLOCK_COLUMNS;
    double x[BLOCK_COLUMNS] = {0}, mean[BLOCK_COLUMNS] = {0}, square[BLOCK_COLUMNS] = {0};
    double min[BLOCK_COLUMNS], max[BLOCK_COLUMNS], rows = (double)ds->rows;
    for (int c = 0; c < BLOCK_COLUMNS; c++) {
        min[c] = INFINITY;
        max[c] = -INFINITY;
    }
    for (int64_t row = 0; row < ds->rows; row++) {
        load(ds, row, first, n, x);
        for (int c = 0; c < BLOCK_COLUMNS; c++) {
            mean[c] += x[c];
            min[c] = x[c] < min[c] ? x[c] : min[c];
            max[c] = x[c] > max[c] ? x[c] : max[c];
        }
    }
    for (int c = 0; c < BLOCK_COLUMNS; c++)
        mean[c] /= rows;
    for (int64_t row = 0; row < ds->rows; row++) {
        load(ds, row, first, n, x);
        for (int c = 0; c < BLOCK_COLUMNS; c++)
            square[c] += (x[c] - mean[c]) * (x[c] - mean[c]);
    }
    for (int64_t c = 0; c < n; c++)
        s->stats[first + c] = (struct column_stats){mean[c], square[c] / rows, min[c], max[c]};
}

/* All columns have equally many rows: the variance of all is the mean of the columns' variances
 * plus the variance of their means. */
static struct column_stats merge(const struct column_stats *stats, int64_t n, int64_t step)
{
    struct column_stats all = {.min = INFINITY, .max = -INFINITY};
    for (int64_t c = 0; c < n; c++) {
        all.mean += stats[c * step].mean / (double)n;
        all.min = fmin(all.min, stats[c * step].min);
        all.max = fmax(all.max, stats[c * step].max);
    }
    for (int64_t c = 0; c < n; c++) {
        double x = stats[c * step].mean - all.mean;
        all.variance += (stats[c * step].variance + x * x) / (double)n;
    }
    return all;
}

static bool is_constant(const struct column_stats *t, double divide)
{
    double spread = t->max - t->min, size = fmax(fabs(t->min), fabs(t->max));
    return spread / fabs(divide) <= SPREAD_ABSOLUTE || spread <= SPREAD_RELATIVE * size;
}

static void warn_constant(const struct dataset *ds, int64_t column, double value, struct diag *d)
{
    struct loc file = {ds->source, 0, 0};
    if (ds->column_names)
        diag_warning(d, file,
                     "column %" PRId64 " (%.64s) is constant (%g) in the training data: "
                     "its normalised value is 0",
                     column + 1, ds->column_names[column], value);
    else
        diag_warning(d, file,
                     "column %" PRId64 " is constant (%g) in the training data: its "
                     "normalised value is 0",
                     column + 1, value);
}

/* (x / divide - mean / divide) / (spread / divide): the division cancels but in the rule above. */
static void set_constants(struct normalizer *n, const struct column_stats *stats,
                          const struct dataset *ds, double divide, enum normalize how,
                          struct diag *d)
{
    int64_t constant = 0;
    for (int64_t c = 0; c < n->columns; c++) {
        const struct column_stats *t = &stats[c];
        bool standard = how == NORMALIZE_STANDARD;
        n->shift[c] = (float)(standard ? t->mean : t->min);
        if (!is_constant(t, divide))
            n->factor[c] = (float)(1 / (standard ? sqrt(t->variance) : t->max - t->min));
        else if (n->columns == 1 && ds->columns > 1)
            diag_warning(d, (struct loc){ds->source, 0, 0},
                         "all inputs of the training data are %g: normalised they are 0", t->min);
        else if (constant++ < WARNED)
            warn_constant(ds, c, t->min, d);
    }
    if (constant > WARNED)
        diag_warning(d, (struct loc){ds->source, 0, 0}, "%" PRId64 " columns in all are constant",
                     constant);
}

static enum rc allocate(struct normalizer *n, int64_t columns, struct diag *d)
{
    n->columns = columns;
    n->shift = calloc((size_t)columns, sizeof(float));
    n->factor = calloc((size_t)columns, sizeof(float));
    if (n->shift && n->factor)
        return RC_OK;
    normalizer_release(n);
    return diag_no_memory(d);
}

enum rc normalizer_init(struct normalizer *n, const struct dataset *train, double divide,
                        enum normalize how, enum normalize_by by, struct diag *d)
{
    memset(n, 0, sizeof(*n));
    bool one = how == NORMALIZE_NONE || by == NORMALIZE_BY_ALL;
    int64_t channels = train->dims[train->rank - 1];
    TRY(allocate(n, one ? 1 : train->columns, d));
    if (how == NORMALIZE_NONE) {
        n->factor[0] = (float)(1 / divide);
        return RC_OK;
    }
    struct survey s = {train, calloc((size_t)train->columns, sizeof(*s.stats))};
    if (!s.stats) {
        normalizer_release(n);
        return diag_no_memory(d);
    }
    par_for((train->columns + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS, survey_block, &s);
    if (by == NORMALIZE_BY_ALL)
        s.stats[0] = merge(s.stats, train->columns, 1);
    for (int64_t c = 0; by == NORMALIZE_BY_CHANNEL && c < channels; c++)
        s.stats[c] = merge(s.stats + c, train->columns / channels, channels);
    for (int64_t i = channels; by == NORMALIZE_BY_CHANNEL && i < train->columns; i++)
        s.stats[i] = s.stats[i % channels];
    set_constants(n, s.stats, train, divide, how, d);
    free(s.stats);
    return RC_OK;
}

void normalizer_release(struct normalizer *n)
{
    free(n->shift);
    free(n->factor);
    memset(n, 0, sizeof(*n));
}
