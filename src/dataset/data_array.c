/* data_array.c: see data_array.h. One table row an element type; to add a type, add its row. */
#include "config.h"

#include "dataset/data_array.h"

#include "base/half.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest array: beyond it the file is hostile or the machine too small. */
#define MAX_BYTES ((int64_t)1 << 46)

#define CONVERSIONS(name, type)                                                                    \
    static float name##_to_float(const void *a, int64_t i)                                         \
    {                                                                                              \
        return (float)((const type *)a)[i];                                                        \
    }                                                                                              \
    static int64_t name##_to_class(const void *a, int64_t i)                                       \
    {                                                                                              \
        return (int64_t)((const type *)a)[i];                                                      \
    }

CONVERSIONS(u8, uint8_t)
CONVERSIONS(i8, int8_t)
CONVERSIONS(u16, uint16_t)
CONVERSIONS(i16, int16_t)
CONVERSIONS(u32, uint32_t)
CONVERSIONS(i32, int32_t)
CONVERSIONS(i64, int64_t)

static float f16_to_float(const void *a, int64_t i)
{
    return half_f16_to_f32(((const uint16_t *)a)[i]);
}

static float f32_to_float(const void *a, int64_t i)
{
    return ((const float *)a)[i];
}

static float f64_to_float(const void *a, int64_t i)
{
    return (float)((const double *)a)[i];
}

static const struct {
    const char *name;
    size_t size;
    float (*to_float)(const void *a, int64_t i);
    int64_t (*to_class)(const void *a, int64_t i); /* NULL: no integer */
} types[DATA_ARRAY_TYPES] = {
    [DATA_ARRAY_U8] = {"uint8", 1, u8_to_float, u8_to_class},
    [DATA_ARRAY_I8] = {"int8", 1, i8_to_float, i8_to_class},
    [DATA_ARRAY_U16] = {"uint16", 2, u16_to_float, u16_to_class},
    [DATA_ARRAY_I16] = {"int16", 2, i16_to_float, i16_to_class},
    [DATA_ARRAY_U32] = {"uint32", 4, u32_to_float, u32_to_class},
    [DATA_ARRAY_I32] = {"int32", 4, i32_to_float, i32_to_class},
    [DATA_ARRAY_I64] = {"int64", 8, i64_to_float, i64_to_class},
    [DATA_ARRAY_F16] = {"float16", 2, f16_to_float, NULL},
    [DATA_ARRAY_F32] = {"float32", 4, f32_to_float, NULL},
    [DATA_ARRAY_F64] = {"float64", 8, f64_to_float, NULL},
};

static int64_t row_elements(const struct data_array *a)
{
    int64_t n = 1;
    for (int i = 1; i < a->rank; i++)
        n *= a->dims[i];
    return n;
}

/* Elements in all; leaves the array in a state where products of its dims cannot overflow. */
static enum rc count(const struct data_array *a, int64_t *out, struct diag *d)
{
    struct loc file = {a->name, 0, 0};
    int64_t n = 1;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] == 0)
            return diag_error(d, RC_DATA, file, "holds no data: dimension %d of %d is 0", i + 1,
                              a->rank);
    for (int i = 0; i < a->rank; i++)
        if (__builtin_mul_overflow(n, a->dims[i], &n) || n > MAX_BYTES / 8)
            return diag_error(d, RC_DATA, file,
                              "its header asks for an impossible size: dimensions 1 to %d are more "
                              "than %" PRId64 " elements",
                              i + 1, MAX_BYTES / 8);
    *out = n;
    return RC_OK;
}

static void swap_bytes(void *data, int64_t n, size_t size)
{
    uint16_t *h = data;
    uint32_t *w = data;
    uint64_t *q = data;
    for (int64_t i = 0; i < n; i++)
        if (size == 2)
            h[i] = __builtin_bswap16(h[i]);
        else if (size == 4)
            w[i] = __builtin_bswap32(w[i]);
        else
            q[i] = __builtin_bswap64(q[i]);
}

/* Column-major to row-major. */
static enum rc to_c_order(struct data_array *a, int64_t n, size_t size, struct diag *d)
{
    unsigned char *out = malloc((size_t)n * size);
    TRY_ALLOC(out, d);
    int64_t stride[TENSOR_MAX_RANK], index[TENSOR_MAX_RANK] = {0}, from = 0;
    for (int i = 0; i < a->rank; i++)
        stride[i] = i == 0 ? 1 : stride[i - 1] * a->dims[i - 1];
    for (int64_t to = 0; to < n; to++) {
        memcpy(out + (size_t)to * size, (unsigned char *)a->data + (size_t)from * size, size);
        for (int i = a->rank - 1; i >= 0; i--) {
            from += stride[i];
            if (++index[i] < a->dims[i])
                break;
            from -= stride[i] * a->dims[i];
            index[i] = 0;
        }
    }
    free(a->data);
    a->data = out;
    a->fortran = false;
    return RC_OK;
}

