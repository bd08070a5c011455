/* test_str.c: numbers in and out of text, UTF-8, suggestions, the growing buffer. */
#include "config.h"

#include "base/str.h"

#include "base/half.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* YAML 1.1 needs a point before an exponent; 1.2 and people do not (case B34). */
START_TEST(floats)
{
    static const char *const same[] = {"1e-4",   "1E-4",  "1.e-4",  ".1e-3", "+1e-4",
                                       "0.0001", "1e-04", "100e-6", "+.1e-3"};
    double x;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        ck_assert_msg(str_to_float(same[i], &x), "%s", same[i]);
        ck_assert_uint_eq(half_float_bits((float)x), 0x38D1B717);
    }
    ck_assert(str_to_float("1e3", &x) && x == 1000);
    ck_assert(str_to_float("-0", &x) && x == 0 && signbit(x));
    ck_assert(str_to_float("007.50", &x) && x == 7.5);
    ck_assert(str_to_float("1e999", &x) && isinf(x) && x > 0);
    ck_assert(str_to_float("-1e999", &x) && isinf(x) && x < 0);
    ck_assert(str_to_float("1e-999", &x) && x == 0);
    ck_assert(str_to_float("4.9e-324", &x) && x == DBL_TRUE_MIN);
}
END_TEST

