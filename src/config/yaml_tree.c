/* yaml_tree.c: see yaml_tree.h. Takes libyaml's events and builds the tree by recursion. */
#include "config.h"

#include "config/yaml_tree.h"

#include "base/str.h"

#include <string.h>
#include <yaml.h>

/* A value that an alias may stand for. Sizes are those after expansion. */
struct anchor {
    struct anchor *next;
    const char *name;
    const struct value *value; /* NULL while it is being read */
    int n_values, height;
};

struct parser {
    yaml_parser_t yaml;
    const char *text; /* without byte-order mark */
    size_t length;
    const struct loc *fixed; /* the place of everything, or NULL */
    const char *name;
    struct pool *pool;
    struct diag *d;
    struct anchor *anchors;
    int n_values; /* so far, aliases expanded */
};

enum parsed_kind {
    PARSED_NOTHING, /* stop: the reason is in d */
    PARSED_END,     /* of the list or map */
    PARSED_VALUE,
};

struct parsed {
    enum parsed_kind kind;
    struct value *value;
    int height; /* levels of nesting in it, itself included */
};

static const struct parsed parsed_nothing = {PARSED_NOTHING, NULL, 0};

static struct loc place(const struct parser *p, yaml_mark_t mark)
{
    if (p->fixed)
        return *p->fixed;
    return (struct loc){p->name, (int)mark.line + 1, (int)mark.column + 1};
}

/* Line and column (in characters) of a byte. */
static struct loc place_of_byte(const struct parser *p, size_t at)
{
    struct loc loc = {p->name, 1, 1};
    if (p->fixed)
        return *p->fixed;
    for (size_t i = 0; i < at && i < p->length; i++) {
        if (p->text[i] == '\n') {
            loc.line++;
            loc.column = 1;
        } else if (((unsigned char)p->text[i] & 0xC0) != 0x80) {
            loc.column++;
        }
    }
    return loc;
}

/* ---- before libyaml sees the text ---- */

static const char byte_order_mark[] = "\xEF\xBB\xBF";

static enum rc check_encoding(const struct parser *p)
{
    const unsigned char *t = (const unsigned char *)p->text;
    if (p->length >= 2 && ((t[0] == 0xFF && t[1] == 0xFE) || (t[0] == 0xFE && t[1] == 0xFF)))
        return diag_error(p->d, RC_CONFIG, place_of_byte(p, 0),
                          "the text is UTF-16: save it as UTF-8");
    const char *nul = memchr(p->text, 0, p->length);
    if (nul)
        return diag_error(p->d, RC_CONFIG, place_of_byte(p, (size_t)(nul - p->text)),
                          "NUL byte at offset %zu: this is no text file", (size_t)(nul - p->text));
    const char *mark = memmem(p->text, p->length, byte_order_mark, 3);
    if (mark) /* libyaml would pass over one at the start of a line */
        return diag_error(p->d, RC_CONFIG, place_of_byte(p, (size_t)(mark - p->text)),
                          "a byte-order mark in the middle of the text");
    if (str_is_utf8(p->text, p->length))
        return RC_OK;
    size_t at = 0, n = 0;
    do { /* one character at a time up to the first that is none */
        at += n;
        for (n = 1; n <= 4 && at + n <= p->length && !str_is_utf8(p->text + at, n); n++)
            ;
    } while (n <= 4 && at + n <= p->length);
    return diag_error(p->d, RC_CONFIG, place_of_byte(p, at),
                      "byte 0x%02X at offset %zu is not valid UTF-8", t[at], at);
}

/* ---- events ---- */

/* Is there a tab in the blanks that begin the line? */
static bool has_tab_indent(const struct parser *p, size_t line)
{
    const char *at = p->text;
    for (; line > 0 && at; line--) {
        at = memchr(at, '\n', p->length - (size_t)(at - p->text));
        at = at ? at + 1 : NULL;
    }
    while (at && at < p->text + p->length && *at == ' ')
        at++;
    return at && at < p->text + p->length && *at == '\t';
}

