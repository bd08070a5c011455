/* keys.c: see keys.h. Fills a section's struct from a map by its rows; strict: whatever it does not
 * understand is an error with its place, and nothing is converted in silence.
 *
 * Numbers and booleans are told by the rules of YAML 1.2 (core schema), and only where the key
 * wants one: a text key keeps no, off, y and 1e5 as they stand. Writing is in keys_write.c.
 *
 * To add a type: a function in `readers`, a line in keys_write.c. */
#include "config.h"

#include "base/keys.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SHOWN_ROOM = 56, WHAT_ROOM = 200, RANGE_ROOM = 96 };

/* A row while it is being filled. */
struct field {
    const struct key *row;
    struct pool *pool;
    struct diag *d;       /* NULL: the default is being read, where a problem is our own fault */
    char what[WHAT_ROOM]; /* "'train.batch'", "item 2 of 'schedule.at'" */
};

/* User text, fit for a message: one line, not too long. */
static const char *shown(char out[SHOWN_ROOM], const char *text)
{
    size_t n = 0;
    for (; text[n] && n < SHOWN_ROOM - 4; n++)
        out[n] = (unsigned char)text[n] < ' ' ? ' ' : text[n];
    if (text[n]) {
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--; /* not in the middle of a UTF-8 sequence */
        memcpy(out + n, "...", 3);
        n += 3;
    }
    out[n] = '\0';
    return out;
}

static bool is_null(const struct value *v)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    if (v->kind != VALUE_SCALAR || v->quoted)
        return false;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(v->text, words[i]) == 0)
            return true;
    return false;
}

/* "'x' must be <must>, not <v>" */
static bool refuse(const struct field *f, const struct value *v, const char *must)
{
    char text[SHOWN_ROOM];
    BUG_IF(!f->d); /* a default in a key table does not fit its row */
    if (v->kind != VALUE_SCALAR)
        diag_error(f->d, RC_CONFIG, v->loc, "%s must be %s, not %s", f->what, must,
                   value_kind_name(v));
    else if (is_null(v))
        diag_error(f->d, RC_CONFIG, v->loc, "%s has no value: it must be %s", f->what, must);
    else if (v->quoted)
        diag_error(f->d, RC_CONFIG, v->loc, "%s must be %s, not the text \"%s\"", f->what, must,
                   shown(text, v->text));
    else
        diag_error(f->d, RC_CONFIG, v->loc, "%s must be %s, not '%s'", f->what, must,
                   shown(text, v->text));
    return false;
}

/* ---- ranges ---- */

static const char *bound(char out[STR_FLOAT_ROOM], double x)
{
    if (x == floor(x) && fabs(x) < 1e15) {
        snprintf(out, STR_FLOAT_ROOM, "%.0f", x);
        return out;
    }
    return str_float(out, x);
}

/* Bounds this far out only say "no bound". */
static bool is_open(const struct key *row, double x)
{
    return fabs(x) >= (row->type == KEY_INT || row->type == KEY_INTS ? 0x1p62 : 1e300);
}

static const char *range_text(char out[RANGE_ROOM], const struct key *row)
{
    char low[STR_FLOAT_ROOM], high[STR_FLOAT_ROOM];
    const char *above = row->flags & KEY_ABOVE_MIN ? "above" : "at least";
    const char *below = row->flags & KEY_BELOW_MAX ? "below" : "at most";
    bound(low, row->min);
    bound(high, row->max);
    if (is_open(row, row->max))
        snprintf(out, RANGE_ROOM, "%s %s", above, low);
    else if (is_open(row, row->min))
        snprintf(out, RANGE_ROOM, "%s %s", below, high);
    else if (!(row->flags & (KEY_ABOVE_MIN | KEY_BELOW_MAX)))
        snprintf(out, RANGE_ROOM, "from %s to %s", low, high);
    else
        snprintf(out, RANGE_ROOM, "%s %s and %s %s", above, low, below, high);
    return out;
}

static bool in_range(const struct field *f, const struct value *v, double x)
{
    const struct key *row = f->row;
    if (!f->d || (row->min == 0 && row->max == 0)) /* defaults may stand for "not given" */
        return true;
    bool low = row->flags & KEY_ABOVE_MIN ? x > row->min : x >= row->min;
    bool high = row->flags & KEY_BELOW_MAX ? x < row->max : x <= row->max;
    char text[RANGE_ROOM];
    return (low && high) || refuse(f, v, range_text(text, row));
}

/* ---- one function a type: v into *out ---- */

