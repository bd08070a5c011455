/* checkpoint_parse.c: the header of a checkpoint, read from JSON (written by checkpoint_format.c).
 *
 * Invariant: nothing is believed. After checkpoint_format_parse() every name is unique, every size
 * has been computed without overflow and fits the file, the chunks follow each other without gap or
 * overlap up to the file's last byte, and no plane unpacks to more than deflate can pack. */
#include "config.h"

#include "checkpoint/checkpoint_format.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Counters are added to: leave room. */
#define INT_LIMIT (INT64_C(1) << 62)

struct parser {
    struct checkpoint *c;
    struct diag *d;
    const char *where; /* of messages: "header", "tensor 'fc1.weight'" */
};

static enum rc refuse(const struct parser *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
static enum rc refuse(const struct parser *p, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return diag_error(p->d, RC_DATA, (struct loc){p->c->path, 0, 0}, "damaged %s: %s", p->where,
                      text);
}

static enum rc get_text(const struct parser *p, const json_t *map, const char *key,
                        const char **out)
{
    const char *text = json_string_value(json_object_get(map, key));
    if (!text)
        return refuse(p, "'%s' is missing or no text", key);
    *out = pool_strdup(&p->c->pool, text);
    TRY_ALLOC(*out, p->d);
    return RC_OK;
}

static enum rc get_int(const struct parser *p, const json_t *map, const char *key, int64_t max,
                       int64_t *out)
{
    const json_t *value = json_object_get(map, key);
    if (!json_is_integer(value))
        return refuse(p, "'%s' is missing or no integer", key);
    *out = json_integer_value(value);
    if (*out < 0 || *out > max)
        return refuse(p, "'%s' is out of range: %" PRId64, key, *out);
    return RC_OK;
}

static enum rc get_array(const struct parser *p, const json_t *map, const char *key,
                         const json_t **out)
{
    *out = json_object_get(map, key);
    return json_is_array(*out) ? RC_OK : refuse(p, "'%s' is missing or no list", key);
}

static enum rc get_float(const struct parser *p, const json_t *map, const char *key, double *out)
{
    static const struct {
        const char *text;
        double value;
    } words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}};
    const json_t *value = json_object_get(map, key);
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return RC_OK;
    }
    const char *text = json_string_value(value);
    for (size_t i = 0; text && i < COUNT_OF(words); i++)
        if (strcmp(text, words[i].text) == 0) {
            *out = words[i].value;
            return RC_OK;
        }
    return refuse(p, "'%s' is missing or no number", key);
}

static bool progress_knows(const char *name)
{
    for (const struct progress_field *f = progress_fields; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return true;
    return false;
}

static enum rc get_progress(const struct parser *p, json_t *map)
{
    if (!json_is_object(map))
        return refuse(p, "'progress' is missing or no map");
    for (const struct progress_field *f = progress_fields; f->name; f++) {
        char *at = (char *)&p->c->progress + f->offset;
        if (f->type == PROGRESS_INT) {
            TRY(get_int(p, map, f->name, INT_LIMIT, (int64_t *)(void *)at));
        } else if (f->type == PROGRESS_FLOAT) {
            TRY(get_float(p, map, f->name, (double *)(void *)at));
        } else {
            const json_t *value = json_object_get(map, f->name);
            if (!json_is_boolean(value))
                return refuse(p, "'%s' is missing or neither true nor false", f->name);
            *(bool *)at = json_is_true(value);
        }
    }
    /* a state that would be lost on the way */
    const char *key;
    json_t *value;
    json_object_foreach(map, key, value) if (!progress_knows(key)) return refuse(
        p, "unknown progress '%s'", key);
    return RC_OK;
}

static enum rc get_class_names(const struct parser *p, const json_t *list)
{
    size_t n = json_array_size(list);
    p->c->class_names = pool_array(&p->c->pool, n, sizeof(*p->c->class_names));
    TRY_ALLOC(p->c->class_names, p->d);
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text)
            return refuse(p, "class name %zu is no text", i + 1);
        p->c->class_names[i] = pool_strdup(&p->c->pool, text);
        TRY_ALLOC(p->c->class_names[i], p->d);
    }
    p->c->n_class_names = (int)n; /* below CHECKPOINT_MAX_HEADER */
    return RC_OK;
}

static enum rc get_shape(const struct parser *p, const json_t *list, struct checkpoint_entry *e)
{
    size_t rank = json_array_size(list);
    if (rank > TENSOR_MAX_RANK)
        return refuse(p, "%zu dimensions, at most %d are possible", rank, TENSOR_MAX_RANK);
    e->rank = (int)rank;
    uint64_t bytes = dtype_size(e->dtype);
    for (size_t i = 0; i < rank; i++) {
        const json_t *dim = json_array_get(list, i);
        int64_t n = json_integer_value(dim);
        if (!json_is_integer(dim) || n < 1)
            return refuse(p, "dimension %zu is no positive integer", i + 1);
        if ((uint64_t)n > (uint64_t)INT_LIMIT / bytes)
            return refuse(p, "the shape is too large");
        bytes *= (uint64_t)n;
        e->dims[i] = n;
    }
    e->bytes = bytes;
    return RC_OK;
}