enum rc data_array_load(struct data_array *out, struct data_file *f, data_array_header *header,
                        struct diag *d)
{
    memset(out, 0, sizeof(*out));
    out->name = f->name;
    TRY(header(out, f, d));
    int64_t n = 0;
    TRY(count(out, &n, d));
    size_t size = types[out->type].size;
    TRY(data_file_read_rest(f, (size_t)n * size, &out->data, d));
    bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (size > 1 && out->big_endian != host_big)
        swap_bytes(out->data, n, size);
    enum rc rc = out->fortran && out->rank > 1 ? to_c_order(out, n, size, d) : RC_OK;
    if (rc != RC_OK)
        data_array_release(out);
    return rc;
}

void data_array_release(struct data_array *a)
{
    free(a->data);
    a->data = NULL;
}

/* One number that FP32 cannot hold ends the conversion: a file of such has one cause. */
static enum rc to_floats(const struct data_array *a, int64_t rows, int64_t columns, float *out,
                         struct diag *d)
{
    float (*to_float)(const void *, int64_t) = types[a->type].to_float;
    for (int64_t i = 0; i < rows * columns; i++) {
        out[i] = to_float(a->data, i);
        if (!isfinite(out[i]))
            return diag_error(d, RC_DATA, (struct loc){a->name, 0, 0},
                              "row %" PRId64 ", column %" PRId64 ": %s; numbers must be finite, "
                              "within +-3.40282347e+38 (FP32)",
                              i / columns + 1, i % columns + 1,
                              isnan(out[i]) ? "not a number (NaN)" : "infinite, or too large");
    }
    return RC_OK;
}

static enum rc new_floats(const struct data_array *a, int64_t rows, int64_t columns, float **out,
                          struct diag *d)
{
    *out = malloc((size_t)(rows * columns) * sizeof(float));
    TRY_ALLOC(*out, d);
    enum rc rc = to_floats(a, rows, columns, *out, d);
    if (rc != RC_OK) {
        free(*out);
        *out = NULL;
    }
    return rc;
}

enum rc data_array_to_inputs(struct data_array *a, struct dataset *ds, struct diag *d)
{
    ds->rows = a->dims[0];
    ds->columns = row_elements(a);
    ds->rank = a->rank > 1 ? a->rank - 1 : 1;
    ds->dims[0] = 1; /* (N): one number a row */
    for (int i = 1; i < a->rank; i++)
        ds->dims[i - 1] = a->dims[i];
    ds->dtype = a->type == DATA_ARRAY_U8 ? DTYPE_U8 : DTYPE_F32;
    if (a->type == DATA_ARRAY_U8) {
        ds->inputs = a->data;
        a->data = NULL;
        return RC_OK;
    }
    float *inputs;
    TRY(new_floats(a, ds->rows, ds->columns, &inputs, d));
    ds->inputs = inputs;
    return RC_OK;
}

static enum rc to_classes(const struct data_array *a, struct dataset *ds, struct diag *d)
{
    struct loc file = {a->name, 0, 0};
    if (row_elements(a) != 1)
        return diag_error(d, RC_DATA, file,
                          "has %" PRId64 " numbers a row; class labels are one integer a row, "
                          "not one-hot",
                          row_elements(a));
    if (!types[a->type].to_class)
        return diag_error(d, RC_DATA, file,
                          "holds %s; class labels must be stored in an integer type",
                          types[a->type].name);
    ds->classes = malloc((size_t)ds->rows * sizeof(ds->classes[0]));
    TRY_ALLOC(ds->classes, d);
    for (int64_t i = 0; i < ds->rows; i++)
        ds->classes[i] = types[a->type].to_class(a->data, i);
    return RC_OK;
}

enum rc data_array_to_targets(const struct data_array *a, enum dataset_target target,
                              struct dataset *ds, struct diag *d)
{
    if (a->dims[0] != ds->rows)
        return diag_error(d, RC_DATA, (struct loc){a->name, 0, 0},
                          "has %" PRId64 " rows of targets, but %s has %" PRId64 " rows of inputs",
                          a->dims[0], ds->source, ds->rows);
    ds->target = target;
    if (target == DATASET_CLASSES)
        return to_classes(a, ds, d);
    ds->target_columns = row_elements(a);
    return new_floats(a, ds->rows, ds->target_columns, &ds->values, d);
}

static enum rc load(struct data_array *out, const char *path, data_array_header *header,
                    struct diag *d)
{
    struct data_file f;
    TRY(data_file_open(&f, path, d));
    enum rc rc = data_array_load(out, &f, header, d);
    data_file_close(&f);
    return rc;
}

enum rc data_array_open(struct dataset *out, const char *inputs, const char *targets,
                        data_array_header *header, enum dataset_target target,
                        const struct section *split, struct diag *d)
{
    if (target != DATASET_NO_TARGET && !targets[0])
        return diag_error(d, RC_CONFIG, keys_origin(split, "targets").loc,
                          "%s: `targets` is missing: the loss compares with targets", out->name);
    struct data_array a;
    out->source = pool_strdup(&out->pool, inputs);
    out->target_source = pool_strdup(&out->pool, targets);
    TRY_ALLOC(out->source && out->target_source ? out : NULL, d);
    TRY(load(&a, out->source, header, d));
    enum rc rc = data_array_to_inputs(&a, out, d);
    data_array_release(&a);
    if (rc != RC_OK || target == DATASET_NO_TARGET)
        return rc;
    TRY(load(&a, out->target_source, header, d));
    rc = data_array_to_targets(&a, target, out, d);
    data_array_release(&a);
    return rc;
}
