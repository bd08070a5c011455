/* value.c: see value.h. */
#include "config.h"

#include "base/value.h"

#include <string.h>

const struct value *value_get(const struct value *map, const char *key)
{
    for (int i = 0; i < map->n; i++)
        if (strcmp(map->keys[i]->text, key) == 0)
            return map->items[i];
    return NULL;
}

const char *value_kind_name(const struct value *v)
{
    switch (v->kind) {
    case VALUE_LIST:
        return "a list";
    case VALUE_MAP:
        return "a map";
    case VALUE_SCALAR:
        break;
    }
    return v->text[0] || v->quoted ? "a single value" : "nothing";
}
