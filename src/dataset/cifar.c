/* cifar.c: what the readers cifar10 and cifar100 share: the binary form (Krizhevsky 2009), rows of
 * one or two label bytes, then 32 x 32 pixels, all red, then all green, then all blue. Rows become
 * (32,32,3).
 */
#include "config.h"

#include "dataset/cifar.h"

#include "dataset/data_file.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 32, CHANNELS = 3, PIXELS = SIDE * SIDE, ROW = PIXELS * CHANNELS, MOST_LABELS = 2 };

/* Rows as they arrive; doubles its room. */
struct rows {
    struct dataset *ds;
    int64_t room;
};

static enum rc make_room(struct rows *r, struct diag *d)
{
    struct dataset *ds = r->ds;
    if (ds->rows < r->room)
        return RC_OK;
    int64_t room = r->room ? 2 * r->room : 1024;
    void *inputs = realloc(ds->inputs, (size_t)room * ROW);
    if (inputs)
        ds->inputs = inputs;
    int64_t *classes = realloc(ds->classes, (size_t)room * sizeof(*classes));
    if (classes)
        ds->classes = classes;
    if (!inputs || !classes)
        return diag_no_memory(d);
    r->room = room;
    return RC_OK;
}

static void add_pixels(struct dataset *ds, const unsigned char *planes)
{
    uint8_t *to = (uint8_t *)ds->inputs + ds->rows * ROW;
    for (int p = 0; p < PIXELS; p++)
        for (int c = 0; c < CHANNELS; c++)
            to[p * CHANNELS + c] = planes[c * PIXELS + p];
}

static enum rc read_rows(struct rows *r, struct data_file *f, const struct cifar_flavour *k,
                         struct diag *d)
{
    unsigned char bytes[MOST_LABELS + ROW];
    size_t size = (size_t)k->label_bytes + ROW, got;
    struct loc file = {f->name, 0, 0};
    for (int64_t row = 1;; row++) {
        TRY(data_file_read(f, bytes, size, &got, d));
        if (got == 0 && row > 1)
            return RC_OK;
        if (got < size)
            return diag_error(d, RC_DATA, file,
                              "row %lld is cut off: it has %zu bytes, a row has %zu",
                              (long long)row, got, size);
        if (bytes[k->at] >= k->classes)
            return diag_error(d, RC_DATA, file, "row %lld: its label is %d, not one of 0 to %d",
                              (long long)row, bytes[k->at], k->classes - 1);
        TRY(make_room(r, d));
        add_pixels(r->ds, bytes + k->label_bytes);
        r->ds->classes[r->ds->rows++] = bytes[k->at];
    }
}

static enum rc read_file(struct rows *r, const char *path, const struct cifar_flavour *k,
                         struct diag *d)
{
    struct data_file f;
    TRY(data_file_open(&f, path, d));
    enum rc rc = read_rows(r, &f, k, d);
    data_file_close(&f);
    return rc;
}

enum rc cifar_read(struct dataset *out, const struct section *split,
                   const struct dataset_want *want, const struct cifar_flavour *k, struct diag *d)
{
    const struct cifar_attrs *a = split->at;
    const char *const *names = a->files.at;
    struct rows rows = {.ds = out};
    if (want->target == DATASET_VALUES)
        return diag_error(d, RC_CONFIG, keys_origin(split, "files").loc,
                          "%s: the loss wants numbers as targets, and these files hold classes",
                          out->name);
    if (a->files.n == 0)
        return diag_error(d, RC_CONFIG, keys_origin(split, "files").loc, "%s: no files", out->name);
    out->dtype = DTYPE_U8;
    out->rank = 3;
    out->dims[0] = out->dims[1] = SIDE;
    out->dims[2] = CHANNELS;
    out->columns = ROW;
    out->target = want->target;
    for (int i = 0; i < a->files.n; i++) {
        const char *path = pool_printf(&out->pool, "%s/%s", a->folder, names[i]);
        TRY_ALLOC(path, d);
        if (i == 0)
            out->source = out->target_source = path;
        TRY(read_file(&rows, path, k, d));
    }
    return RC_OK;
}
