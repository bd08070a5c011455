/* spec_set.c: --set KEY=VALUE, worked into the value tree before the schema looks at it, so that
 * everything set is checked like everything written. Trees are immutable: what lies on the path is
 * copied. Layers are reached by name: model.fc1.units, model.blocks.fc1.units. */
#include "config.h"

#include "config/spec_read.h"
#include "config/yaml_tree.h"

#include <string.h>

enum { MAX_WORDS = 32 };

/* One --set. */
struct setting {
    const struct spec_reader *r;
    struct loc loc; /* "--set KEY=VALUE" */
    int n;
    const char *words[MAX_WORDS]; /* of the dotted key */
    const struct value *value;
};

static const struct value *no_memory(const struct setting *s)
{
    (void)diag_no_memory(s->r->d);
    return NULL;
}

static const struct value *empty_map(const struct setting *s)
{
    struct value *v = pool_zalloc(s->r->pool, sizeof(*v));
    if (!v)
        return no_memory(s);
    *v = (struct value){.kind = VALUE_MAP, .loc = s->loc, .text = ""};
    return v;
}

/* A copy of a list or map with item i replaced; i == n: with one more. */
static struct value *copy_with(const struct setting *s, const struct value *v, int i,
                               const struct value *key, const struct value *item)
{
    struct value *copy = pool_zalloc(s->r->pool, sizeof(*copy));
    size_t n = (size_t)v->n;
    const struct value **items = pool_grow(s->r->pool, v->items, n, n + 1, sizeof(*items));
    const struct value **keys =
        v->kind == VALUE_MAP ? pool_grow(s->r->pool, v->keys, n, n + 1, sizeof(*keys)) : NULL;
    if (!copy || !items || (v->kind == VALUE_MAP && (!keys || !key))) {
        (void)diag_no_memory(s->r->d);
        return NULL;
    }
    *copy = *v;
    copy->items = items;
    copy->keys = keys;
    items[i] = item;
    if (keys)
        keys[i] = key;
    copy->n += i == v->n;
    return copy;
}

static bool is_nothing(const struct value *v)
{
    return !v || (v->kind == VALUE_SCALAR && !v->text[0] && !v->quoted);
}

static const struct value *put_inside(const struct setting *s, const struct value *v, int at);

/* Puts the value under words[at] and what follows it. */
static const struct value *put_key(const struct setting *s, const struct value *map, int at)
{
    int i = 0;
    while (i < map->n && strcmp(map->keys[i]->text, s->words[at]) != 0)
        i++;
    const struct value *old = i < map->n ? map->items[i] : NULL;
    const struct value *item = at == s->n - 1 ? s->value : put_inside(s, old, at + 1);
    if (!item)
        return NULL;
    const struct value *key =
        i < map->n && at < s->n - 1 ? map->keys[i] : spec_section_text(s->r, s->words[at], s->loc);
    return copy_with(s, map, i, key, item);
}

static const char *next_word(const void *context, int i)
{
    return ((const char *const *)context)[i];
}

static const struct value *put_layer(const struct setting *s, const struct value *list, int at);

/* Into the body of a layer: a key of its own, or a layer further inside. */
static const struct value *put_body(const struct setting *s, struct spec_name_item split, int at)
{
    const struct value *body = is_nothing(split.body) ? empty_map(s) : split.body;
    const struct value *inner = spec_name_inner(split);
    if (!body)
        return NULL;
    if (inner && at < s->n - 1) {
        const struct value *layers = put_layer(s, inner, at);
        if (!layers || body->kind == VALUE_LIST)
            return layers;
        for (int i = 0; i < body->n; i++)
            if (body->items[i] == inner)
                return copy_with(s, body, i, body->keys[i], layers);
    }
    if (body->kind == VALUE_LIST && inner) /* residual: [...] becomes residual: {layers: [...]} */
        body = spec_section_pair(s->r, spec_section_text(s->r, "layers", body->loc), body);
    if (body && body->kind == VALUE_MAP)
        return put_key(s, body, at);
    if (body)
        (void)diag_error(s->r->d, RC_CONFIG, s->loc, "the layer '%s' has no keys to set",
                         s->words[at - 1]);
    return NULL;
}

