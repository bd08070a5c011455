/* str.h: text. A growing buffer, number parsing and printing that no locale changes, UTF-8. */
#ifndef STR_H
#define STR_H

#include "base/rc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string, always terminated. After a failed allocation `failed` stays set and the text
 * is what fitted: check once, at the end. */
struct str {
    char *text; /* owned; NULL while empty */
    size_t length, room;
    bool failed;
};

void str_init(struct str *s);
void str_release(struct str *s);
void str_clear(struct str *s);
void str_append(struct str *s, const char *text, size_t length);
void str_puts(struct str *s, const char *text);
void str_printf(struct str *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Whole text as one number. YAML 1.2 core rules for floats: 1e-4, .5, +1., .inf, .nan, but no hex,
 * no blanks, nothing behind. False: not a number. An overflow gives +-inf. */
bool str_to_float(const char *text, double *out);
/* Decimal, optional sign; 1e3 and 1_000 are not integers. False also when it does not fit. */
bool str_to_int(const char *text, int64_t *out);

/* For printing: x, and of a NaN the one without sign. Which sign a NaN has depends on the kernel,
 * and printf would tell it: "-nan". */
double str_plain_nan(double x);
/* Shortest decimal that reads back as the same double ("0.1", "1e-08", "3"), or "inf", "-inf",
 * "nan". */
enum { STR_FLOAT_ROOM = 32 };
const char *str_float(char out[STR_FLOAT_ROOM], double x);
/* The same for a value that is exact in FP32: shortest that reads back as the same float. */
const char *str_float32(char out[STR_FLOAT_ROOM], float x);

bool str_is_utf8(const char *text, size_t length);

/* The choice nearest to `word` (edit distance), or NULL when none is near enough to suggest.
 * next(context, i) gives the i-th choice, NULL at the end. */
const char *str_nearest(const char *word, const char *(*next)(const void *context, int i),
                        const void *context);

/* 1536 -> "1.5 KiB" */
enum { STR_BYTES_ROOM = 24 };
const char *str_bytes(char out[STR_BYTES_ROOM], uint64_t n);

#endif
