/* cmd_checkpoint.c: `mptrain checkpoint show|verify FILE...`: looks into checkpoints.
 *
 * To add a verb: a function for one file and a row in `verbs`. */
#include "config.h"

#include "cmd/cmd.h"

#include "base/str.h"
#include "checkpoint/checkpoint.h"
#include "report/report_text.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

struct checkpoint_opts {
    bool config;
};

static void print_safe(const char *text)
{
    struct str safe;
    str_init(&safe);
    report_text_safe(&safe, text, false);
    fputs(safe.text ? safe.text : "", stdout);
    str_release(&safe);
}

/* ---- show ---- */

static void show_progress(const struct progress *p)
{
    puts("\nprogress");
    for (const struct progress_field *f = progress_fields; f->name; f++) {
        const void *at = (const char *)p + f->offset;
        char text[STR_FLOAT_ROOM];
        if (f->type == PROGRESS_INT)
            snprintf(text, sizeof(text), "%" PRId64, *(const int64_t *)at);
        else if (f->type == PROGRESS_FLOAT)
            str_float(text, *(const double *)at);
        else
            snprintf(text, sizeof(text), "%s", *(const bool *)at ? "true" : "false");
        printf("  %-20s %-18s %s\n", f->name, text, f->help);
    }
}

static const char *ratio(char out[16], uint64_t bytes, uint64_t stored)
{
    snprintf(out, 16, "%.2f", bytes ? (double)stored / (double)bytes : 1.0);
    return out;
}

static void show_tensors(const struct checkpoint *c)
{
    char text[16];
    uint64_t bytes = 0, stored = 0;
    int widest = 5; /* "total" */
    for (int i = 0; i < c->n_tensors; i++) {
        int width = report_text_width(c->entries[i].name);
        widest = width > widest ? width : widest;
    }
    printf("\n%d tensors\n  %-*s %-5s %14s %14s %5s  shape\n", c->n_tensors, widest, "name", "type",
           "bytes", "stored", "ratio");
    for (int i = 0; i < c->n_tensors; i++) {
        const struct checkpoint_entry *e = &c->entries[i];
        struct tensor t = {.rank = e->rank};
        char shape[TENSOR_SHAPE_ROOM];
        memcpy(t.dims, e->dims, sizeof(t.dims));
        fputs("  ", stdout);
        print_safe(e->name);
        printf("%*s %-5s %14" PRIu64 " %14" PRIu64 " %5s  %s\n",
               widest - report_text_width(e->name), "", dtype_name(e->dtype), e->bytes, e->stored,
               ratio(text, e->bytes, e->stored), tensor_shape(shape, &t));
        bytes += e->bytes;
        stored += e->stored;
    }
    printf("  %-*s %-5s %14" PRIu64 " %14" PRIu64 " %5s\n", widest, "total", "", bytes, stored,
           ratio(text, bytes, stored));
}

static void show_names(const struct checkpoint *c)
{
    if (c->n_class_names)
        printf("classes      %d:", c->n_class_names);
    for (int i = 0; i < c->n_class_names; i++) {
        fputs(i ? ", " : " ", stdout);
        print_safe(c->class_names[i]);
    }
    if (c->n_class_names)
        puts("");
}

/* Line by line, so that the ends of the lines stay. */
static void show_config(const char *config)
{
    puts("\nconfig");
    for (const char *at = config; *at;) {
        size_t n = strcspn(at, "\n");
        struct str line;
        str_init(&line);
        str_append(&line, at, n);
        fputs("  ", stdout);
        print_safe(line.text ? line.text : "");
        puts("");
        str_release(&line);
        at += n + (at[n] == '\n');
    }
}

