/* test_rng.c: Philox4x32-10 against published vectors, and what the streams promise: moments,
 * independence of the order of asking, distinct streams. */
#include "config.h"

#include "base/rng.h"

#include "base/rc.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Known answers of Random123 1.14 (Salmon et al.), kat_vectors, philox4x32 10. */
START_TEST(known_answers)
{
    static const struct {
        uint32_t counter[4], key[2], right[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct rng_key k;
        memcpy(k.key, cases[i].key, sizeof(k.key));
        memcpy(k.upper, cases[i].counter + 2, sizeof(k.upper));
        uint64_t at = (uint64_t)cases[i].counter[1] << 32 | cases[i].counter[0];
        uint32_t out[4];
        rng_words(k, at, out);
        for (int j = 0; j < 4; j++)
            ck_assert_uint_eq(out[j], cases[i].right[j]);
    }
}
END_TEST

enum { N = 200000 };
static float values[N], again[N];

static double moment(const float *x, double centre, int power)
{
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double from_centre = (double)x[i] - centre, term = 1;
        for (int p = 0; p < power; p++)
            term *= from_centre;
        sum += term;
    }
    return sum / N;
}

/* Bounds are five standard errors of the moment in question. */
START_TEST(uniform_moments)
{
    rng_uniform(rng_key(1, RNG_DROPOUT, 2, 3), 0, N, values);
    for (int i = 0; i < N; i++) {
        ck_assert(values[i] >= 0.0f && values[i] < 1.0f);
        ck_assert(values[i] * 0x1p24f == floorf(values[i] * 0x1p24f));
    }
    ck_assert(fabs(moment(values, 0, 1) - 0.5) < 5 * sqrt(1.0 / 12 / N));
    ck_assert(fabs(moment(values, 0.5, 2) - 1.0 / 12) < 5 * sqrt((1.0 / 80 - 1.0 / 144) / N));
    double neighbours = 0;
    for (int i = 0; i + 1 < N; i++)
        neighbours += ((double)values[i] - 0.5) * ((double)values[i + 1] - 0.5);
    ck_assert(fabs(neighbours / N) < 5 * (1.0 / 12) / sqrt(N));
}
END_TEST

START_TEST(normal_moments)
{
    rng_normal(rng_key(7, RNG_INIT, 0, 0), 0, N, values);
    for (int i = 0; i < N; i++)
        ck_assert(isfinite(values[i]));
    ck_assert(fabs(moment(values, 0, 1)) < 5 / sqrt(N));
    ck_assert(fabs(moment(values, 0, 2) - 1) < 5 * sqrt(2.0 / N));
    ck_assert(fabs(moment(values, 0, 3)) < 5 * sqrt(15.0 / N));
    ck_assert(fabs(moment(values, 0, 4) - 3) < 5 * sqrt(96.0 / N));
    int beyond = 0; /* P(|x| > 3) = 0.0026998 */
    for (int i = 0; i < N; i++)
        beyond += fabsf(values[i]) > 3.0f;
    ck_assert(fabs(beyond - 0.0026998 * N) < 5 * sqrt(0.0026998 * N));
}
END_TEST

/* Any split of a range, at any place, gives the same numbers. */
START_TEST(order_does_not_matter)
{
    struct rng_key k = rng_key(42, RNG_DROPOUT, 17, 5);
    for (int normal = 0; normal < 2; normal++) {
        void (*draw)(struct rng_key, uint64_t, int64_t, float *) =
            normal ? rng_normal : rng_uniform;
        draw(k, 1000, 997, values);
        for (int at = 997; at > 0;) {
            int n = at % 7 + 1 < at ? at % 7 + 1 : at;
            at -= n;
            draw(k, 1000 + (uint64_t)at, n, again + at);
        }
        ck_assert_int_eq(memcmp(values, again, 997 * sizeof(float)), 0);
    }
    rng_uniform(k, UINT64_C(1) << 40, 8, values); /* beyond 32 bits: not the start again */
    rng_uniform(k, 0, 8, again);
    ck_assert_int_ne(memcmp(values, again, 8 * sizeof(float)), 0);
}
END_TEST

/* Many at once are the same words, also where the counter passes 2^32. */
START_TEST(many)
{
    struct rng_key k = rng_key(5, RNG_DROPOUT, 1, 2);
    uint32_t all[4 * 75], one[4];
    uint64_t first = 0xFFFFFFF0u;
    rng_many(k, first, 75, all);
    for (uint64_t i = 0; i < 75; i++) {
        rng_words(k, first + i, one);
        ck_assert_mem_eq(one, all + 4 * i, sizeof(one));
    }
    ck_assert_uint_eq(rng_name(""), 0xCBF29CE484222325u);
    ck_assert_uint_eq(rng_name("a"), 0xAF63DC4C8601EC8Cu);
}
END_TEST

START_TEST(streams_are_distinct)
{
    static const struct {
        uint64_t seed;
        enum rng_stream stream;
        uint64_t a, b;
    } uses[] = {{0, RNG_INIT, 0, 0},    {1, RNG_INIT, 0, 0},    {0, RNG_SHUFFLE, 0, 0},
                {0, RNG_INIT, 1, 0},    {0, RNG_INIT, 0, 1},    {0, RNG_DROPOUT, 0, 0},
                {0, RNG_HOLDOUT, 0, 0}, {0, RNG_INIT, 1, 1},    {0, RNG_SYNTHETIC, 0, 0},
                {2, RNG_INIT, 0, 0},    {0, RNG_SHUFFLE, 1, 0}, {1, RNG_SHUFFLE, 0, 0}};
    uint32_t words[COUNT_OF(uses)][4];
    for (size_t i = 0; i < COUNT_OF(uses); i++) {
        rng_words(rng_key(uses[i].seed, uses[i].stream, uses[i].a, uses[i].b), 0, words[i]);
        for (size_t j = 0; j < i; j++)
            ck_assert_int_ne(memcmp(words[i], words[j], sizeof(words[i])), 0);
    }
}
END_TEST

START_TEST(below)
{
    struct rng_key k = rng_key(3, RNG_SHUFFLE, 0, 0);
    int counts[7] = {0};
    for (uint64_t i = 0; i < 70000; i++) {
        uint64_t r = rng_below(k, i, 7);
        ck_assert_uint_lt(r, 7);
        counts[r]++;
    }
    for (int i = 0; i < 7; i++)
        ck_assert(fabs(counts[i] - 10000.0) < 5 * sqrt(10000.0 * 6 / 7));
    ck_assert_uint_eq(rng_below(k, 5, 1), 0);
    bool high = false; /* all 64 bits are used */
    for (uint64_t i = 0; i < 64; i++)
        high = high || rng_below(k, i, UINT64_MAX) > UINT64_MAX / 2;
    ck_assert(high);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rng");
    TCase *t = tcase_create("rng");
    tcase_set_timeout(t, 60); /* the machine may be busy */
    tcase_add_test(t, known_answers);
    tcase_add_test(t, uniform_moments);
    tcase_add_test(t, normal_moments);
    tcase_add_test(t, order_does_not_matter);
    tcase_add_test(t, many);
    tcase_add_test(t, streams_are_distinct);
    tcase_add_test(t, below);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