START_TEST(infinities)
{
    static const char *const plus[] = {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"};
    static const char *const minus[] = {"-.inf", "-.Inf", "-.INF"};
    static const char *const nans[] = {".nan", ".NaN", ".NAN"};
    double x;
    for (size_t i = 0; i < COUNT_OF(plus); i++)
        ck_assert_msg(str_to_float(plus[i], &x) && x == INFINITY, "%s", plus[i]);
    for (size_t i = 0; i < COUNT_OF(minus); i++)
        ck_assert_msg(str_to_float(minus[i], &x) && x == -INFINITY, "%s", minus[i]);
    for (size_t i = 0; i < COUNT_OF(nans); i++)
        ck_assert_msg(str_to_float(nans[i], &x) && isnan(x), "%s", nans[i]);
}
END_TEST

START_TEST(not_floats)
{
    static const char *const words[] = {
        "",     "1e-4x", "x",   "e5",       "1e",    "1e+",   ".",   "+",   "-",   "+.",  ".e3",
        " 1",   "1 ",    "1\n", "0x10",     "1_000", "inf",   "nan", "NaN", "1,5", "--1", "1.2.3",
        "1e5.", "0b1",   "0o7", "infinity", ".iNF",  "+.nan", "1d3", "1f",  "\t1"};
    double x;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        ck_assert_msg(!str_to_float(words[i], &x), "'%s' was taken for a number", words[i]);
}
END_TEST

START_TEST(integers)
{
    int64_t n;
    ck_assert(str_to_int("0", &n) && n == 0);
    ck_assert(str_to_int("-17", &n) && n == -17);
    ck_assert(str_to_int("+010", &n) && n == 10); /* decimal, never octal */
    ck_assert(str_to_int("9223372036854775807", &n) && n == INT64_MAX);
    ck_assert(str_to_int("-9223372036854775808", &n) && n == INT64_MIN);
    static const char *const words[] = {"",     "1e3", "1_000", "1.0", "9223372036854775808",
                                        "0x10", " 1",  "1 ",    "-",   "-9223372036854775809",
                                        "+-1",  "1e",  "ten",   "+",   "99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        ck_assert_msg(!str_to_int(words[i], &n), "'%s' was taken for an integer", words[i]);
}
END_TEST

START_TEST(printed_floats)
{
    static const struct {
        double x;
        const char *right;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {3, "3"},
                 {0.1, "0.1"},
                 {1e-8, "1e-08"},
                 {2000, "2000"},
                 {65536, "65536"},
                 {16777216, "16777216"},
                 {-2.5, "-2.5"},
                 {1e15, "1e+15"},
                 {1e300, "1e+300"},
                 {0.3, "0.3"},
                 {123.456, "123.456"},
                 {999999999999999, "999999999999999"}};
    char text[STR_FLOAT_ROOM];
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ck_assert_str_eq(str_float(text, cases[i].x), cases[i].right);
    for (int negative = 0; negative < 2; negative++) {
        double nan = copysign((double)NAN, negative ? -1.0 : 1.0);
        ck_assert_str_eq(str_float(text, nan), "nan");
        ck_assert_str_eq(str_float32(text, (float)nan), "nan");
        ck_assert(!signbit(str_plain_nan(nan)));
    }
    ck_assert_str_eq(str_float32(text, -INFINITY), "-inf");
    ck_assert_str_eq(str_float32(text, 0.1f), "0.1");
    ck_assert_str_eq(str_float32(text, 3e-4f), "0.0003");
    ck_assert_str_eq(str_float32(text, 65504.0f), "65504");
    ck_assert_str_eq(str_float32(text, FLT_TRUE_MIN), "1e-45");
}
END_TEST

/* Reads back as the same bits, and no shorter text would. */
START_TEST(float_round_trip)
{
    char text[STR_FLOAT_ROOM], shorter[352];
    uint64_t u = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        u ^= u << 13;
        u ^= u >> 7;
        u ^= u << 17;
        double x;
        memcpy(&x, &u, sizeof(x));
        float f = half_bits_float((uint32_t)u);
        if (isfinite(x)) {
            double back;
            ck_assert(str_to_float(str_float(text, x), &back));
            ck_assert(back == x);
            int digits = (int)strcspn(text, "e") - (text[0] == '-') - (strchr(text, '.') != NULL);
            if (strchr(text, 'e') && digits > 1) {
                snprintf(shorter, sizeof(shorter), "%.*g", digits - 1, x);
                ck_assert(strtod(shorter, NULL) != x);
            }
        }
        if (isfinite(f)) {
            ck_assert(strtof(str_float32(text, f), NULL) == f);
            ck_assert_uint_lt(strlen(text), STR_FLOAT_ROOM - 1);
        }
    }
}
END_TEST

START_TEST(utf8)
{
    static const char *const good[] = {"",
                                       "abc",
                                       "\xC3\xA9",
                                       "\xE2\x82\xAC",
                                       "\xF0\x9F\x98\x80",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80",
                                       "\xF4\x8F\xBF\xBF"};
    static const char *const bad[] = {"\x80",
                                      "\xC3",
                                      "\xC0\xAF",
                                      "\xC1\x81",
                                      "\xE0\x80\x80",
                                      "\xED\xA0\x80",
                                      "\xF0\x80\x80\x80",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xFF",
                                      "\xE2\x82",
                                      "\xC3\x28",
                                      "a\xE2\x28\xA1",
                                      "\xF0\x9F\x98"};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        ck_assert_msg(str_is_utf8(good[i], strlen(good[i])), "good %zu", i);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        ck_assert_msg(!str_is_utf8(bad[i], strlen(bad[i])), "bad %zu", i);
    ck_assert(str_is_utf8("a\0b", 3)); /* U+0000 is a character; the length decides */
    ck_assert(!str_is_utf8("\xE2\x82\xAC", 2));
}
END_TEST

static const char *next_choice(const void *context, int i)
{
    const char *const *choices = context;
    return choices[i];
}

START_TEST(suggestions)
{
    static const char *const choices[] = {"linear", "conv2d", "relu", "gelu", "lr", NULL};
    static const struct {
        const char *word, *right;
    } cases[] = {{"liner", "linear"}, {"lienar", "linear"}, {"Linear", "linear"},
                 {"conv", "conv2d"},  {"covn2d", "conv2d"}, {"rel", "relu"},
                 {"lr", "lr"},        {"l", "lr"},          {"transformer", NULL},
                 {"xyz", NULL},       {"", NULL},           {"batchnorm", NULL}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *found = str_nearest(cases[i].word, next_choice, choices);
        if (cases[i].right)
            ck_assert_pstr_eq(found, cases[i].right);
        else
            ck_assert_msg(!found, "'%s' suggested for '%s'", found, cases[i].word);
    }
    char longest[500];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    ck_assert_ptr_null(str_nearest(longest, next_choice, choices));
}
END_TEST

START_TEST(bytes)
{
    static const struct {
        uint64_t n;
        const char *right;
    } cases[] = {{0, "0 B"},           {1023, "1023 B"},
                 {1024, "1.0 KiB"},    {1536, "1.5 KiB"},
                 {1048575, "1.0 MiB"}, {150 << 10, "150 KiB"},
                 {1 << 30, "1.0 GiB"}, {UINT64_MAX, "16777216 TiB"}};
    char text[STR_BYTES_ROOM];
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ck_assert_str_eq(str_bytes(text, cases[i].n), cases[i].right);
}
END_TEST

START_TEST(growing)
{
    struct str s;
    str_init(&s);
    str_append(&s, "abcdef", 3);
    str_puts(&s, "");
    str_printf(&s, "-%d-%s", 42, "x");
    ck_assert_str_eq(s.text, "abc-42-x");
    ck_assert_uint_eq(s.length, 8);
    for (int i = 0; i < 1000; i++)
        str_printf(&s, "%04d", i);
    ck_assert_uint_eq(s.length, 4008);
    ck_assert_str_eq(s.text + 4004, "0999");
    str_clear(&s);
    ck_assert_str_eq(s.text, "");
    str_append(&s, "x", SIZE_MAX / 2); /* too much: refused before anything is read */
    ck_assert(s.failed);
    str_puts(&s, "y");
    ck_assert_str_eq(s.text, "");
    str_release(&s);
    ck_assert_ptr_null(s.text);
    str_clear(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("str");
    TCase *t = tcase_create("str");
    tcase_set_timeout(t, 60); /* the machine may be busy */
    tcase_add_test(t, floats);
    tcase_add_test(t, infinities);
    tcase_add_test(t, not_floats);
    tcase_add_test(t, integers);
    tcase_add_test(t, printed_floats);
    tcase_add_test(t, float_round_trip);
    tcase_add_test(t, utf8);
    tcase_add_test(t, suggestions);
    tcase_add_test(t, bytes);
    tcase_add_test(t, growing);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
