/* run_folder.c: the folder of a run: made, or taken up again. */
#include "config.h"

#include "train/saved.h"
#include "train/trainer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum rc io_error(struct diag *d, const char *what, const char *path)
{
    return diag_error(d, RC_FAILED, NOWHERE, "%s '%s': %s", what, path, strerror(errno));
}

/* mkdir -p */
static enum rc make_folder(struct pool *pool, const char *path, struct diag *d)
{
    char *copy = pool_strdup(pool, path);
    TRY_ALLOC(copy, d);
    for (char *p = copy + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            return io_error(d, "cannot make folder", copy);
        *p = '/';
    }
    if (mkdir(copy, 0777) != 0 && errno != EEXIST)
        return io_error(d, "cannot make folder", copy);
    return RC_OK;
}

enum rc run_folder_config(const struct trainer *t, struct diag *d)
{
    struct pool pool;
    struct str text;
    enum rc rc = RC_OK;
    pool_init(&pool);
    str_init(&text);
    config_write(t->spec, &text);
    const char *path = pool_printf(&pool, "%s/config.yaml", t->folder);
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!path || text.failed)
        rc = diag_no_memory(d);
    else if (!f || fwrite(text.text, 1, text.length, f) != text.length)
        rc = io_error(d, "cannot write", path);
    if (f && fclose(f) != 0 && rc == RC_OK)
        rc = io_error(d, "cannot write", path);
    str_release(&text);
    pool_release(&pool);
    return rc;
}

/* An earlier run's checkpoints must not be taken for this one's. */
static enum rc clear_old(struct trainer *t, struct diag *d)
{
    const char *best = pool_printf(&t->pool, "%s/best.mpt", t->checkpoints);
    TRY_ALLOC(best, d);
    if (unlink(t->log_path) != 0 && errno != ENOENT)
        return io_error(d, "cannot remove", t->log_path);
    if (unlink(best) != 0 && errno != ENOENT)
        return io_error(d, "cannot remove", best);
    /* prune keeps the newest one at least, so take that away first each time */
    for (;;) {
        const char *newest = NULL;
        struct diag unused;
        diag_init(&unused);
        enum rc rc = checkpoint_newest(t->checkpoints, &t->pool, &newest, &unused);
        if (rc != RC_OK || !newest)
            return rc == RC_OK ? RC_OK
                               : diag_error(d, RC_DATA, NOWHERE,
                                            "'%s' holds damaged checkpoints of an earlier run: "
                                            "remove the folder, or use --out",
                                            t->checkpoints);
        if (unlink(newest) != 0)
            return io_error(d, "cannot remove", newest);
    }
}

enum rc run_folder_make(struct trainer *t, struct diag *d)
{
    const char *out = t->options->out;
    t->folder = out ? out : pool_printf(&t->pool, "runs/%s", t->spec->name);
    TRY_ALLOC(t->folder, d);
    t->log_path = pool_printf(&t->pool, "%s/log.jsonl", t->folder);
    t->checkpoints = pool_printf(&t->pool, "%s/checkpoints", t->folder);
    TRY_ALLOC(t->log_path, d);
    TRY_ALLOC(t->checkpoints, d);
    TRY(make_folder(&t->pool, t->checkpoints, d));
    if (!t->options->resume) {
        if (access(t->log_path, F_OK) == 0 && !t->options->overwrite)
            return diag_error(d, RC_USAGE, NOWHERE,
                              "'%s' already holds a run: go on with --resume, replace it with "
                              "--overwrite, or write elsewhere with --out",
                              t->folder);
        TRY(clear_old(t, d));
    }
    return log_file_open(&t->log, t->log_path, d);
}

static enum rc tell_changes(const struct trainer *t, const struct checkpoint *c, struct diag *d)
{
    struct str now;
    str_init(&now);
    config_write(t->spec, &now);
    enum rc rc = now.failed ? diag_no_memory(d) : RC_OK;
    struct loc loc = {c->path, 0, 0};
    if (rc == RC_OK)
        config_compare(c->config, now.text, loc, d);
    if (c->data[0] && strcmp(c->data, t->data.fingerprint) != 0)
        diag_warning(d, loc, "the training data are not those it was saved with");
    str_release(&now);
    return rc;
}

enum rc run_folder_resume(struct trainer *t, struct diag *d)
{
    const char *path = t->options->resume;
    struct checkpoint c;
    if (!path[0])
        TRY(checkpoint_newest(t->checkpoints, &t->pool, &path, d));
    if (!path)
        return RC_OK; /* killed before the first checkpoint: start again */
    TRY(checkpoint_open(&c, path, d));
    enum rc rc = tell_changes(t, &c, d);
    if (rc == RC_OK)
        rc = saved_read(&c, &t->plan, &t->data.normalizer, d);
    if (rc == RC_OK && c.progress.position >= t->data.train.rows)
        rc = diag_error(d, RC_DATA, (struct loc){path, 0, 0},
                        "it stands at row %lld of an epoch, the training set has %lld rows: the "
                        "data have changed",
                        (long long)c.progress.position, (long long)t->data.train.rows);
    if (rc == RC_OK) {
        t->step.progress = c.progress;
        t->resumed_from = t->last_saved = c.progress.step;
        t->saved_applied = c.progress.applied;
    }
    checkpoint_close(&c);
    return rc;
}