static enum rc show(const char *path, const struct checkpoint_opts *o, struct diag *d)
{
    struct checkpoint c;
    struct stat info;
    char size[STR_BYTES_ROOM];
    TRY(checkpoint_open(&c, path, d));
    printf("%s\n", path);
    printf("written by   mptrain ");
    print_safe(c.version);
    if (stat(path, &info) == 0)
        printf("\nsize         %s", str_bytes(size, (uint64_t)info.st_size));
    printf("\nfingerprint  ");
    print_safe(c.fingerprint);
    puts("");
    show_names(&c);
    show_progress(&c.progress);
    show_tensors(&c);
    if (o->config)
        show_config(c.config);
    checkpoint_close(&c);
    return RC_OK;
}

/* ---- verify ---- */

static enum rc verify(const char *path, const struct checkpoint_opts *o, struct diag *d)
{
    struct checkpoint c;
    (void)o;
    enum rc rc = checkpoint_open(&c, path, d);
    if (rc == RC_OK) {
        rc = checkpoint_verify(&c, d);
        if (rc == RC_OK)
            printf("%s: ok: step %" PRId64 ", %d tensors\n", path, c.progress.step, c.n_tensors);
        checkpoint_close(&c);
    }
    return rc;
}

/* ---- the command ---- */

static const struct verb {
    const char *name;
    enum rc (*run)(const char *path, const struct checkpoint_opts *o, struct diag *d);
} verbs[] = {{"show", show}, {"verify", verify}};

static const char *next_verb(const void *context, int i)
{
    (void)context;
    return (size_t)i < COUNT_OF(verbs) ? verbs[i].name : NULL;
}

static enum rc unknown_verb(const char *word, struct diag *d)
{
    diag_error(d, RC_USAGE, NOWHERE, "checkpoint: unknown verb '%.60s': show or verify", word);
    const char *near = str_nearest(word, next_verb, NULL);
    if (near)
        diag_note(d, NOWHERE, "did you mean '%s'?", near);
    return RC_USAGE;
}

/* A run's folder stands for its newest whole checkpoint. */
static enum rc find_file(const char *word, struct pool *pool, const char **path, struct diag *d)
{
    struct stat info;
    *path = word;
    if (stat(word, &info) != 0 || !S_ISDIR(info.st_mode))
        return RC_OK;
    const char *folder = pool_printf(pool, "%s/checkpoints", word);
    TRY_ALLOC(folder, d);
    if (stat(folder, &info) != 0)
        folder = word; /* the folder of checkpoints itself */
    TRY(checkpoint_newest(folder, pool, path, d));
    if (!*path)
        return diag_error(d, RC_DATA, (struct loc){word, 0, 0}, "there is no checkpoint in it");
    return RC_OK;
}

static enum rc run(const struct cmd_args *args, struct diag *d)
{
    const struct verb *verb = NULL;
    for (size_t i = 0; i < COUNT_OF(verbs); i++)
        if (strcmp(verbs[i].name, args->words[0]) == 0)
            verb = &verbs[i];
    if (!verb)
        return unknown_verb(args->words[0], d);
    enum rc rc = RC_OK;
    for (int i = 1; i < args->n; i++) {
        const char *path;
        struct pool pool;
        pool_init(&pool);
        enum rc of_file = find_file(args->words[i], &pool, &path, d);
        if (of_file == RC_OK && i > 1 && verb->run == show)
            puts("");
        if (of_file == RC_OK)
            of_file = verb->run(path, args->opts, d);
        rc = rc == RC_OK ? of_file : rc;
        pool_release(&pool);
    }
    return rc;
}

static const struct opt opts[] = {{"config", 'c', OPT_FLAG,
                                   offsetof(struct checkpoint_opts, config), NULL, 0, 0,
                                   "With show: print the effective configuration too."},
                                  {0}};

const struct cmd cmd_checkpoint = {
    .name = "checkpoint",
    .help = "Look into checkpoints: show what is in them, verify that they are whole.",
    .usage = "show|verify FILE... [OPTION]...",
    .about =
        "'show' prints where the run was and the table of tensors. 'verify' unpacks everything "
        "and compares checksums. A run's folder stands for its newest whole checkpoint.",
    .opts = opts,
    .opts_size = sizeof(struct checkpoint_opts),
    .words_min = 2,
    .words_max = -1,
    .run = run,
};
