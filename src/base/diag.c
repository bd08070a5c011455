/* diag.c: see diag.h. Keeps the texts ready to print, so that no item outlives what it names. */
#include "config.h"

#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_words[] = {"error", "warning", "note"};

void diag_init(struct diag *d)
{
    d->n_items = d->n_errors = d->n_dropped = 0;
    d->rc = RC_OK;
}

static int put_place(char *out, size_t size, struct loc loc)
{
    if (!loc.file)
        return snprintf(out, size, "mptrain: ");
    if (loc.line <= 0)
        return snprintf(out, size, "%s: ", loc.file);
    if (loc.column <= 0)
        return snprintf(out, size, "%s:%d: ", loc.file, loc.line);
    return snprintf(out, size, "%s:%d:%d: ", loc.file, loc.line, loc.column);
}

PRINTF_LIKE(4, 0)
static void add(struct diag *d, enum diag_kind kind, struct loc loc, const char *fmt, va_list args)
{
    if (d->n_items == DIAG_MAX_ITEMS || d->n_dropped > 0) {
        d->n_dropped += kind != DIAG_NOTE; /* a note goes with its error */
        return;
    }
    struct diag_item *item = &d->items[d->n_items++];
    size_t size = sizeof(item->text);
    item->kind = kind;
    item->line = loc.file ? loc.line : 0;
    item->column = loc.file ? loc.column : 0;
    int at = put_place(item->text, size, loc);
    if (at < 0 || (size_t)at >= size)
        return;
    int more = snprintf(item->text + at, size - (size_t)at, "%s: ", kind_words[kind]);
    if (more < 0 || (size_t)(at + more) >= size)
        return;
    at += more;
    vsnprintf(item->text + at, size - (size_t)at, fmt, args);
}

enum rc diag_error(struct diag *d, enum rc rc, struct loc loc, const char *fmt, ...)
{
    va_list args;
    if (d->rc == RC_OK)
        d->rc = rc;
    if (d->n_errors++ >= DIAG_MAX_ERRORS) {
        d->n_dropped++;
        return rc;
    }
    va_start(args, fmt);
    add(d, DIAG_ERROR, loc, fmt, args);
    va_end(args);
    return rc;
}

void diag_warning(struct diag *d, struct loc loc, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(d, DIAG_WARNING, loc, fmt, args);
    va_end(args);
}

void diag_note(struct diag *d, struct loc loc, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(d, DIAG_NOTE, loc, fmt, args);
    va_end(args);
}

enum rc diag_no_memory(struct diag *d)
{
    return diag_error(d, RC_FAILED, NOWHERE, "out of memory");
}

bool diag_is_full(const struct diag *d)
{
    return d->n_errors >= DIAG_MAX_ERRORS;
}

/* Number of items from i on that belong together: one and its notes. */
static int group_length(const struct diag *d, int i)
{
    int n = 1;
    while (i + n < d->n_items && d->items[i + n].kind == DIAG_NOTE)
        n++;
    return n;
}

static bool is_before(const struct diag_item *a, const struct diag_item *b)
{
    return a->line < b->line || (a->line == b->line && a->column < b->column);
}

void diag_sort(struct diag *d, int from)
{
    /* By insertion, a group at a time and item by item: there are few. */
    for (int i = from, n; i < d->n_items; i += n) {
        n = group_length(d, i);
        int to = from;
        while (to < i && !is_before(&d->items[i], &d->items[to]))
            to += group_length(d, to);
        for (int k = 0; k < n && to < i; k++) {
            struct diag_item held = d->items[i + k];
            memmove(&d->items[to + k + 1], &d->items[to + k],
                    (size_t)(i - to) * sizeof(d->items[0]));
            d->items[to + k] = held;
        }
    }
}

int diag_print(const struct diag *d, int from, FILE *to)
{
    for (int i = from; i < d->n_items; i++)
        fprintf(to, "%s\n", d->items[i].text);
    if (d->n_dropped > 0)
        fprintf(to, "mptrain: note: %d more not shown\n", d->n_dropped);
    return d->n_items;
}

_Noreturn void diag_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "mptrain: BUG at %s:%d: %s\nPlease report this with the config file.\n", file,
            line, what);
    abort();
}
