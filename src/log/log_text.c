/* log_text.c: a record becomes a line of strict JSON. Our own few lines instead of a JSON library,
 * because the step loop calls no malloc.
 *
 * Invariant: the line parses with any strict reader whatever the record holds, and every number
 * reads back as the same number. */
#include "config.h"

#include "log/log_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_text(struct str *out, const char *text)
{
    size_t length = strlen(text);
    bool utf8 = str_is_utf8(text, length);
    str_puts(out, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            str_printf(out, "\\%c", c);
        else if (c == '\n')
            str_puts(out, "\\n");
        else if (c < 0x20)
            str_printf(out, "\\u%04x", c);
        else if (c >= 0x80 && !utf8)
            str_puts(out, "\\ufffd"); /* JSON is UTF-8 and nothing else */
        else
            str_append(out, text + i, 1);
    }
    str_puts(out, "\"");
}

/* %.15g gives back any number that was written with up to 15 digits as it was written, so the first
 * that reads back equal is the shortest, but for subnormals. */
static void put_float(struct str *out, double x)
{
    char text[STR_FLOAT_ROOM];
    if (!isfinite(x)) {
        str_puts(out, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    str_puts(out, text);
}

static void put_name(struct str *out, const char *name, const char *separator)
{
    str_puts(out, separator);
    str_puts(out, "\"");
    str_puts(out, name);
    str_puts(out, "\":");
}

static bool is_there(const struct record *r, const struct record_field *f)
{
    const char *base = (const char *)r;
    if (!(f->types & 1u << r->type))
        return false;
    if (f->has && !*(const bool *)(base + f->has))
        return false;
    return f->type != FIELD_TEXT || *(const char *const *)(const void *)(base + f->offset);
}

static void put_field(struct str *out, const struct record *r, const struct record_field *f)
{
    const void *at = (const char *)r + f->offset;
    put_name(out, f->name, ",");
    switch (f->type) {
    case FIELD_INT:
        str_printf(out, "%" PRId64, *(const int64_t *)at);
        break;
    case FIELD_FLOAT:
        put_float(out, *(const double *)at);
        break;
    case FIELD_BOOL:
        str_puts(out, *(const bool *)at ? "true" : "false");
        break;
    case FIELD_TEXT:
        put_text(out, *(const char *const *)at);
        break;
    }
}

/* ,"nonfinite":{"loss":"inf"} */
static void put_nonfinite(struct str *out, const struct record *r)
{
    const char *separator = ",\"nonfinite\":{";
    bool any = false;
    for (const struct record_field *f = record_fields; f->name; f++) {
        if (f->type != FIELD_FLOAT || !is_there(r, f))
            continue;
        double x = *(const double *)(const void *)((const char *)r + f->offset);
        if (isfinite(x))
            continue;
        put_name(out, f->name, separator);
        str_puts(out, isnan(x) ? "\"nan\"" : x > 0 ? "\"inf\"" : "\"-inf\"");
        separator = ",";
        any = true;
    }
    if (any)
        str_puts(out, "}");
}

void log_text_line(struct str *out, const struct record *r)
{
    str_puts(out, "{\"type\":\"");
    str_puts(out, record_types[r->type].name);
    str_puts(out, "\"");
    for (const struct record_field *f = record_fields; f->name; f++)
        if (is_there(r, f))
            put_field(out, r, f);
    put_nonfinite(out, r);
    str_puts(out, "}\n");
}