static enum rc get_planes(const struct parser *p, const json_t *list, struct checkpoint_entry *e)
{
    uint64_t n = e->bytes / dtype_size(e->dtype), sum = 0;
    e->n_planes = (int)dtype_size(e->dtype);
    if (json_array_size(list) != (size_t)e->n_planes)
        return refuse(p, "%zu byte planes, but %s has %d", json_array_size(list),
                      dtype_name(e->dtype), e->n_planes);
    for (int i = 0; i < e->n_planes; i++) {
        const json_t *plane = json_array_get(list, (size_t)i);
        int64_t bytes;
        const char *packing = json_string_value(json_object_get(plane, "packing"));
        TRY(get_int(p, plane, "bytes", (int64_t)e->stored, &bytes));
        e->plane_bytes[i] = (uint64_t)bytes;
        e->plane_deflated[i] = packing && strcmp(packing, "deflate") == 0;
        if (!packing || (!e->plane_deflated[i] && strcmp(packing, "stored") != 0))
            return refuse(p, "the packing of plane %d is neither deflate nor stored", i + 1);
        if (e->plane_deflated[i] ? n / CHECKPOINT_MAX_RATIO > e->plane_bytes[i]
                                 : n != e->plane_bytes[i])
            return refuse(p, "plane %d has %" PRIu64 " bytes, which cannot hold %" PRIu64, i + 1,
                          e->plane_bytes[i], n);
        sum += e->plane_bytes[i]; /* at most 8 times what was checked against the file's size */
    }
    return sum == e->stored ? RC_OK : refuse(p, "its planes do not fill its chunk");
}

/* *at: where the chunk must begin; moved to its end. */
static enum rc get_entry(struct parser *p, const json_t *map, struct checkpoint_entry *e,
                         uint64_t *at, uint64_t end)
{
    const char *dtype;
    const json_t *shape, *planes;
    int64_t offset, stored, crc;

    TRY(get_text(p, map, "name", &e->name));
    p->where = pool_printf(&p->c->pool, "tensor '%.80s'", e->name);
    TRY_ALLOC(p->where, p->d);
    TRY(get_text(p, map, "dtype", &dtype));
    if (!dtype_from_name(dtype, &e->dtype))
        return refuse(p, "unknown dtype '%s'", dtype);
    TRY(get_array(p, map, "shape", &shape));
    TRY(get_shape(p, shape, e));
    TRY(get_int(p, map, "offset", INT_LIMIT, &offset));
    if ((uint64_t)offset != *at)
        return refuse(p, "its chunk begins at byte %" PRId64 " instead of %" PRIu64, offset, *at);
    e->offset = *at;
    TRY(get_int(p, map, "stored", INT_LIMIT, &stored));
    if ((uint64_t)stored > end - *at)
        return refuse(p, "its chunk ends at byte %" PRIu64 ", but the file has %" PRIu64,
                      *at + (uint64_t)stored, end);
    e->stored = (uint64_t)stored;
    *at += e->stored;
    TRY(get_int(p, map, "crc32", UINT32_MAX, &crc));
    e->crc = (uint32_t)crc;
    TRY(get_array(p, map, "planes", &planes));
    return get_planes(p, planes, e);
}

static int by_name(const void *a, const void *b)
{
    const struct checkpoint_entry *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static enum rc sort_names(const struct parser *p)
{
    struct checkpoint *c = p->c;
    size_t n = (size_t)c->n_tensors;
    c->by_name = pool_array(&c->pool, n, sizeof(const struct checkpoint_entry *));
    TRY_ALLOC(c->by_name, p->d);
    for (size_t i = 0; i < n; i++)
        c->by_name[i] = &c->entries[i];
    qsort(c->by_name, n, sizeof(const struct checkpoint_entry *), by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(c->by_name[i - 1]->name, c->by_name[i]->name) == 0)
            return refuse(p, "two tensors are called '%s'", c->by_name[i]->name);
    return RC_OK;
}

static enum rc get_tensors(struct parser *p, const json_t *list, uint64_t start, uint64_t end)
{
    struct checkpoint *c = p->c;
    size_t n = json_array_size(list);
    uint64_t at = start;
    c->entries = pool_array(&c->pool, n, sizeof(*c->entries));
    TRY_ALLOC(c->entries, p->d);
    for (size_t i = 0; i < n; i++) {
        TRY(get_entry(p, json_array_get(list, i), &c->entries[i], &at, end));
        p->where = "header";
    }
    if (at != end)
        return diag_error(p->d, RC_DATA, (struct loc){c->path, 0, 0},
                          "damaged: %" PRIu64 " bytes follow the last tensor", end - at);
    c->n_tensors = (int)n;
    return sort_names(p);
}

static enum rc parse(struct parser *p, json_t *head, uint64_t start, uint64_t end)
{
    const json_t *names, *tensors;
    int64_t format;
    TRY(get_int(p, head, "format", INT_LIMIT, &format));
    TRY(get_text(p, head, "version", &p->c->version));
    if (format != CHECKPOINT_FORMAT)
        return diag_error(p->d, RC_DATA, (struct loc){p->c->path, 0, 0},
                          "written by mptrain %s in checkpoint format %" PRId64
                          "; this is mptrain %s, which reads format %d",
                          p->c->version, format, PACKAGE_VERSION, CHECKPOINT_FORMAT);
    TRY(get_text(p, head, "fingerprint", &p->c->fingerprint));
    p->c->data = ""; /* not in every file */
    if (json_object_get(head, "data"))
        TRY(get_text(p, head, "data", &p->c->data));
    TRY(get_text(p, head, "config", &p->c->config));
    TRY(get_progress(p, json_object_get(head, "progress")));
    TRY(get_array(p, head, "class_names", &names));
    TRY(get_class_names(p, names));
    TRY(get_array(p, head, "tensors", &tensors));
    return get_tensors(p, tensors, start, end);
}

enum rc checkpoint_format_parse(struct checkpoint *c, const char *text, size_t length,
                                uint64_t start, uint64_t end, struct diag *d)
{
    struct parser p = {c, d, "header"};
    json_error_t error;
    json_t *head = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!head)
        return refuse(&p, "%s", error.text);
    enum rc rc = json_is_object(head) ? parse(&p, head, start, end) : refuse(&p, "no JSON object");
    json_decref(head);
    return rc;
}