static const struct value *put_layer(const struct setting *s, const struct value *list, int at)
{
    const char **names = list->n <= SPEC_MAX_LIST ? spec_name_list(s->r->pool, list) : NULL;
    int i = 0;
    if (!names)
        return no_memory(s);
    while (i < list->n && strcmp(names[i], s->words[at]) != 0)
        i++;
    if (i == list->n) {
        (void)keys_unknown(s->r->d, s->loc, "model", "layer name", s->words[at], next_word, names);
        return NULL;
    }
    struct spec_name_item split = spec_name_split(list->items[i]);
    if (at == s->n - 1 || !split.word) {
        (void)diag_error(s->r->d, RC_CONFIG, s->loc,
                         "the layer '%s' can only be changed key by key: model.%s.KEY=VALUE",
                         names[i], names[i]);
        return NULL;
    }
    const struct value *body = put_body(s, split, at + 1);
    const struct value *layer = body ? spec_section_pair(s->r, split.word, body) : NULL;
    return layer ? copy_with(s, list, i, NULL, layer) : NULL;
}

/* Short forms of the top level, written out so that a key fits in. */
static const struct value *expand(const struct setting *s, const struct value *v)
{
    if (strcmp(s->words[0], "loss_scale") == 0)
        return spec_section_loss_scale(s->r, v);
    if (strcmp(s->words[0], "optimizer") == 0 || strcmp(s->words[0], "schedule") == 0)
        return spec_section_expand(s->r, "type", v);
    if (strcmp(s->words[0], "precision") == 0)
        return spec_section_expand(s->r, "compute", v);
    if (strcmp(s->words[0], "loss") == 0 && v && v->kind == VALUE_SCALAR && v->text[0])
        return spec_section_pair(s->r, v, empty_map(s));
    return v;
}

/* Into the value v that words[at - 1] leads to. */
static const struct value *put_inside(const struct setting *s, const struct value *v, int at)
{
    if (at == 1 && strcmp(s->words[0], "model") == 0 && v && v->kind == VALUE_LIST)
        return put_layer(s, v, at);
    if (at == 1 && !is_nothing(v))
        v = expand(s, v);
    if (is_nothing(v))
        v = empty_map(s);
    if (!v || v->kind == VALUE_MAP)
        return v ? put_key(s, v, at) : NULL;
    (void)diag_error(s->r->d, RC_CONFIG, s->loc, "'%s' is %s: there is no key '%s' in it",
                     s->words[at - 1], value_kind_name(v), s->words[at]);
    return NULL;
}

/* Takes the text apart; false: wrong, reported. */
static bool parse(struct setting *s, const char *text)
{
    const char *equals = strchr(text, '=');
    s->loc.file = pool_printf(s->r->pool, "--set %.200s", text);
    char *key = pool_strndup(s->r->pool, text, equals ? (size_t)(equals - text) : 0);
    if (!s->loc.file || !key)
        return no_memory(s) != NULL;
    bool good = equals && key[0] && key[0] != '.' && !strstr(key, "..") && equals[-1] != '.';
    char *save = NULL;
    for (char *word = strtok_r(key, ".", &save); word; word = strtok_r(NULL, ".", &save)) {
        if (s->n == MAX_WORDS) {
            good = false;
            break;
        }
        s->words[s->n++] = word;
    }
    if (good)
        return yaml_tree_parse_value(&s->value, equals + 1, s->loc, s->r->pool, s->r->d) == RC_OK;
    (void)diag_error(s->r->d, RC_CONFIG, s->loc, "--set takes KEY=VALUE, as in optimizer.lr=3e-4");
    return false;
}

static bool is_same_key(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && strncmp(a, b, n) == 0;
}

static bool is_repeated(const struct setting *s, const char *const *sets, int i)
{
    for (int k = 0; k < i; k++)
        if (is_same_key(sets[k], sets[i])) {
            (void)diag_error(s->r->d, RC_CONFIG, s->loc, "the key is set twice, also by '%.100s'",
                             sets[k]);
            return true;
        }
    return false;
}

const struct value *spec_set_apply(const struct spec_reader *r, const struct value *root,
                                   const char *const *sets, int n_sets)
{
    for (int i = 0; i < n_sets; i++) {
        struct setting s = {.r = r};
        if (!parse(&s, sets[i]) || is_repeated(&s, sets, i) || root->kind != VALUE_MAP)
            continue;
        const struct value *changed = put_key(&s, root, 0);
        root = changed ? changed : root;
    }
    return root;
}
