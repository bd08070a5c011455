/* dataset.c: see dataset.h. The table of formats, holding out, class checks, order and batches.
 *
 * Invariant: what comes out depends on the data, the seed and the epoch, never on threads. */
#include "config.h"

#include "dataset/dataset.h"

#include "base/par.h"
#include "base/rng.h"
#include "dataset/augment.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define READER(name) extern const struct reader reader_##name;
#include "dataset/dataset.list"
#undef READER

static const struct reader *const readers[] = {
#define READER(name) &reader_##name,
#include "dataset/dataset.list"
#undef READER
};

enum { OFFENDERS_SHOWN = 3, BLOCK_NUMBERS = 32768, UNROLL = 16 };

const struct reader *dataset_reader_at(int i)
{
    return i >= 0 && (size_t)i < COUNT_OF(readers) ? readers[i] : NULL;
}

const struct reader *dataset_reader(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(readers); i++)
        if (strcmp(readers[i]->name, name) == 0)
            return readers[i];
    return NULL;
}

static enum rc init(struct dataset *out, const char *name, struct diag *d)
{
    memset(out, 0, sizeof(*out));
    pool_init(&out->pool);
    out->name = pool_strdup(&out->pool, name);
    TRY_ALLOC(out->name, d);
    return RC_OK;
}

enum rc dataset_open(struct dataset *out, const struct reader *reader, const char *name,
                     const struct section *split, const struct dataset_want *want, struct diag *d)
{
    TRY(init(out, name, d));
    enum rc rc = reader->open(out, split, want, d);
    if (rc != RC_OK)
        dataset_release(out);
    return rc;
}

enum rc dataset_open_inputs(struct dataset *out, const struct reader *reader, const char *path,
                            const struct section *split, struct diag *d)
{
    if (!reader->open_inputs)
        return diag_error(d, RC_CONFIG, NOWHERE,
                          "the model was trained on %s data, which come from no file; "
                          "give a format with --set data.type=...",
                          reader->name);
    TRY(init(out, "input", d));
    enum rc rc = reader->open_inputs(out, path, split, d);
    if (rc != RC_OK)
        dataset_release(out);
    return rc;
}

void dataset_release(struct dataset *ds)
{
    free(ds->inputs);
    free(ds->classes);
    free(ds->values);
    free(ds->origin);
    pool_release(&ds->pool);
    memset(ds, 0, sizeof(*ds));
}

static int64_t origin_of(const struct dataset *ds, int64_t row)
{
    return ds->origin ? ds->origin[row] : row + (ds->first_line > 0 ? ds->first_line : 1);
}

/* ---- holding out --------------------------------------------------------------------------- */

/* picked[row]: goes to the held part. A Fisher-Yates shuffle that stops after n draws. */
static enum rc pick_rows(int64_t rows, int64_t n, uint64_t seed, bool **picked, struct diag *d)
{
    int64_t *order = malloc((size_t)rows * sizeof(*order));
    *picked = calloc((size_t)rows, sizeof(**picked));
    if (!order || !*picked) {
        free(order);
        free(*picked);
        return diag_no_memory(d);
    }
    struct rng_key key = rng_key(seed, RNG_HOLDOUT, 0, 0);
    for (int64_t i = 0; i < rows; i++)
        order[i] = i;
    for (int64_t i = 0; i < n; i++) {
        int64_t j = i + (int64_t)rng_below(key, (uint64_t)i, (uint64_t)(rows - i));
        int64_t row = order[j];
        order[j] = order[i];
        (*picked)[row] = true;
    }
    free(order);
    return RC_OK;
}

static const char **copy_names(struct pool *pool, const char *const *names, int64_t n)
{
    const char **out = pool_array(pool, (size_t)n, sizeof(*out));
    for (int64_t i = 0; out && i < n; i++)
        if (!(out[i] = pool_strdup(pool, names[i])))
            return NULL;
    return out;
}

/* Everything of ds but its rows, and room for `rows` rows. */
static enum rc make_like(struct dataset *out, const struct dataset *ds, int64_t rows,
                         struct diag *d)
{
    *out = *ds;
    pool_init(&out->pool);
    out->rows = rows;
    out->name = pool_strdup(&out->pool, ds->name);
    out->source = pool_strdup(&out->pool, ds->source);
    out->target_source = pool_strdup(&out->pool, ds->target_source);
    bool failed = !out->name || !out->source || !out->target_source;
    if (ds->class_names)
        failed |= !(out->class_names = copy_names(&out->pool, ds->class_names, ds->n_class_names));
    if (ds->column_names)
        failed |= !(out->column_names = copy_names(&out->pool, ds->column_names, ds->columns));
    size_t n = (size_t)rows, columns = (size_t)ds->columns;
    out->inputs = malloc(n * columns * dtype_size(ds->dtype));
    out->classes = ds->classes ? malloc(n * sizeof(*out->classes)) : NULL;
    out->values = ds->values ? malloc(n * (size_t)ds->target_columns * sizeof(*out->values)) : NULL;
    out->origin = malloc(n * sizeof(*out->origin));
    failed |= !out->inputs || !out->origin || (ds->classes && !out->classes) ||
              (ds->values && !out->values);
    if (!failed)
        return RC_OK;
    dataset_release(out);
    return diag_no_memory(d);
}

