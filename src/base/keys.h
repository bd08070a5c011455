/* keys.h: the key engine. A row says everything about one config key, once: its name, type, range,
 * default and help. The same rows parse, range-check, fill in defaults, suggest corrections, print
 * the effective config and print the tables of mptrain-config(5).
 *
 * A section is a C struct plus the rows that fill it. Ops, optimizers, readers and the config's own
 * sections all use it. To add a key: a field in the struct and a row in its table. */
#ifndef KEYS_H
#define KEYS_H

#include "base/pool.h"
#include "base/str.h"
#include "base/value.h"

#include <stdint.h>

/* The C type of the field that a row fills:                             written as */
enum key_type {
    KEY_INT,    /* int64_t                                               10 */
    KEY_FLOAT,  /* double, finite                                        1e-4 */
    KEY_BOOL,   /* bool                                                  true | false */
    KEY_TEXT,   /* const char *, "" where the default is ""              no, y and 1 stay text */
    KEY_PATH,   /* const char *; see keys_resolve_paths()                ../data/x.gz */
    KEY_CHOICE, /* int: index into choices                               one of choices */
    KEY_INTS,   /* struct key_list of int64_t                            [3, 3] or 3 */
    KEY_FLOATS, /* struct key_list of double                             [0.9, 0.999] */
    KEY_TEXTS,  /* struct key_list of const char *                       [a, b] or a */
    KEY_VALUE,  /* const struct value *; NULL where not given: the owner reads it itself */
};

enum key_flag {
    KEY_ABOVE_MIN = 1, /* min itself is out of range */
    KEY_BELOW_MAX = 2, /* max itself is out of range */
    KEY_NOT_EMPTY = 4, /* text may be left out, but not be given as "" */
};

/* Offset of a KEY_VALUE row without a field: the owner looks the key up in the map. */
#define KEY_NO_FIELD ((size_t)-1)

struct key {
    const char *name;
    enum key_type type;
    size_t offset;       /* of the field in the section's struct */
    /* as it would stand in the YAML; NULL: must be given; "" text or list, ".nan" number: none */
    const char *def;
    double min, max;     /* of numbers, and of each item of a list; both 0: no limit,
                          * INFINITY: none on that side */
    unsigned flags;
    const char *choices; /* KEY_CHOICE: "none|static|dynamic" */
    const char *help;    /* one line, for the man page */
};

struct key_list {
    int n;
    const void *at;
};

/* Where a value came from. */
struct key_origin {
    struct loc loc; /* of the value; where it was not given: of the section */
    bool set;       /* given by the user, not a default */
};

/* A filled section: rows end with a row whose name is NULL. */
struct section {
    const char *where;         /* dotted path of the section: "optimizer", "model.fc1" */
    const struct key *rows;
    void *at;                  /* the filled struct */
    struct key_origin *origin; /* one for each row */
    struct loc loc;
};

/* Allocates and fills a struct of `size` bytes from a map (NULL: all defaults). Keys listed in
 * `other` (NULL-terminated, may be NULL) belong to someone else and are passed over, and take part
 * in suggestions. All problems go to d; RC_CONFIG if there was one, the rest is filled all the
 * same. */
MUST_USE enum rc keys_read(struct section *out, const char *where, const struct key *rows,
                           size_t size, const struct value *map, struct loc loc,
                           const char *const *other, struct pool *pool, struct diag *d);

/* Reports a word that is none of the choices, with the nearest as a note. Returns RC_CONFIG. */
enum rc keys_unknown(struct diag *d, struct loc loc, const char *where, const char *what,
                     const char *word, const char *(*next)(const void *context, int i),
                     const void *context);

/* Where the key `name` of the section came from; a row must have that name. */
struct key_origin keys_origin(const struct section *s, const char *name);

/* Puts folder in front of every KEY_PATH value that is relative. */
MUST_USE enum rc keys_resolve_paths(const struct section *s, const char *folder, struct pool *pool,
                                    struct diag *d);

/* Writes `name: value` lines for every row (defaults too), each behind `indent` blanks. KEY_VALUE
 * rows are left to their owner, and so are defaults that only say "not given": empty text, an empty
 * list, NaN. Paths are written absolute. */
void keys_write(const struct section *s, struct str *out, int indent);
/* The same for one row; nothing where there is nothing to write. */
void keys_write_row(const struct section *s, const char *name, struct str *out, int indent);
/* Appends text as a YAML scalar, in quotes where it would otherwise read as something else. */
void keys_write_scalar(struct str *out, const char *text);

/* The words of a choices text, walked by keys_choice(&c, i), NULL behind the last: for
 * keys_unknown() and for help. */
struct keys_choices {
    int n;
    char text[256]; /* the words, each terminated */
};
void keys_choices_init(struct keys_choices *c, const char *choices);
const char *keys_choice(const void *choices, int i);

#endif
