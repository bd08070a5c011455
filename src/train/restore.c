/* restore.c: see restore.h. */
#include "config.h"

#include "train/restore.h"

#include "train/saved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum rc find_file(struct restore *r, const char *path, bool best, const char **file,
                         struct diag *d)
{
    struct stat status;
    struct loc loc = {path, 0, 0};
    *file = path;
    if (stat(path, &status) != 0)
        return diag_error(d, RC_DATA, loc, "%s", strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return RC_OK;
    const char *folder = pool_printf(&r->pool, "%s/checkpoints", path);
    TRY_ALLOC(folder, d);
    if (best) {
        *file = pool_printf(&r->pool, "%s/best.mpt", folder);
        TRY_ALLOC(*file, d);
        return RC_OK;
    }
    TRY(checkpoint_newest(folder, &r->pool, file, d));
    return *file ? RC_OK : diag_error(d, RC_DATA, loc, "no checkpoint in this run folder");
}

enum rc restore_open(struct restore *r, const char *path, bool best, const char *const *sets,
                     int n_sets, struct diag *d)
{
    const char *file;
    memset(r, 0, sizeof(*r));
    pool_init(&r->pool);
    enum rc rc = find_file(r, path, best, &file, d);
    if (rc == RC_OK)
        rc = checkpoint_open(&r->checkpoint, file, d);
    if (rc != RC_OK) {
        pool_release(&r->pool);
        return rc;
    }
    rc = config_load_text(&r->spec, r->checkpoint.config, strlen(r->checkpoint.config), file, ".",
                          sets, n_sets, d);
    if (rc != RC_OK) {
        checkpoint_close(&r->checkpoint);
        pool_release(&r->pool);
    }
    return rc;
}

/* Room for the constants that the file has; saved_read fills them. */
static enum rc make_normalizer(struct restore *r, const struct plan_data *data, struct diag *d)
{
    const struct checkpoint_entry *e = checkpoint_find(&r->checkpoint, "data.shift");
    int64_t columns = 1, have = e && e->rank == 1 ? e->dims[0] : 0;
    for (int i = 0; i < data->rank; i++)
        columns *= data->dims[i];
    if (have != 1 && have != columns)
        return diag_error(d, RC_DATA, (struct loc){r->checkpoint.path, 0, 0},
                          "it was trained on rows of %lld values, the input has %lld",
                          (long long)have, (long long)columns);
    r->normalizer.columns = have;
    r->normalizer.shift = calloc((size_t)have, sizeof(float));
    r->normalizer.factor = calloc((size_t)have, sizeof(float));
    TRY_ALLOC(r->normalizer.shift, d);
    TRY_ALLOC(r->normalizer.factor, d);
    return RC_OK;
}

enum rc restore_plan(struct restore *r, const struct plan_data *data, struct diag *d)
{
    TRY(make_normalizer(r, data, d));
    TRY(plan_make(&r->plan, &r->spec, data, false, d));
    r->has_plan = true;
    TRY(plan_bind(&r->plan, d));
    return saved_read(&r->checkpoint, &r->plan, &r->normalizer, d);
}

void restore_release(struct restore *r)
{
    if (r->has_plan)
        plan_release(&r->plan);
    normalizer_release(&r->normalizer);
    spec_release(&r->spec);
    checkpoint_close(&r->checkpoint);
    pool_release(&r->pool);
}