static void report_syntax(struct parser *p)
{
    const yaml_parser_t *y = &p->yaml;
    if (y->error == YAML_MEMORY_ERROR) {
        (void)diag_no_memory(p->d);
        return;
    }
    if (y->error == YAML_READER_ERROR) {
        (void)diag_error(p->d, RC_CONFIG, place_of_byte(p, y->problem_offset), "%s (0x%02X)",
                         y->problem, (unsigned)y->problem_value);
        return;
    }
    struct loc loc = place(p, y->problem_mark);
    (void)diag_error(p->d, RC_CONFIG, loc, "%s%s%s", y->problem, y->context ? " " : "",
                     y->context ? y->context : "");
    if (y->context && y->context_mark.line != y->problem_mark.line)
        diag_note(p->d, place(p, y->context_mark), "it began here");
    if (has_tab_indent(p, y->problem_mark.line))
        diag_note(p->d, loc, "indent with blanks: YAML takes no tabs");
}

/* Next event; false: syntax error, reported. */
static bool next_event(struct parser *p, yaml_event_t *event)
{
    if (yaml_parser_parse(&p->yaml, event))
        return true;
    report_syntax(p);
    return false;
}

static bool refuse(struct parser *p, yaml_mark_t mark, const char *why)
{
    (void)diag_error(p->d, RC_CONFIG, place(p, mark), "%s", why);
    return false;
}

/* Books n more values at this depth and height; false: too many, or too deep. */
static bool within_limits(struct parser *p, yaml_mark_t mark, int n, int depth)
{
    if (depth > YAML_TREE_MAX_DEPTH) {
        (void)diag_error(p->d, RC_CONFIG, place(p, mark), "nested deeper than %d levels",
                         YAML_TREE_MAX_DEPTH);
        return false;
    }
    if (n > YAML_TREE_MAX_VALUES - p->n_values) {
        (void)diag_error(p->d, RC_CONFIG, place(p, mark),
                         "more than %d values, with aliases written out", YAML_TREE_MAX_VALUES);
        return false;
    }
    p->n_values += n;
    return true;
}

static struct anchor *find_anchor(const struct parser *p, const yaml_char_t *name)
{
    struct anchor *a = p->anchors;
    while (a && strcmp(a->name, (const char *)name) != 0)
        a = a->next;
    return a;
}

/* Remembers an anchor before its value is read. False: stop. */
static bool add_anchor(struct parser *p, const yaml_char_t *name, yaml_mark_t mark,
                       struct anchor **out)
{
    *out = NULL;
    if (!name)
        return true;
    if (find_anchor(p, name))
        return refuse(p, mark, "this anchor name was used before");
    struct anchor *a = pool_zalloc(p->pool, sizeof(*a));
    if (a)
        a->name = pool_strdup(p->pool, (const char *)name);
    if (!a || !a->name) {
        (void)diag_no_memory(p->d);
        return false;
    }
    a->n_values = p->n_values; /* made a difference when the value is complete */
    a->next = p->anchors;
    p->anchors = a;
    *out = a;
    return true;
}

static struct value *new_value(struct parser *p, enum value_kind kind, yaml_mark_t mark)
{
    struct value *v = pool_zalloc(p->pool, sizeof(*v));
    if (!v) {
        (void)diag_no_memory(p->d);
        return NULL;
    }
    v->kind = kind;
    v->loc = place(p, mark);
    v->text = "";
    return v;
}

static struct value *read_scalar(struct parser *p, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, 0, length)) {
        (void)refuse(p, event->start_mark, "text must not hold a NUL character");
        return NULL;
    }
    struct value *v = new_value(p, VALUE_SCALAR, event->start_mark);
    if (!v)
        return NULL;
    v->text = pool_strndup(p->pool, text, length);
    v->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (!v->text) {
        (void)diag_no_memory(p->d);
        return NULL;
    }
    return v;
}

static struct parsed read_alias(struct parser *p, const yaml_event_t *event, int depth)
{
    const struct anchor *a = find_anchor(p, event->data.alias.anchor);
    if (!a || !a->value) {
        (void)refuse(p, event->start_mark,
                     a ? "this alias stands inside its own anchor"
                       : "no anchor of this name above");
        return parsed_nothing;
    }
    if (!within_limits(p, event->start_mark, a->n_values, depth + a->height - 1))
        return parsed_nothing;
    struct value *copy = pool_zalloc(p->pool, sizeof(*copy));
    if (!copy) {
        (void)diag_no_memory(p->d);
        return parsed_nothing;
    }
    *copy = *a->value; /* items are shared: the tree is never changed */
    return (struct parsed){PARSED_VALUE, copy, a->height};
}

/* ---- lists and maps ---- */

static struct parsed read_node(struct parser *p, const yaml_event_t *event, int depth);

/* Items of a list or map that is being read. */
struct items {
    const struct value **at;
    int n, room;
};