static bool quoted_number(const struct field *f, const struct value *v, const char *must)
{
    double x;
    refuse(f, v, must);
    if (str_to_float(v->text, &x))
        diag_note(f->d, v->loc, "drop the quotes: %s", v->text);
    return false;
}

static bool read_int(const struct field *f, const struct value *v, void *out)
{
    double x;
    int64_t *to = out;
    if (v->kind != VALUE_SCALAR)
        return refuse(f, v, "a whole number");
    if (v->quoted)
        return quoted_number(f, v, "a whole number");
    if (str_to_int(v->text, to))
        return in_range(f, v, (double)*to);
    if (!str_to_float(v->text, &x) || x != floor(x) || fabs(x) > 0x1p53)
        return refuse(f, v, "a whole number");
    refuse(f, v, "a whole number");
    diag_note(f->d, v->loc, "write %.0f", x);
    return false;
}

static bool read_float(const struct field *f, const struct value *v, void *out)
{
    double *to = out;
    if (v->kind != VALUE_SCALAR)
        return refuse(f, v, "a number");
    if (v->quoted)
        return quoted_number(f, v, "a number");
    if (!str_to_float(v->text, to))
        return refuse(f, v, "a number");
    if (f->d && !isfinite(*to))
        return refuse(f, v, "a finite number");
    return in_range(f, v, *to);
}

static bool read_bool(const struct field *f, const struct value *v, void *out)
{
    static const struct {
        const char *text;
        bool value, accepted;
    } words[] = {{"true", true, true},   {"True", true, true},   {"TRUE", true, true},
                 {"false", false, true}, {"False", false, true}, {"FALSE", false, true},
                 {"yes", true, false},   {"Yes", true, false},   {"on", true, false},
                 {"On", true, false},    {"y", true, false},     {"1", true, false},
                 {"no", false, false},   {"No", false, false},   {"off", false, false},
                 {"Off", false, false},  {"n", false, false},    {"0", false, false}};
    if (v->kind != VALUE_SCALAR)
        return refuse(f, v, "true or false");
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (strcmp(v->text, words[i].text) != 0)
            continue;
        if (words[i].accepted && !v->quoted) {
            *(bool *)out = words[i].value;
            return true;
        }
        refuse(f, v, "true or false");
        diag_note(f->d, v->loc, "write %s", words[i].value ? "true" : "false");
        return false;
    }
    return refuse(f, v, "true or false");
}

/* Text stays as it stands, whatever it looks like. Empty text only where that is the default. */
static bool read_text(const struct field *f, const struct value *v, void *out)
{
    const char **to = out;
    bool may_be_empty = f->row->def && !f->row->def[0] && !(f->row->flags & KEY_NOT_EMPTY);
    if (v->kind != VALUE_SCALAR)
        return refuse(f, v, "text");
    if (f->d && is_null(v)) {
        refuse(f, v, "text");
        if (v->text[0])
            diag_note(f->d, v->loc, "'%s' means nothing in YAML; for a text write \"%s\"", v->text,
                      v->text);
        return false;
    }
    if (f->d && !v->text[0] && !may_be_empty) {
        diag_error(f->d, RC_CONFIG, v->loc, "%s must not be empty", f->what);
        return false;
    }
    *to = v->text;
    return true;
}

void keys_choices_init(struct keys_choices *c, const char *choices)
{
    size_t n = strlen(choices);
    BUG_IF(n >= sizeof(c->text));
    memcpy(c->text, choices, n + 1);
    c->n = 1;
    for (size_t i = 0; i < n; i++)
        if (c->text[i] == '|') {
            c->text[i] = '\0';
            c->n++;
        }
}

const char *keys_choice(const void *choices, int i)
{
    const struct keys_choices *c = choices;
    const char *at = c->text;
    if (i >= c->n)
        return NULL;
    for (; i > 0; i--)
        at += strlen(at) + 1;
    return at;
}

/* "a, b or c", cut where it gets too long. */
static void join(char *out, size_t size, const char *(*next)(const void *context, int i),
                 const void *context, const char *last)
{
    static const char more[] = ", ...";
    size_t used = 0;
    const char *word;
    out[0] = '\0';
    for (int i = 0; (word = next(context, i)) != NULL; i++) {
        const char *between = i == 0 ? "" : next(context, i + 1) ? ", " : last;
        if (used + strlen(between) + strlen(word) + sizeof(more) > size) {
            memcpy(out + used, more, sizeof(more));
            return;
        }
        used += (size_t)snprintf(out + used, size - used, "%s%s", between, word);
    }
}

