/* keys_write.c: a section back into YAML (keys.h), and its paths. What it writes reads back as the
 * same values: text goes into quotes wherever any YAML reader, of version 1.1 or 1.2, could take it
 * for something else. */
#include "config.h"

#include "base/keys.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool is_plain_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == '/';
}

/* Only letters, digits and _-./, not starting like a number, and no word with a meaning. */
static bool is_plain(const char *text)
{
    static const char *const words[] = {"y",   "n",    "yes",   "no",  "on",
                                        "off", "true", "false", "null"};
    for (const char *p = text; *p; p++)
        if (!is_plain_byte(*p) || (unsigned char)*p >= 0x80)
            return false;
    bool path = text[0] == '/' || strncmp(text, "../", 3) == 0 || strncmp(text, "./", 2) == 0;
    if (!path && !isalpha((unsigned char)text[0]) && text[0] != '_')
        return false;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcasecmp(text, words[i]) == 0)
            return false;
    return true;
}

/* Length of a UTF-8 sequence that YAML does not print as it is: C1 controls, line and paragraph
 * separators, byte-order mark, U+FFFE and U+FFFF; 0: printable. *code is its number. */
static size_t unprintable(const char *text, unsigned *code)
{
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] == 0xC2 && p[1] < 0xA0) {
        *code = p[1];
        return 2;
    }
    if ((p[0] & 0xF0) != 0xE0 || !p[1] || !p[2])
        return 0;
    *code = (p[0] & 0xFu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    bool hidden = *code == 0x2028 || *code == 0x2029 || *code == 0xFEFF || *code >= 0xFFFE;
    return hidden ? 3 : 0;
}

void keys_write_scalar(struct str *out, const char *text)
{
    unsigned code;
    if (is_plain(text)) {
        str_puts(out, text);
        return;
    }
    str_puts(out, "\"");
    while (*text) {
        unsigned char c = (unsigned char)*text;
        size_t n = unprintable(text, &code);
        if (n > 0)
            str_printf(out, "\\u%04X", code);
        else if (c < ' ' || c == 0x7F)
            str_printf(out, "\\x%02X", c);
        else if (c == '"' || c == '\\')
            str_printf(out, "\\%c", c);
        else
            str_append(out, text, 1);
        text += n ? n : 1;
    }
    str_puts(out, "\"");
}

enum rc keys_resolve_paths(const struct section *s, const char *folder, struct pool *pool,
                           struct diag *d)
{
    for (int i = 0; s->rows && s->rows[i].name; i++) {
        if (s->rows[i].type != KEY_PATH)
            continue;
        const char **at = (const char **)((unsigned char *)s->at + s->rows[i].offset);
        if (!(*at)[0] || (*at)[0] == '/' || strcmp(folder, ".") == 0)
            continue;
        *at = pool_printf(pool, "%s/%s", folder, *at);
        TRY_ALLOC(*at, d);
    }
    return RC_OK;
}

static void write_path(struct str *out, const char *path)
{
    struct str full;
    char here[4096];
    str_init(&full);
    if (path[0] && path[0] != '/' && getcwd(here, sizeof(here)))
        str_printf(&full, "%s/", here);
    str_puts(&full, path);
    out->failed = out->failed || full.failed;
    if (!full.failed)
        keys_write_scalar(out, full.text);
    str_release(&full);
}

/* One value, or one item of a list. */
static void write_one(struct str *out, const struct key *row, const void *at)
{
    char text[STR_FLOAT_ROOM];
    struct keys_choices choices;
    switch (row->type) {
    case KEY_INT:
    case KEY_INTS:
        str_printf(out, "%" PRId64, *(const int64_t *)at);
        break;
    case KEY_FLOAT:
    case KEY_FLOATS:
        str_puts(out, str_float(text, *(const double *)at));
        break;
    case KEY_BOOL:
        str_puts(out, *(const bool *)at ? "true" : "false");
        break;
    case KEY_TEXT:
    case KEY_TEXTS:
        keys_write_scalar(out, *(const char *const *)at);
        break;
    case KEY_PATH:
        write_path(out, *(const char *const *)at);
        break;
    case KEY_CHOICE:
        keys_choices_init(&choices, row->choices);
        keys_write_scalar(out, keys_choice(&choices, *(const int *)at));
        break;
    case KEY_VALUE:
        break;
    }
}

static bool is_list(const struct key *row)
{
    return row->type == KEY_INTS || row->type == KEY_FLOATS || row->type == KEY_TEXTS;
}

/* A default that only says "not given". */
static bool is_absent(const struct key *row, const void *at)
{
    if (row->type == KEY_FLOAT)
        return !isfinite(*(const double *)at);
    if (row->type == KEY_TEXT || row->type == KEY_PATH)
        return !(*(const char *const *)at)[0];
    return is_list(row) && ((const struct key_list *)at)->n == 0;
}

static void write_list(struct str *out, const struct key *row, const struct key_list *list)
{
    size_t size = row->type == KEY_INTS     ? sizeof(int64_t)
                  : row->type == KEY_FLOATS ? sizeof(double)
                                            : sizeof(const char *);
    str_puts(out, "[");
    for (int i = 0; i < list->n; i++) {
        str_puts(out, i ? ", " : "");
        write_one(out, row, (const unsigned char *)list->at + (size_t)i * size);
    }
    str_puts(out, "]");
}

static void write_row(const struct section *s, int i, struct str *out, int indent)
{
    const struct key *row = &s->rows[i];
    if (row->type == KEY_VALUE)
        return;
    const void *at = (const unsigned char *)s->at + row->offset;
    if (is_absent(row, at) && !s->origin[i].set)
        return;
    str_printf(out, "%*s%s: ", indent, "", row->name);
    if (is_list(row))
        write_list(out, row, at);
    else
        write_one(out, row, at);
    str_puts(out, "\n");
}

void keys_write_row(const struct section *s, const char *name, struct str *out, int indent)
{
    int i = 0;
    while (s->rows && s->rows[i].name && strcmp(s->rows[i].name, name) != 0)
        i++;
    BUG_IF(!s->rows || !s->rows[i].name);
    write_row(s, i, out, indent);
}

void keys_write(const struct section *s, struct str *out, int indent)
{
    for (int i = 0; s->rows && s->rows[i].name; i++)
        write_row(s, i, out, indent);
}
