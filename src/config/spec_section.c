/* spec_section.c: sections of a config through the key engine: short forms written out, two tables
 * over one map, and a word to those who put a key into the wrong section. */
#include "config.h"

#include "config/spec_read.h"

#include <string.h>

static const char *row_name(const void *rows, int i)
{
    return ((const struct key *)rows)[i].name;
}

static int count_rows(const struct key *rows)
{
    int n = 0;
    while (rows && rows[n].name)
        n++;
    return n;
}

static int count_words(const char *const *words)
{
    int n = 0;
    while (words && words[n])
        n++;
    return n;
}

static bool is_known(const struct key *rows, const char *const *other, const char *word)
{
    for (int i = 0; rows && rows[i].name; i++)
        if (strcmp(rows[i].name, word) == 0)
            return true;
    for (int i = 0; other && other[i]; i++)
        if (strcmp(other[i], word) == 0)
            return true;
    return false;
}

/* Reports keys that have a meaning elsewhere. Returns `other` with those words behind it, so that
 * the key engine passes over them. */
static const char *const *report_misplaced(const struct spec_reader *r, const char *where,
                                           const struct key *rows, const struct value *map,
                                           const char *const *other)
{
    int n = count_words(other);
    const char **words = pool_array(r->pool, (size_t)(n + map->n + 1), sizeof(*words));
    if (!words)
        return other;
    for (int i = 0; i < n; i++)
        words[i] = other[i];
    for (int i = 0; i < map->n; i++) {
        const struct value *key = map->keys[i];
        const char *home = spec_key_home(key->text);
        if (!home || is_known(rows, other, key->text) ||
            (rows && str_nearest(key->text, row_name, rows)))
            continue;
        (void)diag_error(r->d, RC_CONFIG, key->loc, "unknown key '%.40s'%s%s%s", key->text,
                         where[0] ? " in '" : "", where, where[0] ? "'" : "");
        diag_note(r->d, key->loc, "did you mean '%s'?", home);
        words[n++] = key->text;
    }
    return words;
}

void spec_section_read(const struct spec_reader *r, struct section *out, const char *where,
                       const struct key *rows, size_t size, struct spec_entry map,
                       const char *const *other)
{
    if (map.v && map.v->kind == VALUE_MAP)
        other = report_misplaced(r, where, rows, map.v, other);
    if (keys_read(out, where, rows, size, map.v, map.loc, other, r->pool, r->d) != RC_FAILED)
        spec_go_on(keys_resolve_paths(out, r->spec->folder, r->pool, r->d));
}

const struct value *spec_section_part(const struct spec_reader *r, const struct value *map,
                                      const struct key *rows)
{
    if (!map || map->kind != VALUE_MAP)
        return map;
    struct value *part = pool_zalloc(r->pool, sizeof(*part));
    if (!part)
        return NULL;
    *part = (struct value){.kind = VALUE_MAP, .loc = map->loc, .text = ""};
    part->keys = pool_array(r->pool, (size_t)map->n, sizeof(*part->keys));
    part->items = pool_array(r->pool, (size_t)map->n, sizeof(*part->items));
    if (!part->keys || !part->items)
        return NULL;
    for (int i = 0; i < map->n; i++)
        if (is_known(rows, NULL, map->keys[i]->text)) {
            part->keys[part->n] = map->keys[i];
            part->items[part->n++] = map->items[i];
        }
    return part;
}

void spec_section_read_both(const struct spec_reader *r, const char *where, struct spec_half first,
                            struct spec_half second, struct spec_entry map)
{
    int n = count_rows(second.rows);
    const char **names = pool_array(r->pool, (size_t)n + 1, sizeof(*names));
    if (!names) {
        (void)diag_no_memory(r->d);
        return;
    }
    for (int i = 0; i < n; i++)
        names[i] = second.rows[i].name;
    spec_section_read(r, first.out, where, first.rows, first.size, map, names);
    bool is_map = map.v && map.v->kind == VALUE_MAP;
    map.v = is_map ? spec_section_part(r, map.v, second.rows) : NULL;
    spec_section_read(r, second.out, where, second.rows, second.size, map, NULL);
}

const struct value *spec_section_text(const struct spec_reader *r, const char *text, struct loc loc)
{
    struct value *v = pool_zalloc(r->pool, sizeof(*v));
    if (v)
        *v = (struct value){.kind = VALUE_SCALAR, .loc = loc, .text = text};
    return v;
}

const struct value *spec_section_pair(const struct spec_reader *r, const struct value *key,
                                      const struct value *item)
{
    struct value *map = pool_zalloc(r->pool, sizeof(*map));
    const struct value **both = pool_array(r->pool, 2, sizeof(*both));
    if (!map || !both || !key || !item) {
        (void)diag_no_memory(r->d);
        return NULL;
    }
    both[0] = key;
    both[1] = item;
    *map = (struct value){
        .kind = VALUE_MAP, .loc = key->loc, .text = "", .n = 1, .keys = both, .items = both + 1};
    return map;
}

const struct value *spec_section_expand(const struct spec_reader *r, const char *key,
                                        const struct value *v)
{
    if (!v || v->kind != VALUE_SCALAR || (!v->text[0] && !v->quoted))
        return v;
    return spec_section_pair(r, spec_section_text(r, key, v->loc), v);
}

const struct value *spec_section_loss_scale(const struct spec_reader *r, const struct value *v)
{
    double x;
    if (!v || v->kind != VALUE_SCALAR)
        return v;
    if (!v->quoted && str_to_float(v->text, &x)) {
        struct value *map = pool_zalloc(r->pool, sizeof(*map));
        const struct value **all = pool_array(r->pool, 4, sizeof(*all));
        if (!map || !all)
            return NULL;
        all[0] = spec_section_text(r, "type", v->loc);
        all[1] = spec_section_text(r, "scale", v->loc);
        all[2] = spec_section_text(r, "static", v->loc);
        all[3] = v;
        *map = (struct value){VALUE_MAP, v->loc, "", false, 2, all + 2, all};
        return all[0] && all[1] && all[2] ? map : NULL;
    }
    return spec_section_expand(r, "type", v);
}
