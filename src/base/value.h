/* value.h: a neutral tree of what a config file says, with a place for every key and value.
 * Made by config/yaml_tree.c, read by the key engine (keys.h). Lives in a pool; immutable. */
#ifndef VALUE_H
#define VALUE_H

#include "base/diag.h"

#include <stdbool.h>

enum value_kind { VALUE_SCALAR, VALUE_LIST, VALUE_MAP };

struct value {
    enum value_kind kind;
    struct loc loc;
    const char *text;           /* scalar: UTF-8, terminated; "" where the YAML has nothing */
    bool quoted;                /* scalar: in quotes, so it is text and never a number or null */
    int n;                      /* list, map: how many items */
    const struct value **items; /* list: the items; map: the values */
    const struct value **keys;  /* map: the keys, scalars, no two alike */
};

/* The value of a key of a map, or NULL. */
const struct value *value_get(const struct value *map, const char *key);
/* "a list", "a map", "text" ...: for messages */
const char *value_kind_name(const struct value *v);

#endif
