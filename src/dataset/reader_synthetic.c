/* reader_synthetic.c: made-up data for benchmarks and trials, a function of (seed, split name).
 *
 * Targets can be learnt: a linear teacher, the same for all splits, reads the first inputs of a
 * row. Values are the teacher's outputs; the class is the number of its largest output. */
#include "config.h"

#include "dataset/dataset.h"

#include "base/par.h"
#include "base/rng.h"
#include "dataset/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum synthetic_distribution { SYNTHETIC_UNIFORM, SYNTHETIC_NORMAL };

static const struct key synthetic_keys[] = {
    {"shape", KEY_INTS, offsetof(struct synthetic_attrs, shape), NULL, 1, 1 << 24, 0, NULL,
     "shape of one row: [784] or [28, 28, 1]"},
    {"rows", KEY_INT, offsetof(struct synthetic_attrs, rows), NULL, 1, 1LL << 40, 0, NULL,
     "number of rows"},
    {"classes", KEY_INT, offsetof(struct synthetic_attrs, classes), "0", 0, 1 << 24, 0, NULL,
     "number of classes, for losses that want classes"},
    {"target_columns", KEY_INT, offsetof(struct synthetic_attrs, target_columns), "0", 0, 1 << 24,
     0, NULL, "numbers per target, for losses that want values"},
    {"distribution", KEY_CHOICE, offsetof(struct synthetic_attrs, distribution), "normal", 0, 0, 0,
     "uniform|normal", "of the inputs: uniform in [0,1), or standard normal"},
    {0},
};

enum { TEACHER_INPUTS = 64, BLOCK_NUMBERS = 65536 };

#define MAX_NUMBERS ((int64_t)1 << 43)

/* What the blocks share. */
struct synthesis {
    struct dataset *ds;
    struct rng_key key;
    int distribution;
    int64_t block_rows;
    int64_t teacher_inputs, outputs;
    float *teacher; /* (outputs, teacher_inputs) */
};

static void fill_inputs(const struct synthesis *s, int64_t row, int64_t rows)
{
    int64_t columns = s->ds->columns;
    uint64_t first = (uint64_t)(row * columns);
    float *to = (float *)s->ds->inputs + first;
    if (s->distribution == SYNTHETIC_NORMAL)
        rng_normal(s->key, first, rows * columns, to);
    else
        rng_uniform(s->key, first, rows * columns, to);
}

static double teach(const struct synthesis *s, int64_t row, int64_t output)
{
    const float *x = (const float *)s->ds->inputs + row * s->ds->columns;
    const float *w = s->teacher + output * s->teacher_inputs;
    double centre = s->distribution == SYNTHETIC_UNIFORM ? 0.5 : 0;
    double sum = 0;
    for (int64_t i = 0; i < s->teacher_inputs; i++)
        sum += ((double)x[i] - centre) * (double)w[i];
    return sum / sqrt((double)s->teacher_inputs);
}

static int64_t largest_output(const struct synthesis *s, int64_t row)
{
    int64_t best = 0;
    double best_value = -INFINITY;
    for (int64_t k = 0; k < s->outputs; k++) {
        double value = teach(s, row, k);
        if (value > best_value) {
            best = k;
            best_value = value;
        }
    }
    return best;
}

static void fill_block(void *context, int64_t block)
{
    const struct synthesis *s = context;
    struct dataset *ds = s->ds;
    int64_t first = block * s->block_rows;
    int64_t end = first + s->block_rows < ds->rows ? first + s->block_rows : ds->rows;
    fill_inputs(s, first, end - first);
    for (int64_t row = first; row < end; row++) {
        if (ds->target == DATASET_CLASSES)
            ds->classes[row] = largest_output(s, row);
        for (int64_t k = 0; k < ds->target_columns; k++)
            ds->values[row * ds->target_columns + k] = (float)teach(s, row, k);
    }
}

static struct loc place(const struct section *split, const char *key)
{
    return keys_origin(split, key).loc;
}