static bool append(struct parser *p, struct items *items, const struct value *v)
{
    if (items->n == items->room) {
        int room = items->room ? 2 * items->room : 8;
        const struct value **at =
            pool_grow(p->pool, items->at, (size_t)items->n, (size_t)room, sizeof(*at));
        if (!at) {
            (void)diag_no_memory(p->d);
            return false;
        }
        items->at = at;
        items->room = room;
    }
    items->at[items->n++] = v;
    return true;
}

static bool check_key(struct parser *p, const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT)
        return refuse(p, event->start_mark, "a key must be plain text");
    if (event->data.scalar.length == 0)
        return refuse(p, event->start_mark, "a key must not be empty");
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        strcmp((const char *)event->data.scalar.value, "<<") == 0)
        return refuse(p, event->start_mark,
                      "merge keys (<<) are not supported: write the keys out");
    return true;
}

/* The next item, or the event `end`. */
static struct parsed read_next(struct parser *p, yaml_event_type_t end, bool is_key, int depth)
{
    yaml_event_t event;
    if (!next_event(p, &event))
        return parsed_nothing;
    struct parsed got = parsed_nothing;
    if (event.type == end)
        got.kind = PARSED_END;
    else if (!is_key || check_key(p, &event))
        got = read_node(p, &event, depth);
    yaml_event_delete(&event);
    return got;
}

/* Twice the same key: reported with both places; reading goes on. False: stop. */
static bool add_key(struct parser *p, struct items *keys, const struct value *key)
{
    for (int i = 0; i < keys->n; i++) {
        if (strcmp(keys->at[i]->text, key->text) != 0)
            continue;
        (void)diag_error(p->d, RC_CONFIG, key->loc, "the key '%.40s' stands here twice", key->text);
        diag_note(p->d, keys->at[i]->loc, "the first one is here");
        break;
    }
    if (keys->n < YAML_TREE_MAX_KEYS)
        return append(p, keys, key);
    (void)diag_error(p->d, RC_CONFIG, key->loc, "more than %d keys in one map", YAML_TREE_MAX_KEYS);
    return false;
}

static struct parsed read_map(struct parser *p, struct value *v, int depth)
{
    struct items items = {NULL, 0, 0}, keys = {NULL, 0, 0};
    int height = 0;
    for (;;) {
        struct parsed key = read_next(p, YAML_MAPPING_END_EVENT, true, depth + 1);
        if (key.kind == PARSED_END)
            break;
        if (key.kind == PARSED_NOTHING || !add_key(p, &keys, key.value))
            return parsed_nothing;
        struct parsed item = read_next(p, YAML_MAPPING_END_EVENT, false, depth + 1);
        if (item.kind != PARSED_VALUE || !append(p, &items, item.value))
            return parsed_nothing;
        height = item.height > height ? item.height : height;
    }
    v->n = items.n;
    v->items = items.at;
    v->keys = keys.at;
    return (struct parsed){PARSED_VALUE, v, height + 1};
}

static struct parsed read_list(struct parser *p, struct value *v, int depth)
{
    struct items items = {NULL, 0, 0};
    int height = 0;
    for (;;) {
        struct parsed item = read_next(p, YAML_SEQUENCE_END_EVENT, false, depth + 1);
        if (item.kind == PARSED_END)
            break;
        if (item.kind == PARSED_NOTHING || !append(p, &items, item.value))
            return parsed_nothing;
        height = item.height > height ? item.height : height;
    }
    v->n = items.n;
    v->items = items.at;
    return (struct parsed){PARSED_VALUE, v, height + 1};
}

/* ---- any value ---- */

/* A value from its event, whatever the kind. */
static struct parsed read_kind(struct parser *p, const yaml_event_t *event, int depth)
{
    struct value *v;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        v = read_scalar(p, event);
        return v ? (struct parsed){PARSED_VALUE, v, 1} : parsed_nothing;
    case YAML_MAPPING_START_EVENT:
        v = new_value(p, VALUE_MAP, event->start_mark);
        return v ? read_map(p, v, depth) : parsed_nothing;
    case YAML_SEQUENCE_START_EVENT:
        v = new_value(p, VALUE_LIST, event->start_mark);
        return v ? read_list(p, v, depth) : parsed_nothing;
    default:
        diag_bug(__FILE__, __LINE__, "libyaml promised a value");
    }
}

