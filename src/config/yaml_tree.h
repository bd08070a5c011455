/* yaml_tree.h: YAML text into the value tree of base/value.h. The only file that knows libyaml.
 *
 * Stricter than YAML: one document, no key twice, no tags, no merge keys, plain text keys only. An
 * alias stands for a copy of its anchor, within limits on size and depth. The text is hostile until
 * proven otherwise: a checkpoint brings its own. */
#ifndef YAML_TREE_H
#define YAML_TREE_H

#include "base/pool.h"
#include "base/value.h"

#include <stddef.h>

enum {
    YAML_TREE_MAX_BYTES = 16 * 1024 * 1024,
    YAML_TREE_MAX_VALUES = 100000, /* aliases count in full */
    YAML_TREE_MAX_DEPTH = 64,
    YAML_TREE_MAX_KEYS = 4096, /* of one map */
};

/* Reads a file. *out lives in pool. RC_CONFIG with all that is wrong, as far as that can be told.
 */
MUST_USE enum rc yaml_tree_read(const struct value **out, const char *path, struct pool *pool,
                                struct diag *d);

/* The same from memory; `name` stands in messages. */
MUST_USE enum rc yaml_tree_parse(const struct value **out, const char *text, size_t length,
                                 const char *name, struct pool *pool, struct diag *d);

/* One value (the right side of --set): every place in it is `loc`; nothing at all is an empty
 * scalar. */
MUST_USE enum rc yaml_tree_parse_value(const struct value **out, const char *text, struct loc loc,
                                       struct pool *pool, struct diag *d);

#endif