static bool read_choice(const struct field *f, const struct value *v, void *out)
{
    struct keys_choices choices;
    char must[256];
    keys_choices_init(&choices, f->row->choices);
    for (int i = 0; v->kind == VALUE_SCALAR && i < choices.n; i++)
        if (strcmp(keys_choice(&choices, i), v->text) == 0) {
            *(int *)out = i;
            return true;
        }
    join(must, sizeof(must), keys_choice, &choices, " or ");
    refuse(f, v, must);
    const char *near = v->kind == VALUE_SCALAR ? str_nearest(v->text, keys_choice, &choices) : NULL;
    if (near)
        diag_note(f->d, v->loc, "did you mean '%s'?", near);
    return false;
}

static bool read_value(const struct field *f, const struct value *v, void *out)
{
    (void)f;
    *(const struct value **)out = v;
    return true;
}

static const struct {
    size_t size; /* of the field, or of one item of a list */
    bool list;
    bool (*read)(const struct field *f, const struct value *v, void *out);
} readers[] = {
    [KEY_INT] = {sizeof(int64_t), false, read_int},
    [KEY_FLOAT] = {sizeof(double), false, read_float},
    [KEY_BOOL] = {sizeof(bool), false, read_bool},
    [KEY_TEXT] = {sizeof(const char *), false, read_text},
    [KEY_PATH] = {sizeof(const char *), false, read_text},
    [KEY_CHOICE] = {sizeof(int), false, read_choice},
    [KEY_INTS] = {sizeof(int64_t), true, read_int},
    [KEY_FLOATS] = {sizeof(double), true, read_float},
    [KEY_TEXTS] = {sizeof(const char *), true, read_text},
    [KEY_VALUE] = {sizeof(const struct value *), false, read_value},
};

static void name_item(struct field *f, const char *path, int i)
{
    snprintf(f->what, sizeof(f->what), "item %d of %s", i + 1, path);
}

/* A list, or one item without brackets. False: out of memory, or a bad item. */
static bool read_list(struct field *f, const struct value *v, struct key_list *out)
{
    size_t size = readers[f->row->type].size;
    int n = v->kind == VALUE_LIST ? v->n : 1;
    unsigned char *items = pool_array(f->pool, (size_t)n, size);
    bool good = items != NULL;
    char path[WHAT_ROOM];
    memcpy(path, f->what, sizeof(path));
    if (!items && f->d)
        (void)diag_no_memory(f->d);
    for (int i = 0; items && i < n; i++) {
        if (v->kind == VALUE_LIST)
            name_item(f, path, i);
        const struct value *item = v->kind == VALUE_LIST ? v->items[i] : v;
        good = readers[f->row->type].read(f, item, items + (size_t)i * size) && good;
    }
    memcpy(f->what, path, sizeof(path));
    if (good)
        *out = (struct key_list){n, items};
    return good;
}

static bool read_field(struct field *f, const struct value *v, void *at)
{
    if (readers[f->row->type].list)
        return read_list(f, v, (struct key_list *)at);
    /* A number that turns out wrong must not replace the default. */
    union {
        int64_t i;
        double x;
        const void *p;
        bool b;
    } held = {0};
    BUG_IF(readers[f->row->type].size > sizeof(held));
    if (!readers[f->row->type].read(f, v, &held))
        return false;
    memcpy(at, &held, readers[f->row->type].size);
    return true;
}

/* ---- defaults ---- */

/* "3", "[3, 3]", "[]" as it would stand in the YAML, without a parser: base knows none. */
static bool read_default(struct field *f, void *at)
{
    const char *def = f->row->def;
    const struct value one = {.kind = VALUE_SCALAR, .text = def, .quoted = !def[0]};
    if (def[0] != '[')
        return (readers[f->row->type].list && !def[0]) || read_field(f, &one, at);
    struct value list = {.kind = VALUE_LIST};
    char *text = pool_strdup(f->pool, def + 1);
    const struct value **items = pool_array(f->pool, strlen(def), sizeof(*items));
    if (!text || !items)
        return false;
    list.items = items;
    char *save = NULL;
    for (char *word = strtok_r(text, ", ]", &save); word; word = strtok_r(NULL, ", ]", &save)) {
        struct value *item = pool_zalloc(f->pool, sizeof(*item));
        if (!item)
            return false;
        *item = (struct value){.kind = VALUE_SCALAR, .text = word};
        items[list.n++] = item;
    }
    return read_field(f, &list, at);
}

/* ---- sections ---- */

struct names {
    const struct key *rows;
    const char *const *other;
    int n_rows;
};

static const char *next_name(const void *context, int i)
{
    const struct names *names = context;
    if (i < names->n_rows)
        return names->rows[i].name;
    return names->other ? names->other[i - names->n_rows] : NULL;
}