static struct parsed read_node(struct parser *p, const yaml_event_t *event, int depth)
{
    const yaml_char_t *name = NULL, *tag = NULL;
    struct anchor *anchor = NULL;
    if (event->type == YAML_ALIAS_EVENT)
        return read_alias(p, event, depth);
    if (event->type == YAML_SCALAR_EVENT) {
        name = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        name = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        name = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    }
    if (tag) {
        (void)refuse(p, event->start_mark, "tags (!) are not supported: leave it out");
        return parsed_nothing;
    }
    if (!add_anchor(p, name, event->start_mark, &anchor) ||
        !within_limits(p, event->start_mark, 1, depth))
        return parsed_nothing;
    struct parsed got = read_kind(p, event, depth);
    if (anchor && got.kind == PARSED_VALUE) {
        anchor->value = got.value;
        anchor->n_values = p->n_values - anchor->n_values;
        anchor->height = got.height;
    }
    return got;
}

/* ---- the document ---- */

/* Takes the next event, which must be of this type; false with *type set where it is another. */
static bool expect(struct parser *p, yaml_event_type_t type, yaml_event_type_t *found,
                   yaml_mark_t *mark)
{
    yaml_event_t event;
    *found = YAML_NO_EVENT;
    if (!next_event(p, &event))
        return false;
    *found = event.type;
    *mark = event.start_mark;
    yaml_event_delete(&event);
    return *found == type;
}

static enum rc report_empty(struct parser *p)
{
    struct loc loc = p->fixed ? *p->fixed : (struct loc){p->name, 0, 0};
    return diag_error(p->d, RC_CONFIG, loc, "there is nothing in it");
}

static enum rc read_document(struct parser *p, const struct value **out)
{
    yaml_event_type_t found;
    yaml_mark_t mark;
    if (!expect(p, YAML_STREAM_START_EVENT, &found, &mark))
        return RC_CONFIG;
    if (!expect(p, YAML_DOCUMENT_START_EVENT, &found, &mark))
        return found == YAML_STREAM_END_EVENT ? report_empty(p) : RC_CONFIG;
    struct parsed root = read_next(p, YAML_DOCUMENT_END_EVENT, false, 1);
    if (root.kind != PARSED_VALUE || !expect(p, YAML_DOCUMENT_END_EVENT, &found, &mark))
        return RC_CONFIG;
    if (!expect(p, YAML_STREAM_END_EVENT, &found, &mark)) {
        if (found == YAML_DOCUMENT_START_EVENT)
            (void)refuse(p, mark, "a second document starts here: one file is one config");
        return RC_CONFIG;
    }
    *out = root.value;
    return RC_OK;
}

static enum rc parse(struct parser *p, const struct value **out)
{
    int errors = p->d->n_errors;
    if (p->length >= 3 && memcmp(p->text, byte_order_mark, 3) == 0) {
        p->text += 3;
        p->length -= 3;
    }
    TRY(check_encoding(p));
    if (!yaml_parser_initialize(&p->yaml))
        return diag_no_memory(p->d);
    yaml_parser_set_encoding(&p->yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p->yaml, (const unsigned char *)p->text, p->length);
    enum rc rc = read_document(p, out);
    yaml_parser_delete(&p->yaml);
    return rc == RC_OK && p->d->n_errors > errors ? RC_CONFIG : rc;
}

enum rc yaml_tree_parse(const struct value **out, const char *text, size_t length, const char *name,
                        struct pool *pool, struct diag *d)
{
    struct parser p = {.text = text, .length = length, .pool = pool, .d = d};
    p.name = pool_strdup(pool, name);
    TRY_ALLOC(p.name, d);
    if (length > YAML_TREE_MAX_BYTES)
        return diag_error(d, RC_CONFIG, (struct loc){p.name, 0, 0}, "larger than 16 MiB");
    TRY(parse(&p, out));
    if ((*out)->kind == VALUE_SCALAR && !(*out)->quoted && !(*out)->text[0])
        return report_empty(&p);
    return RC_OK;
}

enum rc yaml_tree_parse_value(const struct value **out, const char *text, struct loc loc,
                              struct pool *pool, struct diag *d)
{
    struct parser p = {.text = text,
                       .length = strlen(text),
                       .fixed = &loc,
                       .name = loc.file,
                       .pool = pool,
                       .d = d};
    if (text[strspn(text, " \t\n")])
        return parse(&p, out);
    struct value *empty = new_value(&p, VALUE_SCALAR, (yaml_mark_t){0, 0, 0});
    *out = empty;
    return empty ? RC_OK : RC_FAILED;
}