static void copy_row(struct dataset *to, int64_t i, const struct dataset *from, int64_t row)
{
    if (to == from && i == row)
        return;
    size_t bytes = (size_t)from->columns * dtype_size(from->dtype);
    memcpy((char *)to->inputs + (size_t)i * bytes, (char *)from->inputs + (size_t)row * bytes,
           bytes);
    if (from->classes)
        to->classes[i] = from->classes[row];
    if (from->values)
        memcpy(to->values + i * to->target_columns, from->values + row * from->target_columns,
               (size_t)from->target_columns * sizeof(float));
}

static enum rc number_rows(struct dataset *ds, struct diag *d)
{
    if (ds->origin)
        return RC_OK;
    int64_t *origin = malloc((size_t)ds->rows * sizeof(*origin));
    TRY_ALLOC(origin, d);
    for (int64_t i = 0; i < ds->rows; i++)
        origin[i] = origin_of(ds, i);
    ds->origin = origin;
    return RC_OK;
}

static void move_rows(struct dataset *ds, const bool *picked, struct dataset *held)
{
    int64_t kept = 0, moved = 0;
    for (int64_t row = 0; row < ds->rows; row++) {
        struct dataset *to = picked[row] ? held : ds;
        int64_t at = picked[row] ? moved++ : kept++;
        copy_row(to, at, ds, row);
        to->origin[at] = ds->origin[row];
    }
    ds->rows = kept;
}

enum rc dataset_hold_out(struct dataset *ds, double share, uint64_t seed, struct dataset *held,
                         struct diag *d)
{
    memset(held, 0, sizeof(*held));
    double exact = share * (double)ds->rows;
    int64_t n = exact > 0 && exact < (double)ds->rows ? llround(exact) : 0;
    if (n < 1 || n >= ds->rows)
        return diag_error(d, RC_CONFIG, NOWHERE,
                          "hold_out %g of the %" PRId64 " rows of %s leaves %s without a row",
                          share, ds->rows, ds->name,
                          n < 1 ? "the validation set" : "the training set");
    bool *picked;
    TRY(number_rows(ds, d));
    TRY(pick_rows(ds->rows, n, seed, &picked, d));
    enum rc rc = make_like(held, ds, n, d);
    if (rc == RC_OK)
        move_rows(ds, picked, held);
    free(picked);
    return rc;
}

/* ---- class checks -------------------------------------------------------------------------- */

static void report_class(const struct dataset *ds, int64_t row, int64_t n_classes, struct diag *d)
{
    int64_t at = origin_of(ds, row);
    const char *file = ds->target_source;
    if (ds->first_line > 0)
        diag_error(d, RC_DATA, (struct loc){file, (int)at, 0},
                   "class %" PRId64 " is outside the allowed range 0..%" PRId64, ds->classes[row],
                   n_classes - 1);
    else
        diag_error(d, RC_DATA, (struct loc){file, 0, 0},
                   "row %" PRId64 ": class %" PRId64 " is outside the allowed range 0..%" PRId64,
                   at, ds->classes[row], n_classes - 1);
}

enum rc dataset_check_classes(const struct dataset *ds, int64_t n_classes, int64_t ignored_label,
                              struct diag *d)
{
    int64_t offenders = 0, low = INT64_MAX, high = INT64_MIN;
    for (int64_t row = 0; row < ds->rows; row++) {
        int64_t c = ds->classes[row];
        if (ignored_label != -1 && c == ignored_label)
            continue;
        low = c < low ? c : low;
        high = c > high ? c : high;
        if (c >= 0 && c < n_classes)
            continue;
        if (offenders++ < OFFENDERS_SHOWN)
            report_class(ds, row, n_classes, d);
    }
    if (offenders == 0)
        return RC_OK;
    struct loc file = {ds->target_source, 0, 0};
    diag_note(d, file,
              "%" PRId64 " of %" PRId64 " labels are out of range; the model has %" PRId64
              " outputs, the labels run from %" PRId64 " to %" PRId64,
              offenders, ds->rows, n_classes, low, high);
    if (low == 1 && high == n_classes)
        diag_note(d, file, "the labels are numbered from 1; number them from 0");
    return RC_DATA;
}

/* ---- order and batches --------------------------------------------------------------------- */

void dataset_order(int64_t rows, bool shuffle, uint64_t seed, int64_t epoch, int64_t *order)
{
    for (int64_t i = 0; i < rows; i++)
        order[i] = i;
    if (!shuffle)
        return;
    struct rng_key key = rng_key(seed, RNG_SHUFFLE, (uint64_t)epoch, 0);
    for (int64_t i = rows - 1; i > 0; i--) {
        int64_t j = (int64_t)rng_below(key, (uint64_t)i, (uint64_t)i + 1);
        int64_t row = order[i];
        order[i] = order[j];
        order[j] = row;
    }
}

