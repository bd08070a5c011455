/* str.c: see str.h. The program never calls setlocale(), so printf and strtod use a point. */
#include "config.h"

#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void str_init(struct str *s)
{
    memset(s, 0, sizeof(*s));
}

void str_release(struct str *s)
{
    free(s->text);
    str_init(s);
}

void str_clear(struct str *s)
{
    s->length = 0;
    if (s->text)
        s->text[0] = '\0';
}

static bool make_room(struct str *s, size_t more)
{
    if (s->failed || more > SIZE_MAX / 4 - s->length) {
        s->failed = true;
        return false;
    }
    size_t need = s->length + more + 1;
    if (need <= s->room)
        return true;
    size_t room = s->room ? s->room : 64;
    while (room < need)
        room *= 2;
    char *text = realloc(s->text, room);
    if (!text) {
        s->failed = true;
        return false;
    }
    s->text = text;
    s->room = room;
    return true;
}

void str_append(struct str *s, const char *text, size_t length)
{
    if (!make_room(s, length))
        return;
    memcpy(s->text + s->length, text, length);
    s->length += length;
    s->text[s->length] = '\0';
}

void str_puts(struct str *s, const char *text)
{
    str_append(s, text, strlen(text));
}

void str_printf(struct str *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (length < 0 || !make_room(s, (size_t)length)) {
        s->failed = true;
        return;
    }
    va_start(args, fmt);
    vsnprintf(s->text + s->length, (size_t)length + 1, fmt, args);
    va_end(args);
    s->length += (size_t)length;
}

static const char *skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?   YAML 1.2, 10.3.2 */
static bool looks_like_float(const char *p)
{
    if (*p == '+' || *p == '-')
        p++;
    const char *whole = p;
    p = skip_digits(p);
    bool digits = p > whole;
    if (*p == '.') {
        const char *fraction = ++p;
        p = skip_digits(p);
        digits = digits || p > fraction;
    }
    if (!digits)
        return false;
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-')
            p++;
        const char *exponent = p;
        p = skip_digits(p);
        if (p == exponent)
            return false;
    }
    return *p == '\0';
}

bool str_to_float(const char *text, double *out)
{
    static const struct {
        const char *text;
        double value;
    } words[] = {{".inf", INFINITY},   {".Inf", INFINITY},   {".INF", INFINITY},
                 {"+.inf", INFINITY},  {"+.Inf", INFINITY},  {"+.INF", INFINITY},
                 {"-.inf", -INFINITY}, {"-.Inf", -INFINITY}, {"-.INF", -INFINITY},
                 {".nan", NAN},        {".NaN", NAN},        {".NAN", NAN}};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(text, words[i].text) == 0) {
            *out = words[i].value;
            return true;
        }
    if (!looks_like_float(text))
        return false;
    *out = strtod(text, NULL);
    return true;
}

bool str_to_int(const char *text, int64_t *out)
{
    const char *p = text + (*text == '+' || *text == '-');
    const char *end = skip_digits(p);
    if (end == p || *end)
        return false;
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno == ERANGE)
        return false;
    *out = value;
    return true;
}

double str_plain_nan(double x)
{
    return isnan(x) ? (double)NAN : x;
}

/* 2000, where %g would find 2e+03 short enough; nan */
static bool print_plain(char out[STR_FLOAT_ROOM], double x)
{
    if (isnan(x)) {
        snprintf(out, STR_FLOAT_ROOM, "nan");
        return true;
    }
    if (!(fabs(x) < 1e15) || x != floor(x))
        return false;
    snprintf(out, STR_FLOAT_ROOM, "%.0f", x);
    return true;
}

const char *str_float(char out[STR_FLOAT_ROOM], double x)
{
    if (print_plain(out, x))
        return out;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, STR_FLOAT_ROOM, "%.*g", digits, x);
        if (strtod(out, NULL) == x)
            break;
    }
    return out;
}

const char *str_float32(char out[STR_FLOAT_ROOM], float x)
{
    if (print_plain(out, (double)x))
        return out;
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(out, STR_FLOAT_ROOM, "%.*g", digits, (double)x);
        if (strtof(out, NULL) == x)
            break;
    }
    return out;
}

/* Length of the UTF-8 sequence at p, 0 where there is none (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    static const struct {
        unsigned char first_low, first_high, second_low, second_high, length;
    } forms[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t f = 0; f < COUNT_OF(forms); f++) {
        if (p[0] < forms[f].first_low || p[0] > forms[f].first_high)
            continue;
        size_t length = forms[f].length;
        if (length > left)
            return 0;
        if (length > 1 && (p[1] < forms[f].second_low || p[1] > forms[f].second_high))
            return 0;
        for (size_t i = 2; i < length; i++)
            if ((p[i] & 0xC0) != 0x80)
                return 0;
        return length;
    }
    return 0;
}

bool str_is_utf8(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    for (size_t at = 0; at < length;) {
        size_t n = utf8_length(p + at, length - at);
        if (n == 0)
            return false;
        at += n;
    }
    return true;
}

enum { NEAREST_MAX = 48 };

/* Edit distance with transpositions (optimal string alignment); lengths below NEAREST_MAX. */
static int distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n >= NEAREST_MAX || m >= NEAREST_MAX)
        return NEAREST_MAX;
    int rows[3][NEAREST_MAX + 1];
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= m; j++)
        last[j] = j;
    for (int i = 1; i <= n; i++) {
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        int *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[m];
}

const char *str_nearest(const char *word, const char *(*next)(const void *context, int i),
                        const void *context)
{
    int length = (int)strlen(word);
    int best = (length <= 3 ? 1 : length <= 6 ? 2 : 3) + 1; /* further away is no suggestion */
    const char *found = NULL, *choice;
    for (int i = 0; (choice = next(context, i)) != NULL; i++) {
        int d = distance(word, choice);
        if (d < best) {
            best = d;
            found = choice;
        }
    }
    return found;
}

const char *str_bytes(char out[STR_BYTES_ROOM], uint64_t n)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double x = (double)n;
    size_t unit = 0;
    while (x >= 1023.5 && unit + 1 < COUNT_OF(units)) {
        x /= 1024;
        unit++;
    }
    snprintf(out, STR_BYTES_ROOM, unit == 0 || x >= 100 ? "%.0f %s" : "%.1f %s", x, units[unit]);
    return out;
}