static int count_rows(const struct key *rows)
{
    int n = 0;
    while (rows && rows[n].name)
        n++;
    return n;
}

enum rc keys_unknown(struct diag *d, struct loc loc, const char *where, const char *what,
                     const char *word, const char *(*next)(const void *context, int i),
                     const void *context)
{
    char text[SHOWN_ROOM], all[400];
    if (where[0])
        diag_error(d, RC_CONFIG, loc, "unknown %s '%s' in '%s'", what, shown(text, word), where);
    else
        diag_error(d, RC_CONFIG, loc, "unknown %s '%s'", what, shown(text, word));
    const char *near = str_nearest(word, next, context);
    join(all, sizeof(all), next, context, ", ");
    if (near)
        diag_note(d, loc, "did you mean '%s'?", near);
    else if (all[0])
        diag_note(d, loc, "known here: %s", all);
    return RC_CONFIG;
}

static void name_field(struct field *f, const char *where)
{
    snprintf(f->what, sizeof(f->what), "'%s%s%s'", where, where[0] ? "." : "", f->row->name);
}

/* Sets every field that has a default. */
static bool fill_defaults(struct section *s, struct pool *pool)
{
    for (int i = 0; s->rows && s->rows[i].name; i++) {
        struct field f = {.row = &s->rows[i], .pool = pool};
        void *at = (unsigned char *)s->at + (f.row->type == KEY_VALUE ? 0 : f.row->offset);
        s->origin[i] = (struct key_origin){s->loc, false};
        if ((f.row->type == KEY_TEXT || f.row->type == KEY_PATH) && !f.row->def)
            *(const char **)at = "";
        if (f.row->type != KEY_VALUE && f.row->def && !read_default(&f, at))
            return false;
    }
    return true;
}

/* Reads one entry of the map. */
static void read_entry(struct section *s, const struct value *key, const struct value *v,
                       const struct names *names, struct pool *pool, struct diag *d)
{
    const char *name;
    int i = 0;
    while ((name = next_name(names, i)) != NULL && strcmp(name, key->text) != 0)
        i++;
    if (!name)
        (void)keys_unknown(d, key->loc, s->where, "key", key->text, next_name, names);
    if (i >= names->n_rows)
        return;
    struct field f = {.row = &s->rows[i], .pool = pool, .d = d};
    name_field(&f, s->where);
    s->origin[i] = (struct key_origin){v->loc, true};
    if (f.row->offset != KEY_NO_FIELD)
        (void)read_field(&f, v, (unsigned char *)s->at + f.row->offset);
}

static void report_missing(const struct section *s, struct diag *d)
{
    for (int i = 0; s->rows && s->rows[i].name; i++) {
        const struct key *row = &s->rows[i];
        if (row->def || row->type == KEY_VALUE || s->origin[i].set)
            continue;
        diag_error(d, RC_CONFIG, s->loc, "'%s' needs the key '%s'", s->where, row->name);
        if (row->help && row->help[0])
            diag_note(d, s->loc, "%s: %s", row->name, row->help);
    }
}

enum rc keys_read(struct section *out, const char *where, const struct key *rows, size_t size,
                  const struct value *map, struct loc loc, const char *const *other,
                  struct pool *pool, struct diag *d)
{
    const struct names names = {rows, other, count_rows(rows)};
    int errors = d->n_errors;
    *out = (struct section){.where = pool_strdup(pool, where), .rows = rows, .loc = loc};
    out->at = pool_zalloc(pool, size ? size : 1);
    out->origin = pool_array(pool, (size_t)names.n_rows + 1, sizeof(*out->origin));
    if (!out->where || !out->at || !out->origin || !fill_defaults(out, pool))
        return diag_no_memory(d);
    if (map && map->kind != VALUE_MAP && !is_null(map)) {
        struct field f = {.d = d};
        snprintf(f.what, sizeof(f.what), "'%s'", where);
        refuse(&f, map, "a map of keys");
        return RC_CONFIG;
    }
    for (int i = 0; map && i < map->n; i++)
        read_entry(out, map->keys[i], map->items[i], &names, pool, d);
    report_missing(out, d);
    return d->n_errors > errors ? RC_CONFIG : RC_OK;
}

struct key_origin keys_origin(const struct section *s, const char *name)
{
    int i = 0;
    while (s->rows && s->rows[i].name && strcmp(s->rows[i].name, name) != 0)
        i++;
    BUG_IF(!s->rows || !s->rows[i].name);
    return s->origin[i];
}
