/* report_text.c: see report_text.h. */
#include "config.h"

#include "report/report_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void report_text_safe(struct str *out, const char *text, bool ascii)
{
    bool utf8 = str_is_utf8(text, strlen(text));
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        bool control = *p < 0x20 || *p == 0x7F;
        /* U+0080..U+009F are control characters too: C2 80..C2 9F */
        bool high_control = utf8 && *p == 0xC2 && p[1] < 0xA0;
        if (control || high_control || (*p >= 0x80 && (ascii || !utf8)))
            str_puts(out, "?");
        else
            str_append(out, (const char *)p, 1);
        /* one question mark a character */
        if (utf8 && (high_control || (*p >= 0x80 && ascii)))
            while ((p[1] & 0xC0) == 0x80)
                p++;
    }
}

static bool begins(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

int report_text_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += begins(*text);
    return width;
}

void report_text_cut(struct str *s, int width)
{
    if (!s->text || report_text_width(s->text) <= width)
        return;
    size_t at = 0;
    for (int seen = 0; s->text[at]; at++)
        if (begins(s->text[at]) && seen++ == width - 2)
            break;
    s->text[at] = '\0';
    s->length = at;
    str_puts(s, "..");
}

void report_text_count(struct str *out, int64_t n)
{
    char digits[32];
    int length = snprintf(digits, sizeof(digits), "%" PRId64, n);
    for (int i = 0; i < length; i++) {
        if (i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0)
            str_puts(out, ",");
        str_append(out, digits + i, 1);
    }
}
