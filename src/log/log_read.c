/* log_read.c: a whole log.jsonl into memory (see log_file.h), for the report and the tests.
 *
 * Invariant: memory stays in proportion to the file. */
#include "config.h"

#include "log/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHORTEST_LINE = 14 }; /* {"type":"end"} */

struct reader {
    const char *path;
    int line;
    struct log_records *out;
    struct diag *d;
};

static enum rc refuse(const struct reader *rd, const char *what, const char *field)
{
    return diag_error(rd->d, RC_DATA, (struct loc){rd->path, rd->line, 0}, "%s%s%s%s",
                      field ? "'" : "", field ? field : "", field ? "' " : "", what);
}

/* The file's text on the heap. */
static enum rc slurp(const char *path, char **text, size_t *length, struct diag *d)
{
    struct stat info;
    struct loc loc = {path, 0, 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        int error = fd < 0 ? errno : EINVAL;
        if (fd >= 0)
            close(fd);
        return diag_error(d, RC_DATA, loc, "cannot read the log: %s", strerror(error));
    }
    *length = 0;
    *text = malloc((size_t)info.st_size + 1);
    ssize_t n = 0;
    while (*text && *length < (size_t)info.st_size) {
        n = read(fd, *text + *length, (size_t)info.st_size - *length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        *length += (size_t)n;
    }
    int error = errno;
    close(fd);
    TRY_ALLOC(*text, d);
    if (n >= 0)
        return RC_OK;
    free(*text);
    return diag_error(d, RC_DATA, loc, "cannot read the log: %s", strerror(error));
}

/* The name of a non-finite value, or finite text: false. */
static bool nonfinite(const json_t *map, const char *name, double *x)
{
    static const struct {
        const char *text;
        double value;
    } words[] = {{"inf", INFINITY}, {"-inf", -INFINITY}, {"nan", NAN}};
    const char *text = json_string_value(json_object_get(map, name));
    for (size_t i = 0; text && i < COUNT_OF(words); i++)
        if (strcmp(text, words[i].text) == 0) {
            *x = words[i].value;
            return true;
        }
    return false;
}

static enum rc read_float(const struct reader *rd, const json_t *map, const struct record_field *f,
                          const json_t *value, double *x)
{
    if (json_is_number(value)) {
        *x = json_number_value(value);
        return RC_OK;
    }
    if (json_is_null(value) && nonfinite(json_object_get(map, "nonfinite"), f->name, x))
        return RC_OK;
    return refuse(rd, "is no number, or null without its name under 'nonfinite'", f->name);
}

static enum rc read_field(const struct reader *rd, const json_t *map, const struct record_field *f,
                          struct record *r)
{
    const json_t *value = json_object_get(map, f->name);
    void *at = (char *)r + f->offset;
    if (!value)
        return RC_OK;
    if (f->has)
        *(bool *)((char *)r + f->has) = true;
    switch (f->type) {
    case FIELD_INT:
        if (!json_is_integer(value))
            return refuse(rd, "is no integer", f->name);
        *(int64_t *)at = json_integer_value(value);
        return RC_OK;
    case FIELD_FLOAT:
        return read_float(rd, map, f, value, at);
    case FIELD_BOOL:
        if (!json_is_boolean(value))
            return refuse(rd, "is neither true nor false", f->name);
        *(bool *)at = json_is_true(value);
        return RC_OK;
    case FIELD_TEXT:
        if (!json_is_string(value))
            return refuse(rd, "is no text", f->name);
        *(const char **)at = pool_strdup(&rd->out->pool, json_string_value(value));
        TRY_ALLOC(*(const char **)at, rd->d);
        return RC_OK;
    }
    return RC_OK;
}

/* RECORD_COUNT: a type that a newer version wrote. */
static enum record_type type_of(const char *name)
{
    int t = 0;
    while (t < RECORD_COUNT && strcmp(record_types[t].name, name) != 0)
        t++;
    return (enum record_type)t;
}

static enum rc read_object(struct reader *rd, const json_t *map)
{
    const char *type = json_string_value(json_object_get(map, "type"));
    if (!type)
        return refuse(rd, "no log record: an object with a \"type\" is expected", NULL);
    struct record r = {.type = type_of(type)};
    if (r.type == RECORD_COUNT)
        return RC_OK;
    for (const struct record_field *f = record_fields; f->name; f++)
        if (f->types & 1u << r.type)
            TRY(read_field(rd, map, f, &r));
    rd->out->at[rd->out->n++] = r;
    return RC_OK;
}

static enum rc read_line(struct reader *rd, const char *text, size_t length)
{
    json_error_t error;
    json_t *map = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!map)
        return refuse(rd, error.text, NULL);
    enum rc rc = read_object(rd, map);
    json_decref(map);
    return rc;
}

static enum rc read_lines(struct reader *rd, const char *text, size_t length)
{
    const char *end = text + length, *at = text;
    enum rc rc = RC_OK;
    for (; at < end && rc != RC_FAILED && !diag_is_full(rd->d); rd->line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) {
            diag_warning(rd->d, (struct loc){rd->path, rd->line, 0},
                         "the last line is not whole (a run that was killed, or is still "
                         "writing): passed over");
            break;
        }
        enum rc of_line = read_line(rd, at, (size_t)(stop - at));
        rc = of_line != RC_OK ? of_line : rc;
        at = stop + 1;
    }
    return rc;
}

/* Lines that may become a record. */
static size_t count_lines(const char *text, size_t length)
{
    size_t n = 0;
    const char *end = text + length, *at = text, *stop;
    while (at < end && (stop = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        n += stop - at >= SHORTEST_LINE;
        at = stop + 1;
    }
    return n;
}

enum rc log_file_read(struct log_records *out, const char *path, struct diag *d)
{
    char *text = NULL;
    size_t length = 0;
    pool_init(&out->pool);
    out->n = 0;
    out->at = NULL;
    TRY(slurp(path, &text, &length, d));
    struct reader rd = {path, 1, out, d};
    out->at = pool_array(&out->pool, count_lines(text, length), sizeof(*out->at));
    enum rc rc = out->at ? read_lines(&rd, text, length) : diag_no_memory(d);
    free(text);
    if (rc != RC_OK)
        log_records_release(out);
    return rc;
}

void log_records_release(struct log_records *r)
{
    pool_release(&r->pool);
    r->n = 0;
    r->at = NULL;
}
