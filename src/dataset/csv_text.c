/* csv_text.c: see csv_text.h. Memory is bounded by the longest record, not by the file. */
#include "config.h"

#include "dataset/csv_text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256 * 1024, RECORD_MAX = 16 * 1024 * 1024 };

/* How far the search for the end of a record has come. */
struct scan {
    size_t at;
    bool in_quotes;
    int line_feeds; /* inside quotes */
};

static struct loc place(const struct csv_text *t, int column)
{
    return (struct loc){t->f->name, t->line, column};
}

/* Reads more behind what is there; the record under way moves to the front of the buffer. */
static enum rc fill(struct csv_text *t, struct scan *s, struct diag *d)
{
    memmove(t->buffer, t->buffer + t->at, t->filled - t->at);
    t->filled -= t->at;
    s->at -= t->at;
    t->at = 0;
    if (t->filled + 1 >= t->room) {
        if (t->room >= RECORD_MAX)
            return diag_error(
                d, RC_DATA, place(t, 0),
                "a line of more than %d MiB: not a CSV file, or a quote is not closed",
                RECORD_MAX >> 20);
        char *more = realloc(t->buffer, t->room * 2);
        TRY_ALLOC(more, d);
        t->buffer = more;
        t->room *= 2;
    }
    size_t want = t->room - 1 - t->filled, got;
    TRY(data_file_read(t->f, t->buffer + t->filled, want, &got, d));
    t->filled += got;
    t->at_end = got < want;
    return RC_OK;
}

/* Moves s to the line feed that ends the record, or to the end of what is there. */
static bool find_end(const struct csv_text *t, struct scan *s, bool quotes)
{
    for (; s->at < t->filled; s->at++) {
        char c = t->buffer[s->at];
        if (c == '"')
            s->in_quotes = quotes && !s->in_quotes;
        else if (c == '\n' && !s->in_quotes)
            return true;
        else if (c == '\n')
            s->line_feeds++;
    }
    return false;
}

/* The next record as one terminated string, without its line end; *record NULL at the end. */
static enum rc next_record(struct csv_text *t, bool quotes, char **record, char **end,
                           struct diag *d)
{
    struct scan s = {.at = t->at};
    t->line = t->next_line;
    *record = NULL;
    while (!find_end(t, &s, quotes)) {
        if (t->at_end)
            break;
        TRY(fill(t, &s, d));
    }
    if (t->at == t->filled)
        return RC_OK;
    *record = t->buffer + t->at;
    *end = t->buffer + s.at;
    t->at = s.at < t->filled ? s.at + 1 : s.at;
    if (*end > *record && (*end)[-1] == '\r')
        --*end;
    if (t->next_line > INT_MAX - 1 - s.line_feeds)
        return diag_error(d, RC_DATA, place(t, 0), "too many lines");
    t->next_line += 1 + s.line_feeds;
    if (memchr(*record, '\0', (size_t)(*end - *record)))
        return diag_error(d, RC_DATA, place(t, 0),
                          "holds a NUL byte: not a text file in ASCII or UTF-8");
    **end = '\0'; /* over the line end, or behind the last byte: the buffer has room for it */
    return RC_OK;
}

enum rc csv_text_init(struct csv_text *t, struct data_file *f, char delimiter, int64_t skip_lines,
                      struct diag *d)
{
    memset(t, 0, sizeof(*t));
    t->f = f;
    t->delimiter = delimiter;
    t->next_line = t->line = 1;
    t->room = FIRST_ROOM;
    t->buffer = malloc(t->room);
    TRY_ALLOC(t->buffer, d);
    struct scan s = {0};
    enum rc rc = fill(t, &s, d);
    if (rc == RC_OK && t->filled >= 3 && memcmp(t->buffer, "\xEF\xBB\xBF", 3) == 0)
        t->at = 3;
    for (int64_t i = 0; rc == RC_OK && i < skip_lines; i++) {
        char *record, *end;
        rc = next_record(t, false, &record, &end, d);
        if (rc == RC_OK && !record)
            rc = diag_error(d, RC_DATA, (struct loc){f->name, 0, 0},
                            "has %" PRId64 " lines only; skip_lines passes over %" PRId64, i,
                            skip_lines);
    }
    if (rc != RC_OK)
        csv_text_release(t);
    return rc;
}

void csv_text_release(struct csv_text *t)
{
    free(t->buffer);
    free(t->fields);
    memset(t, 0, sizeof(*t));
}

static bool is_blank(const struct csv_text *t, char c)
{
    return c == ' ' || (c == '\t' && t->delimiter != '\t');
}

