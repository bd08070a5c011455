/* diag.h: the words of errors and warnings, collected so that all problems are told in one go.
 *
 * A struct diag belongs to the command and is passed down as the last argument. Functions add
 * items and return an rc; only the command prints. Printed in compiler format:
 *     file:line:column: error: text
 *     file:line:column: note: text        (a note belongs to the item before it) */
#ifndef DIAG_H
#define DIAG_H

#include "base/rc.h"

#include <stdbool.h>
#include <stdio.h>

/* A place in a text file. line 0: the file as a whole; file NULL: no place at all. */
struct loc {
    const char *file; /* borrowed: lives in the pool of whoever read the file */
    int line, column; /* from 1 */
};

#define NOWHERE ((struct loc){NULL, 0, 0})

enum diag_kind { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

enum { DIAG_MAX_ERRORS = 20, DIAG_MAX_ITEMS = 80 };

struct diag_item {
    enum diag_kind kind;
    int line, column; /* 0: none */
    char text[640];   /* "file:line:column: error: ..." */
};

struct diag {
    struct diag_item items[DIAG_MAX_ITEMS];
    int n_items, n_errors, n_dropped;
    enum rc rc; /* of the first error; RC_OK while there is none */
};

void diag_init(struct diag *d);

/* Adds an error and returns rc, so that a caller can say: return diag_error(...). */
enum rc diag_error(struct diag *d, enum rc rc, struct loc loc, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
void diag_warning(struct diag *d, struct loc loc, const char *fmt, ...) PRINTF_LIKE(3, 4);
void diag_note(struct diag *d, struct loc loc, const char *fmt, ...) PRINTF_LIKE(3, 4);
enum rc diag_no_memory(struct diag *d);

/* True once no further error will be kept: a good moment to stop looking for more. */
bool diag_is_full(const struct diag *d);

/* Puts the items from number `from` on into the order of the file, each with its notes; those
 * without a line first. */
void diag_sort(struct diag *d, int from);

/* Prints the items from number `from` on to `to`; returns the number of items, so that warnings
 * can be printed early and errors later without repeating any. */
int diag_print(const struct diag *d, int from, FILE *to);

/* For allocation results: leaves the function with "out of memory" where p is NULL. */
#define TRY_ALLOC(p, d)                                                                            \
    do {                                                                                           \
        if (!(p))                                                                                  \
            return diag_no_memory(d);                                                              \
    } while (0)

/* Our own fault, never the user's: says where and aborts. */
#define BUG_IF(cond)                                                                               \
    do {                                                                                           \
        if (cond)                                                                                  \
            diag_bug(__FILE__, __LINE__, #cond);                                                   \
    } while (0)
_Noreturn void diag_bug(const char *file, int line, const char *what);

#endif