/* What the blocks of a gather share. */
struct gathering {
    const struct dataset *ds;
    const struct normalizer *norm;
    const struct augmenter *augmenter;
    const int64_t *order;
    int64_t n, block_rows;
    float *inputs;
    void *targets;
};

static const float no_shift = 0, no_factor = 1;

/* One row. Loops of a fixed length inside: compilers vectorise those at -O2 as well. */
#define CONVERT_ROW(name, type)                                                                    \
    static void name##_by_column(const type *restrict from, int64_t n,                             \
                                 const float *restrict shift, const float *restrict factor,        \
                                 float *restrict to)                                               \
    {                                                                                              \
        int64_t j = 0;                                                                             \
        for (; j + UNROLL <= n; j += UNROLL)                                                       \
            for (int k = 0; k < UNROLL; k++)                                                       \
                to[j + k] = ((float)from[j + k] - shift[j + k]) * factor[j + k];                   \
        for (; j < n; j++)                                                                         \
            to[j] = ((float)from[j] - shift[j]) * factor[j];                                       \
    }                                                                                              \
    static void name##_by_all(const type *restrict from, int64_t n, float shift, float factor,     \
                              float *restrict to)                                                  \
    {                                                                                              \
        int64_t j = 0;                                                                             \
        for (; j + UNROLL <= n; j += UNROLL)                                                       \
            for (int k = 0; k < UNROLL; k++)                                                       \
                to[j + k] = ((float)from[j + k] - shift) * factor;                                 \
        for (; j < n; j++)                                                                         \
            to[j] = ((float)from[j] - shift) * factor;                                             \
    }

CONVERT_ROW(u8, uint8_t)
CONVERT_ROW(f32, float)

/* Row i of the gathering, normalised. */
static void gather_row(const struct gathering *g, int64_t i, float *to)
{
    const struct dataset *ds = g->ds;
    int64_t n = ds->columns, at = g->order[i] * n;
    const float *shift = g->norm ? g->norm->shift : &no_shift;
    const float *factor = g->norm ? g->norm->factor : &no_factor;
    bool by_column = g->norm && g->norm->columns > 1;
    const uint8_t *bytes = ds->inputs;
    const float *floats = ds->inputs;
    if (ds->dtype == DTYPE_U8 && by_column)
        u8_by_column(bytes + at, n, shift, factor, to);
    else if (ds->dtype == DTYPE_U8)
        u8_by_all(bytes + at, n, *shift, *factor, to);
    else if (by_column)
        f32_by_column(floats + at, n, shift, factor, to);
    else
        f32_by_all(floats + at, n, *shift, *factor, to);
}

static void gather_target(const struct gathering *g, int64_t i)
{
    const struct dataset *ds = g->ds;
    int64_t row = g->order[i], n = ds->target_columns;
    if (ds->target == DATASET_CLASSES)
        ((int32_t *)g->targets)[i] = (int32_t)ds->classes[row];
    else if (ds->reconstructs)
        gather_row(g, i, (float *)g->targets + i * n);
    else
        memcpy((float *)g->targets + i * n, ds->values + row * n, (size_t)n * sizeof(float));
}

static void gather_block(void *context, int64_t block)
{
    const struct gathering *g = context;
    const struct dataset *ds = g->ds;
    int64_t end = (block + 1) * g->block_rows < g->n ? (block + 1) * g->block_rows : g->n;
    for (int64_t i = block * g->block_rows; i < end; i++) {
        if (g->inputs && g->augmenter)
            augment_row(g->augmenter, ds, g->norm, g->order[i], g->inputs + i * ds->columns);
        else if (g->inputs)
            gather_row(g, i, g->inputs + i * ds->columns);
        if (g->targets)
            gather_target(g, i);
    }
}

void dataset_gather(const struct dataset *ds, const struct normalizer *norm,
                    const struct augmenter *augmenter, const int64_t *order, int64_t n,
                    float *inputs, void *targets)
{
    BUG_IF(targets && ds->target == DATASET_NO_TARGET);
    BUG_IF(norm && norm->columns != 1 && norm->columns != ds->columns);
    struct gathering g = {ds,     norm,   augmenter, order, n, 1 + BLOCK_NUMBERS / ds->columns,
                          inputs, targets};
    par_for((n + g.block_rows - 1) / g.block_rows, gather_block, &g);
}

void dataset_reconstruct(struct dataset *ds)
{
    ds->target = DATASET_VALUES;
    ds->target_columns = ds->columns;
    ds->reconstructs = true;
}

uint32_t dataset_crc(const struct dataset *ds)
{
    size_t rows = (size_t)ds->rows, size = dtype_size(ds->dtype);
    uLong crc = crc32_z(0, (const void *)ds->dims, (size_t)ds->rank * sizeof(*ds->dims));
    crc = crc32_z(crc, ds->inputs, rows * (size_t)ds->columns * size);
    if (ds->classes)
        crc = crc32_z(crc, (const void *)ds->classes, rows * sizeof(*ds->classes));
    if (ds->values)
        crc = crc32_z(crc, (const void *)ds->values,
                      rows * (size_t)ds->target_columns * sizeof(*ds->values));
    return (uint32_t)crc;
}
