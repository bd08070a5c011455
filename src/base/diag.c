/* diag.c: see diag.h. Keeps the texts ready to print, so that no item outlives what it names. */
#include "config.h"

#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>

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
        d->n_dropped++;
        return;
    }
    struct diag_item *item = &d->items[d->n_items++];
    size_t size = sizeof(item->text);
    item->kind = kind;
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