static enum rc set_shape(struct dataset *ds, const struct synthetic_attrs *attrs,
                         const struct section *split, struct diag *d)
{
    const int64_t *shape = attrs->shape.at;
    int64_t total = attrs->rows;
    if (attrs->shape.n < 1 || attrs->shape.n >= TENSOR_MAX_RANK)
        return diag_error(d, RC_CONFIG, place(split, "shape"),
                          "%s: `shape` has %d numbers; 1 to %d are allowed", ds->name,
                          attrs->shape.n, TENSOR_MAX_RANK - 1);
    ds->rank = attrs->shape.n;
    ds->rows = attrs->rows;
    ds->columns = 1;
    for (int i = 0; i < ds->rank; i++) {
        ds->dims[i] = shape[i];
        if (__builtin_mul_overflow(total, shape[i], &total) || total > MAX_NUMBERS)
            return diag_error(d, RC_CONFIG, place(split, "rows"),
                              "%s: `rows` and `shape` ask for too much data", ds->name);
        ds->columns *= shape[i];
    }
    return RC_OK;
}

static enum rc set_target(struct dataset *ds, const struct synthetic_attrs *attrs,
                          enum dataset_target target, const struct section *split, struct diag *d)
{
    if (attrs->classes > 0 && attrs->target_columns > 0)
        return diag_error(d, RC_CONFIG, place(split, "target_columns"),
                          "%s: give `classes` or `target_columns`, not both", ds->name);
    if (target == DATASET_CLASSES && attrs->classes == 0)
        return diag_error(d, RC_CONFIG, place(split, "classes"),
                          "%s: `classes` is missing: the loss wants classes", ds->name);
    if (target == DATASET_VALUES && attrs->target_columns == 0)
        return diag_error(d, RC_CONFIG, place(split, "target_columns"),
                          "%s: `target_columns` is missing: the loss wants values", ds->name);
    ds->target = target;
    ds->target_columns = target == DATASET_VALUES ? attrs->target_columns : 0;
    if (ds->rows > MAX_NUMBERS / (ds->target_columns + 1))
        return diag_error(d, RC_CONFIG, place(split, "target_columns"),
                          "%s: `rows` and `target_columns` ask for too much", ds->name);
    return RC_OK;
}

static uint64_t hash_name(const char *name)
{
    uint64_t h = 0xCBF29CE484222325u; /* FNV-1a */
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001B3u;
    return h;
}

static enum rc allocate(struct synthesis *s, struct diag *d)
{
    struct dataset *ds = s->ds;
    ds->inputs = malloc((size_t)(ds->rows * ds->columns) * sizeof(float));
    TRY_ALLOC(ds->inputs, d);
    if (ds->target == DATASET_CLASSES) {
        ds->classes = malloc((size_t)ds->rows * sizeof(ds->classes[0]));
        TRY_ALLOC(ds->classes, d);
    } else if (ds->target == DATASET_VALUES) {
        ds->values = malloc((size_t)(ds->rows * ds->target_columns) * sizeof(float));
        TRY_ALLOC(ds->values, d);
    }
    s->teacher = pool_array(&ds->pool, (size_t)(s->outputs * s->teacher_inputs), sizeof(float));
    TRY_ALLOC(s->teacher, d);
    return RC_OK;
}

static enum rc synthetic_open(struct dataset *out, const struct section *split,
                              const struct dataset_want *want, struct diag *d)
{
    const struct synthetic_attrs *attrs = split->at;
    TRY(set_shape(out, attrs, split, d));
    TRY(set_target(out, attrs, want->target, split, d));
    out->dtype = DTYPE_F32;
    out->source = out->target_source = "synthetic";
    struct synthesis s = {
        .ds = out,
        .key = rng_key(want->seed, RNG_SYNTHETIC, hash_name(out->name), 0),
        .distribution = attrs->distribution,
        .block_rows = 1 + BLOCK_NUMBERS / out->columns,
        .teacher_inputs = out->columns < TEACHER_INPUTS ? out->columns : TEACHER_INPUTS,
        .outputs = out->target == DATASET_CLASSES ? attrs->classes : out->target_columns,
    };
    TRY(allocate(&s, d));
    rng_normal(rng_key(want->seed, RNG_SYNTHETIC, 0, 1), 0, s.outputs * s.teacher_inputs,
               s.teacher);
    par_for((out->rows + s.block_rows - 1) / s.block_rows, fill_block, &s);
    return RC_OK;
}

const struct reader reader_synthetic = {
    .name = "synthetic",
    .help = "random inputs with targets that can be learnt, for benchmarks and trials",
    .keys = synthetic_keys,
    .attrs_size = sizeof(struct synthetic_attrs),
    .open = synthetic_open,
};