static bool is_delimiter(const struct csv_text *t, char c)
{
    return t->delimiter == ' ' ? c == ' ' || c == '\t' : c == t->delimiter;
}

/* Tab, else semicolon, else comma, whichever stands outside quotes; else blanks; else comma.
 * Semicolon goes before comma since where it is used a comma is a decimal comma. */
static char tell_delimiter(const char *record)
{
    bool in_quotes = false, tab = false, semicolon = false, comma = false, blank = false;
    record += strspn(record, " ");
    for (const char *p = record; *p; p++) {
        in_quotes ^= *p == '"';
        if (in_quotes)
            continue;
        tab |= *p == '\t';
        semicolon |= *p == ';';
        comma |= *p == ',';
        blank |= *p == ' ' && p[strspn(p, " ")] != '\0';
    }
    return tab ? '\t' : semicolon ? ';' : comma || !blank ? ',' : ' ';
}

static enum rc add_field(struct csv_text *t, char *text, int column, struct diag *d)
{
    if (t->n_fields == t->field_room) {
        int room = t->field_room ? t->field_room * 2 : 64;
        struct csv_field *more = realloc(t->fields, (size_t)room * sizeof(*more));
        TRY_ALLOC(more, d);
        t->fields = more;
        t->field_room = room;
    }
    t->fields[t->n_fields++] = (struct csv_field){text, column};
    return RC_OK;
}

/* Takes the quotes off, in place; returns what follows the closing one, NULL: none closes. */
static char *unquote(char *p)
{
    char *to = p;
    for (p++; *p; p++) {
        if (*p == '"' && p[1] != '"') {
            p++;
            *to = '\0'; /* at or before the closing quote: p is not touched */
            return p;
        }
        if (*p == '"')
            p++;
        *to++ = *p;
    }
    return NULL;
}

/* The end of an unquoted field that starts at p; NULL where a quote stands within. */
static char *bare_end(const struct csv_text *t, char *p)
{
    while (*p && !is_delimiter(t, *p)) {
        if (*p == '"')
            return NULL;
        p++;
    }
    return p;
}

static void trim_end(const struct csv_text *t, char *text, char *end)
{
    while (end > text && is_blank(t, end[-1]))
        end--;
    *end = '\0';
}

static char *skip_blanks(const struct csv_text *t, char *p)
{
    while (is_blank(t, *p))
        p++;
    return p;
}

/* Cuts a record into fields; *broken is the place where its quotes are wrong, or NULL. */
static enum rc split(struct csv_text *t, char *record, char **broken, struct diag *d)
{
    char *p = record;
    *broken = NULL;
    for (;;) {
        char *text = p = skip_blanks(t, p);
        if (t->delimiter == ' ' && !*p)
            return RC_OK; /* blanks at the end of the line are no delimiter */
        bool quoted = *p == '"';
        char *end = quoted ? unquote(p) : bare_end(t, p);
        char *next = end ? skip_blanks(t, end) : NULL;
        bool runs = t->delimiter == ' ' && next > end;
        if (!end || (*next && !is_delimiter(t, *next) && !runs)) {
            *broken = end ? next : text;
            return RC_OK;
        }
        bool last = !*next;
        if (!quoted)
            trim_end(t, text, end);
        TRY(add_field(t, text, (int)(text - record) + 1, d));
        if (last)
            return RC_OK;
        p = runs ? next : next + 1;
    }
}

static bool all_blank(const char *record)
{
    return record[strspn(record, " \t")] == '\0';
}

enum rc csv_text_next(struct csv_text *t, bool *got, struct diag *d)
{
    char *record, *end, *broken;
    int blank_line = 0;
    *got = false;
    t->n_fields = 0;
    do {
        TRY(next_record(t, true, &record, &end, d));
        if (!record)
            return RC_OK;
        if (all_blank(record) && blank_line == 0)
            blank_line = t->line;
    } while (all_blank(record));
    if (blank_line > 0)
        return diag_error(d, RC_DATA, (struct loc){t->f->name, blank_line, 0},
                          "is blank; blank lines may stand at the end of the file only");
    if (!t->delimiter)
        t->delimiter = tell_delimiter(record);
    TRY(split(t, record, &broken, d));
    *got = true;
    if (!broken)
        return RC_OK;
    t->n_fields = 0;
    diag_error(d, RC_DATA, place(t, (int)(broken - record) + 1),
               "a quote in a wrong place: a field in quotes ends at its second quote, and a quote "
               "inside is written twice");
    return RC_OK;
}
