/* checkpoint_folder.c: which checkpoints a run has, the newest whole one, and which may go.
 *
 * Invariant: only files named step-<number>.mpt are ever picked; only those and leftover
 * temporaries of such files are ever removed. */
#include "config.h"

#include "checkpoint/checkpoint.h"

#include "base/str.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *checkpoint_path(struct pool *pool, const char *folder, int64_t step)
{
    return pool_printf(pool, "%s/step-%08" PRId64 ".mpt", folder, step);
}

/* "step-00000012.mpt" and nothing else: as checkpoint_path() writes it. */
static bool is_step(const char *name, int64_t *step)
{
    char digits[20];
    if (strncmp(name, "step-", 5) != 0)
        return false;
    size_t n = strspn(name + 5, "0123456789");
    if (n < 8 || n >= sizeof(digits) || (n > 8 && name[5] == '0'))
        return false;
    memcpy(digits, name + 5, n);
    digits[n] = '\0';
    return strcmp(name + 5 + n, ".mpt") == 0 && str_to_int(digits, step);
}

/* What checkpoint_write() leaves behind when it is killed; not that of a writer still at work. */
static bool is_leftover(const char *name)
{
    int64_t number = 0;
    const char *at = strstr(name, ".mpt.tmp-");
    if (!at || !isdigit((unsigned char)at[9]) || !str_to_int(at + 9, &number) || number < 1)
        return false;
    pid_t pid = (pid_t)number;
    return pid != number || pid == getpid() || (kill(pid, 0) != 0 && errno == ESRCH);
}

static int newer_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

struct steps {
    int64_t *at; /* owned; newest first */
    size_t n, room;
};

/* False: out of memory. */
static bool add_step(struct steps *s, int64_t step)
{
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 16;
        int64_t *at = realloc(s->at, room * sizeof(*at));
        if (!at)
            return false;
        s->at = at;
        s->room = room;
    }
    s->at[s->n++] = step;
    return true;
}

/* The steps that have a file, newest first. A folder that is not there has none. */
static enum rc list_steps(const char *folder, struct steps *s, struct diag *d)
{
    *s = (struct steps){NULL, 0, 0};
    DIR *dir = opendir(folder);
    if (!dir && errno == ENOENT)
        return RC_OK;
    if (!dir)
        return diag_error(d, RC_DATA, (struct loc){folder, 0, 0}, "cannot look for checkpoints: %s",
                          strerror(errno));
    enum rc rc = RC_OK;
    const struct dirent *item;
    while (rc == RC_OK && (item = readdir(dir)) != NULL) {
        int64_t step;
        if (is_step(item->d_name, &step) && !add_step(s, step))
            rc = diag_no_memory(d);
    }
    closedir(dir);
    if (s->n)
        qsort(s->at, s->n, sizeof(*s->at), newer_first);
    return rc;
}

static bool is_whole(const char *path, struct diag *d)
{
    struct checkpoint c;
    if (checkpoint_open(&c, path, d) != RC_OK)
        return false;
    enum rc rc = checkpoint_verify(&c, d);
    checkpoint_close(&c);
    return rc == RC_OK;
}

/* The words of the first error, without its "file: error: ". */
static const char *words(const struct diag *d)
{
    const char *text = d->n_items ? d->items[0].text : "";
    const char *at = strstr(text, ": error: ");
    return at ? at + strlen(": error: ") : text;
}

static enum rc pick(const char *folder, const struct steps *s, struct pool *pool, const char **path,
                    struct diag *d)
{
    for (size_t i = 0; i < s->n; i++) {
        struct diag why;
        const char *candidate = checkpoint_path(pool, folder, s->at[i]);
        TRY_ALLOC(candidate, d);
        diag_init(&why);
        if (is_whole(candidate, &why)) {
            *path = candidate;
            return RC_OK;
        }
        if (why.rc == RC_FAILED)
            return diag_error(d, RC_FAILED, (struct loc){candidate, 0, 0}, "%s", words(&why));
        diag_warning(d, (struct loc){candidate, 0, 0}, "passed over: %s", words(&why));
    }
    if (s->n)
        return diag_error(d, RC_DATA, (struct loc){folder, 0, 0},
                          "%zu checkpoints, but none of them is whole", s->n);
    return RC_OK;
}

enum rc checkpoint_newest(const char *folder, struct pool *pool, const char **path, struct diag *d)
{
    struct steps steps;
    *path = NULL;
    enum rc rc = list_steps(folder, &steps, d);
    if (rc == RC_OK)
        rc = pick(folder, &steps, pool, path, d);
    free(steps.at);
    return rc;
}

static void remove_leftovers(const char *folder, struct pool *pool)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    const struct dirent *item;
    while ((item = readdir(dir)) != NULL) {
        const char *path =
            is_leftover(item->d_name) ? pool_printf(pool, "%s/%s", folder, item->d_name) : NULL;
        if (path)
            unlink(path);
    }
    closedir(dir);
}

/* What cannot be removed stays: the next call tries again. */
void checkpoint_prune(const char *folder, int64_t keep)
{
    struct steps steps;
    struct diag ignored;
    struct pool pool;
    diag_init(&ignored);
    pool_init(&pool);
    if (list_steps(folder, &steps, &ignored) == RC_OK && keep > 0)
        for (size_t i = (size_t)keep; i < steps.n; i++) {
            const char *path = checkpoint_path(&pool, folder, steps.at[i]);
            if (path)
                unlink(path);
        }
    free(steps.at);
    remove_leftovers(folder, &pool);
    pool_release(&pool);
}
