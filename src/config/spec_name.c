/* spec_name.c: layers in the value tree: their shape, and the names they have or get. Used to read
 * the model and to find a layer for --set, so both see the same names. */
#include "config.h"

#include "config/spec_read.h"

#include <string.h>
#include <strings.h>

struct spec_name_item spec_name_split(const struct value *item)
{
    if (item->kind == VALUE_SCALAR)
        return (struct spec_name_item){item, NULL};
    if (item->kind == VALUE_MAP && item->n == 1)
        return (struct spec_name_item){item->keys[0], item->items[0]};
    return (struct spec_name_item){NULL, NULL};
}

const struct value *spec_name_inner(struct spec_name_item item)
{
    bool block = item.word && (strcmp(item.word->text, "residual") == 0 ||
                               strcmp(item.word->text, "repeat") == 0);
    if (!block || !item.body)
        return NULL;
    if (item.body->kind == VALUE_LIST)
        return item.body;
    const struct value *inner =
        item.body->kind == VALUE_MAP ? value_get(item.body, "layers") : NULL;
    return inner && inner->kind == VALUE_LIST ? inner : NULL;
}

/* The name that the user gave, or NULL. */
static const char *given_name(struct spec_name_item item)
{
    if (!item.body || item.body->kind != VALUE_MAP)
        return NULL;
    const struct value *name = value_get(item.body, "name");
    bool usable = name && name->kind == VALUE_SCALAR && name->text[0];
    if (usable && !name->quoted &&
        (strcmp(name->text, "~") == 0 || strcasecmp(name->text, "null") == 0))
        usable = false; /* the key engine refuses it */
    return usable ? name->text : NULL;
}

static bool is_taken(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* How many items before number i have the same word. */
static int count_before(const struct value *list, int i, const char *word)
{
    int n = 0;
    for (int k = 0; k < i; k++) {
        const struct value *other = spec_name_split(list->items[k]).word;
        n += other && strcmp(other->text, word) == 0;
    }
    return n;
}

const char **spec_name_list(struct pool *pool, const struct value *list)
{
    const char **names = pool_array(pool, (size_t)list->n + 1, sizeof(*names));
    for (int i = 0; names && i < list->n; i++)
        names[i] = given_name(spec_name_split(list->items[i]));
    for (int i = 0; names && i < list->n; i++) {
        const struct value *word = spec_name_split(list->items[i]).word;
        if (names[i])
            continue;
        int number = word ? count_before(list, i, word->text) + 1 : i + 1;
        do { /* past names that the user gave to others */
            const char *name = pool_printf(pool, "%.60s%d", word ? word->text : "layer", number++);
            if (!name)
                return NULL;
            names[i] = is_taken(names, i, name) || is_taken(names + i + 1, list->n - i - 1, name)
                           ? NULL
                           : name;
        } while (!names[i]);
    }
    return names;
}
