/* key_text.h: rows of key tables (base/keys.h) in words: for `mptrain list keys` and the tables of
 * the man pages. */
#ifndef KEY_TEXT_H
#define KEY_TEXT_H

#include "base/keys.h"

enum { KEY_TEXT_ROOM = 256, KEY_TEXT_HELP_ROOM = 1024 };

/* "integer", "number", "list of numbers", "none | static | dynamic" */
const char *key_text_type(const struct key *row, char out[KEY_TEXT_ROOM]);
/* "1 to 10", "above 0, at most 1"; "" where any value will do */
const char *key_text_range(const struct key *row, char out[KEY_TEXT_ROOM]);
/* "0.9", "none", "required"; "" where the key stands for more than a value */
const char *key_text_default(const struct key *row);

/* A help line as a sentence: begins with a capital, ends with a full stop. */
const char *key_text_sentence(const char *text, char out[KEY_TEXT_HELP_ROOM]);

/* The key tables of everything that stands in a config: its sections, and each optimizer's,
 * reader's and op's. kind: "section", "optimizer", "reader", "op". name NULL behind the last. */
struct key_text_table {
    const char *kind, *name, *help;
    const struct key *rows; /* may be NULL: it has no keys of its own */
};
struct key_text_table key_text_at(int i);

#endif
