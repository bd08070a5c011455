/* reader_images.c: a folder of pictures, PNG and JPEG: a folder inside it is a class, in the order
 * of the names. All pictures must be of one size, or are made so. Names that begin with a dot are
 * passed over. */
#include "config.h"

#include "dataset/image.h"
#include "dataset/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHANNELS_AUTO, CHANNELS_GREY, CHANNELS_RGB };

static const struct key images_keys[] = {
    {"folder", KEY_PATH, offsetof(struct images_attrs, folder), NULL, 0, 0, KEY_NOT_EMPTY, NULL,
     "holds a folder of pictures for each class"},
    {"channels", KEY_CHOICE, offsetof(struct images_attrs, channels), "auto", 0, 0, 0,
     "auto|grey|rgb", "auto: as the first picture has"},
    {"size", KEY_INTS, offsetof(struct images_attrs, size), "[]", 1, 1 << 14, 0, NULL,
     "height and width that all pictures are brought to, bilinear; without: they must be alike"},
    {0},
};

/* The dataset while it grows. */
struct album {
    struct dataset *ds;
    const struct section *split;
    int64_t channels; /* 0: as the first picture has */
    int64_t room;
};

struct names {
    int n;
    const char **at; /* sorted; in the pool */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum rc add_name(struct names *to, const char *name, struct pool *pool, struct diag *d)
{
    if (to->n % 256 == 0)
        to->at = pool_grow(pool, to->at, (size_t)to->n, (size_t)to->n + 256, sizeof(*to->at));
    TRY_ALLOC(to->at, d);
    to->at[to->n] = pool_strdup(pool, name);
    TRY_ALLOC(to->at[to->n++], d);
    return RC_OK;
}

/* What a folder holds, files or folders, sorted. */
static enum rc list(struct names *out, const char *folder, bool folders, struct pool *pool,
                    struct diag *d)
{
    DIR *dir = opendir(folder);
    struct dirent *e;
    enum rc rc = RC_OK;
    memset(out, 0, sizeof(*out));
    if (!dir)
        return diag_error(d, RC_DATA, (struct loc){folder, 0, 0}, "%s", strerror(errno));
    while (rc == RC_OK && (e = readdir(dir)) != NULL) {
        struct stat s;
        char *path = pool_printf(pool, "%s/%s", folder, e->d_name);
        if (!path)
            rc = diag_no_memory(d);
        else if (e->d_name[0] != '.' && stat(path, &s) == 0 && S_ISDIR(s.st_mode) == folders)
            rc = add_name(out, e->d_name, pool, d);
    }
    closedir(dir);
    if (rc == RC_OK && out->n > 0)
        qsort(out->at, (size_t)out->n, sizeof(*out->at), by_name);
    return rc;
}

static enum rc make_room(struct album *a, struct diag *d)
{
    struct dataset *ds = a->ds;
    if (ds->rows < a->room)
        return RC_OK;
    int64_t room = a->room ? 2 * a->room : 64;
    void *inputs = realloc(ds->inputs, (size_t)(room * ds->columns));
    if (inputs)
        ds->inputs = inputs;
    int64_t *classes = realloc(ds->classes, (size_t)room * sizeof(*classes));
    if (classes)
        ds->classes = classes;
    if (!inputs || !classes)
        return diag_no_memory(d);
    a->room = room;
    return RC_OK;
}

/* The first picture says how all are. */
static enum rc check_like(struct album *a, const struct image *x, const char *path, struct diag *d)
{
    struct dataset *ds = a->ds;
    if (ds->rows == 0) {
        ds->rank = 3;
        ds->dims[0] = x->height;
        ds->dims[1] = x->width;
        ds->dims[2] = a->channels = x->channels;
        ds->columns = x->height * x->width * x->channels;
        ds->source = path;
        return RC_OK;
    }
    if (x->height == ds->dims[0] && x->width == ds->dims[1])
        return RC_OK;
    (void)diag_error(d, RC_DATA, (struct loc){path, 0, 0},
                     "%lld x %lld pixels, but '%s' has %lld x %lld", (long long)x->height,
                     (long long)x->width, ds->source, (long long)ds->dims[0],
                     (long long)ds->dims[1]);
    diag_note(d, keys_origin(a->split, "size").loc, "give 'size', and all are brought to it");
    return RC_DATA;
}

static enum rc add_picture(struct album *a, const char *path, int64_t class, struct diag *d)
{
    const struct images_attrs *attrs = a->split->at;
    const int64_t *size = attrs->size.at;
    struct image x;
    TRY(image_read(&x, path, a->channels, d));
    enum rc rc = attrs->size.n > 0 ? image_resize(&x, size[0], size[attrs->size.n - 1], d) : RC_OK;
    if (rc == RC_OK)
        rc = check_like(a, &x, path, d);
    if (rc == RC_OK)
        rc = make_room(a, d);
    if (rc == RC_OK) {
        struct dataset *ds = a->ds;
        memcpy((uint8_t *)ds->inputs + ds->rows * ds->columns, x.pixels, (size_t)ds->columns);
        ds->classes[ds->rows++] = class;
    }
    image_release(&x);
    return rc;
}

static enum rc add_folder(struct album *a, const char *folder, int64_t class, struct diag *d)
{
    struct names files;
    TRY(list(&files, folder, false, &a->ds->pool, d));
    if (files.n == 0)
        return diag_error(d, RC_DATA, (struct loc){folder, 0, 0}, "holds no pictures");
    for (int i = 0; i < files.n; i++) {
        const char *path = pool_printf(&a->ds->pool, "%s/%s", folder, files.at[i]);
        TRY_ALLOC(path, d);
        TRY(add_picture(a, path, class, d));
    }
    return RC_OK;
}

static enum rc begin(struct album *a, struct dataset *out, const struct section *split,
                     struct diag *d)
{
    const struct images_attrs *attrs = split->at;
    *a = (struct album){.ds = out, .split = split};
    a->channels = attrs->channels == CHANNELS_GREY ? 1 : attrs->channels == CHANNELS_RGB ? 3 : 0;
    out->dtype = DTYPE_U8;
    if (attrs->size.n > 2)
        return diag_error(d, RC_CONFIG, keys_origin(split, "size").loc,
                          "%s: 'size' is a height and a width, not %d numbers", out->name,
                          attrs->size.n);
    return RC_OK;
}

/* The number of a class: as in the training set, where there is one. */
static enum rc class_of(const struct dataset_want *want, const char *folder, const char *name,
                        int at, int64_t *out, struct diag *d)
{
    *out = at;
    for (int i = 0; i < want->n_class_names; i++)
        if (strcmp(want->class_names[i], name) == 0) {
            *out = i;
            return RC_OK;
        }
    if (want->n_class_names == 0)
        return RC_OK;
    return diag_error(d, RC_DATA, (struct loc){folder, 0, 0}, "the training set has no class '%s'",
                      name);
}

static enum rc images_open(struct dataset *out, const struct section *split,
                           const struct dataset_want *want, struct diag *d)
{
    const struct images_attrs *attrs = split->at;
    struct album a;
    struct names classes;
    TRY(begin(&a, out, split, d));
    if (want->target == DATASET_VALUES)
        return diag_error(d, RC_CONFIG, keys_origin(split, "folder").loc,
                          "%s: the loss wants numbers as targets, and folders are classes",
                          out->name);
    TRY(list(&classes, attrs->folder, true, &out->pool, d));
    if (classes.n == 0)
        return diag_error(d, RC_DATA, (struct loc){attrs->folder, 0, 0},
                          "holds no folders: one is wanted for each class");
    out->target = want->target;
    out->target_source = attrs->folder;
    out->n_class_names = classes.n;
    out->class_names = classes.at;
    for (int i = 0; i < classes.n; i++) {
        int64_t class;
        const char *folder = pool_printf(&out->pool, "%s/%s", attrs->folder, classes.at[i]);
        TRY_ALLOC(folder, d);
        TRY(class_of(want, folder, classes.at[i], i, &class, d));
        TRY(add_folder(&a, folder, class, d));
    }
    return RC_OK;
}

/* A picture, or a folder of them. */
static enum rc images_open_inputs(struct dataset *out, const char *path,
                                  const struct section *split, struct diag *d)
{
    struct album a;
    struct stat s;
    const char *own = pool_strdup(&out->pool, path);
    TRY_ALLOC(own, d);
    TRY(begin(&a, out, split, d));
    if (stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        return add_folder(&a, own, 0, d);
    return add_picture(&a, own, 0, d);
}

const struct reader reader_images = {
    .name = "images",
    .help = "folders of PNG and JPEG pictures, one for each class",
    .keys = images_keys,
    .attrs_size = sizeof(struct images_attrs),
    .open = images_open,
    .open_inputs = images_open_inputs,
};
