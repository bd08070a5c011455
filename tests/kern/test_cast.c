/* test_cast.c: kern_cast against an independent reference, every row against every other, bit for
 * bit; and loads, stores and counts over tensors. */
#include "config.h"

#include "kern/kern_cast.h"

#include "base/cpu.h"
#include "base/half.h"
#include "base/par.h"
#include "cast_ref.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const enum dtype halves[] = {DTYPE_F16, DTYPE_BF16};

static struct cast_format format_of(enum dtype t)
{
    return t == DTYPE_F16 ? CAST_FP16 : CAST_BF16;
}

static void setup(void)
{
    static struct diag d;
    diag_init(&d);
    ck_assert_int_eq(cpu_init(NULL, &d), RC_OK);
    ck_assert_int_eq(kern_cast_force(NULL), 1);
}

static uint16_t narrow_one(enum dtype to, uint32_t bits)
{
    float x = half_bits_float(bits);
    uint16_t h;
    kern_cast(to, &h, DTYPE_F32, &x, 1);
    return h;
}

static uint32_t widen_one(enum dtype from, uint16_t h)
{
    float x;
    kern_cast(DTYPE_F32, &x, from, &h, 1);
    return half_float_bits(x);
}

/* Narrows n patterns with every row and compares each with the reference. */
static void check_narrow(const float *x, int n)
{
    uint16_t *out = malloc((size_t)n * sizeof(*out));
    for (size_t t = 0; t < COUNT_OF(halves); t++)
        for (int r = 0; kern_cast_row_name(r); r++) {
            ck_assert(kern_cast_force(kern_cast_row_name(r)));
            kern_cast(halves[t], out, DTYPE_F32, x, n);
            for (int i = 0; i < n; i++) {
                uint16_t right = cast_ref(format_of(halves[t]), x[i]);
                if (out[i] != right)
                    ck_abort_msg("%s to %s: %08x gives %04x, not %04x", kern_cast_name(),
                                 dtype_name(halves[t]), half_float_bits(x[i]), out[i], right);
            }
        }
    free(out);
}

/* Ties go to even: cases B01 and B03 of the bug reports that the design was made from. */
START_TEST(known_values)
{
    static const struct {
        enum dtype to;
        uint32_t from;
        uint16_t right;
    } cases[] = {
        {DTYPE_F16, 0x44021000, 0x6010},  {DTYPE_F16, 0x45001000, 0x6800},
        {DTYPE_F16, 0x45003000, 0x6802},  {DTYPE_F16, 0x33000000, 0x0000},
        {DTYPE_F16, 0x33C00000, 0x0002},  {DTYPE_F16, 0x34200000, 0x0002},
        {DTYPE_BF16, 0x3F808000, 0x3F80}, {DTYPE_BF16, 0x3F818000, 0x3F82},
        {DTYPE_BF16, 0x3F808001, 0x3F81}, {DTYPE_BF16, 0x3E89CCD5, 0x3E8A},
        {DTYPE_F16, 0x477FEFFF, 0x7BFF},  {DTYPE_F16, 0x477FF000, 0x7C00},
        {DTYPE_BF16, 0x7F7F7FFF, 0x7F7F}, {DTYPE_BF16, 0x7F7F8000, 0x7F80},
        {DTYPE_BF16, 0x00000001, 0x0000}, {DTYPE_BF16, 0x00018000, 0x0002},
        {DTYPE_F16, 0x7F800001, 0x7E00},  {DTYPE_F16, 0xFF800001, 0xFE00},
        {DTYPE_F16, 0x7FFFFFFF, 0x7FFF},  {DTYPE_F16, 0x7FC00000, 0x7E00},
        {DTYPE_BF16, 0x7F800001, 0x7FC0}, {DTYPE_BF16, 0xFF800001, 0xFFC0},
        {DTYPE_BF16, 0x7FFFFFFF, 0x7FFF}, {DTYPE_BF16, 0x7FC00000, 0x7FC0},
        {DTYPE_F16, 0x7F800000, 0x7C00},  {DTYPE_F16, 0xFF800000, 0xFC00},
        {DTYPE_BF16, 0x7F800000, 0x7F80}, {DTYPE_BF16, 0xFF800000, 0xFF80},
        {DTYPE_F16, 0x80000000, 0x8000},  {DTYPE_BF16, 0x80000000, 0x8000},
    };
    for (int r = 0; kern_cast_row_name(r); r++) {
        ck_assert(kern_cast_force(kern_cast_row_name(r)));
        for (size_t i = 0; i < COUNT_OF(cases); i++)
            ck_assert_msg(narrow_one(cases[i].to, cases[i].from) == cases[i].right,
                          "%s to %s: %08x gives %04x, not %04x", kern_cast_name(),
                          dtype_name(cases[i].to), cases[i].from,
                          narrow_one(cases[i].to, cases[i].from), cases[i].right);
    }
}
END_TEST

/* Case B02: subnormals decoded to half their value. */
START_TEST(known_subnormals)
{
    static const struct {
        uint16_t from;
        uint32_t right;
    } cases[] = {{0x0001, 0x33800000}, {0x01FF, 0x37FF8000}, {0x0200, 0x38000000},
                 {0x03FF, 0x387FC000}, {0x0400, 0x38800000}, {0x8001, 0xB3800000}};
    for (int r = 0; kern_cast_row_name(r); r++) {
        ck_assert(kern_cast_force(kern_cast_row_name(r)));
        for (size_t i = 0; i < COUNT_OF(cases); i++)
            ck_assert_uint_eq(widen_one(DTYPE_F16, cases[i].from), cases[i].right);
    }
}
END_TEST

static void check_widened(enum dtype from, uint16_t h, float x, uint16_t back)
{
    struct cast_format f = format_of(from);
    double right = cast_ref_value(f, h);
    if (isnan(right)) {
        ck_assert(isnan(x));
        ck_assert_int_eq(signbit(x) != 0, h >> 15);
        ck_assert_uint_eq(back, h | 1u << (f.mantissa_bits - 1)); /* the payload survives */
        return;
    }
    if ((double)x != right || (signbit(x) != 0) != h >> 15)
        ck_abort_msg("%s from %s: %04x gives %a, not %a", kern_cast_name(), dtype_name(from), h,
                     (double)x, right);
    ck_assert_uint_eq(back, h);
}

START_TEST(all_half_patterns)
{
    enum { N = 65536 };
    static uint16_t h[N], back[N];
    static float x[N], first[N];
    for (int i = 0; i < N; i++)
        h[i] = (uint16_t)i;
    for (size_t t = 0; t < COUNT_OF(halves); t++)
        for (int r = 0; kern_cast_row_name(r); r++) {
            ck_assert(kern_cast_force(kern_cast_row_name(r)));
            kern_cast(DTYPE_F32, x, halves[t], h, N);
            kern_cast(halves[t], back, DTYPE_F32, x, N);
            for (int i = 0; i < N; i++)
                check_widened(halves[t], h[i], x[i], back[i]);
            if (r == 0)
                memcpy(first, x, sizeof(x));
            ck_assert_int_eq(memcmp(first, x, sizeof(x)), 0); /* NaN bits too */
        }
}
END_TEST

/* All exponents and signs with the mantissas at which something happens: both sides of every
 * half-way point and of every carry. */
START_TEST(edge_patterns)
{
    enum { ROOM = 4096 };
    static uint32_t mantissas[ROOM];
    static float x[2 * ROOM];
    int n = 0;
    for (int bit = 0; bit < 23; bit++)
        for (int d = -2; d <= 2; d++) {
            uint32_t one = 1u << bit, all = 0x7FFFFFu & ~(one - 1);
            mantissas[n++] = (one + (uint32_t)d) & 0x7FFFFF;
            mantissas[n++] = (all + (uint32_t)d) & 0x7FFFFF;
            mantissas[n++] = (3 * one + (uint32_t)d) & 0x7FFFFF;
            mantissas[n++] = (5 * one + (uint32_t)d) & 0x7FFFFF;
        }
    for (uint32_t exponent = 0; exponent < 256; exponent++) {
        for (int i = 0; i < n; i++) {
            x[2 * i] = half_bits_float(exponent << 23 | mantissas[i]);
            x[2 * i + 1] = half_bits_float(0x80000000u | exponent << 23 | mantissas[i]);
        }
        check_narrow(x, 2 * n);
    }
}
END_TEST

START_TEST(strided_patterns)
{
    enum { N = 1 << 14 };
    static float x[N];
    const uint32_t stride = 1021; /* prime: 2^22 patterns with every low bit */
    uint32_t at = 0;
    for (int block = 0; block < 256; block++) {
        for (int i = 0; i < N; i++, at += stride)
            x[i] = half_bits_float(at);
        check_narrow(x, N);
    }
}
END_TEST

/* Every length and alignment up to a few vectors: nothing behind the end is touched. */
START_TEST(tails)
{
    enum { MOST = 70, GUARD = 0x5A5A };
    float x[MOST + 4], wide[MOST + 4];
    uint16_t h[MOST + 4];
    for (int i = 0; i < MOST + 4; i++)
        x[i] = (float)i * 0.37f - 9.0f;
    for (size_t t = 0; t < COUNT_OF(halves); t++)
        for (int r = 0; kern_cast_row_name(r); r++)
            for (int n = 0; n <= MOST; n++) {
                int shift = n % 3;
                ck_assert(kern_cast_force(kern_cast_row_name(r)));
                for (int i = 0; i < MOST + 4; i++) {
                    h[i] = GUARD;
                    wide[i] = 77.0f;
                }
                kern_cast(halves[t], h + shift, DTYPE_F32, x + shift, n);
                kern_cast(DTYPE_F32, wide + shift, halves[t], h + shift, n);
                for (int i = 0; i < MOST + 4; i++) {
                    bool in = i >= shift && i < shift + n;
                    uint16_t right = in ? cast_ref(format_of(halves[t]), x[i]) : GUARD;
                    float back = in ? (float)cast_ref_value(format_of(halves[t]), h[i]) : 77.0f;
                    ck_assert_uint_eq(h[i], right);
                    ck_assert(wide[i] == back);
                }
            }
}
END_TEST

START_TEST(half_to_half)
{
    enum { N = 700 };
    uint16_t f16[N], bf16[N], back[N];
    for (int i = 0; i < N; i++)
        f16[i] = (uint16_t)(i * 90);
    kern_cast(DTYPE_BF16, bf16, DTYPE_F16, f16, N);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(bf16[i], half_f32_to_bf16(half_f16_to_f32(f16[i])));
    kern_cast(DTYPE_F16, back, DTYPE_BF16, bf16, N);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(back[i], half_f32_to_f16(half_bf16_to_f32(bf16[i])));
}
END_TEST

START_TEST(all_threads)
{
    enum { N = 300001 };
    float *x = malloc(N * sizeof(*x));
    uint16_t *one = malloc(N * sizeof(*one)), *many = malloc(N * sizeof(*many));
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 997) / 997.0f - 0.3f;
    kern_cast(DTYPE_F16, one, DTYPE_F32, x, N);
    par_set_threads(3);
    kern_cast_all(DTYPE_F16, many, DTYPE_F32, x, N);
    ck_assert_int_eq(memcmp(one, many, N * sizeof(*one)), 0);
    kern_cast_all(DTYPE_F32, x, DTYPE_F16, many, 0);
    kern_cast_all(DTYPE_F32, x, DTYPE_F16, many, N);
    for (int i = 0; i < N; i++)
        ck_assert(x[i] == half_f16_to_f32(one[i]));
    par_set_threads(1);
    free(x);
    free(one);
    free(many);
}
END_TEST

START_TEST(load_and_store)
{
    enum { N = 1500 };
    static float own[N], tile[KERN_TILE];
    static uint16_t half[N];
    struct view f32 = {own, DTYPE_F32}, f16 = {half, DTYPE_F16}, bf16 = {half, DTYPE_BF16};
    for (int i = 0; i < N; i++)
        own[i] = (float)i;
    ck_assert_ptr_eq(kern_load(f32, 100, 10, tile), own + 100);
    kern_store(f32, 100, 10, own + 100); /* its own memory */
    ck_assert(own[105] == 105.0f);
    kern_store(f16, 0, N, own);
    const float *loaded = kern_load(f16, 476, KERN_TILE, tile);
    ck_assert_ptr_eq(loaded, tile);
    for (int i = 0; i < KERN_TILE; i++)
        ck_assert(loaded[i] == (float)(476 + i)); /* integers to 2048 are exact */
    kern_store_add(f16, 0, N, own);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(half[i], half_f32_to_f16(2.0f * (float)i));
    /* the sum is formed in FP32 and rounded once */
    own[0] = 1.0f;
    kern_store(bf16, 0, 1, own);
    own[0] = 0x1.8p-8f;
    kern_store_add(bf16, 0, 1, own);
    ck_assert_uint_eq(half[0], half_f32_to_bf16(1.0f + 0x1.8p-8f));
    own[1] = 3.0f;
    own[0] = 0.5f;
    kern_store_add(f32, 1, 1, own);
    ck_assert(own[1] == 3.5f);
    own[0] = 65504.0f; /* adding must overflow to inf, not saturate */
    kern_store(f16, 0, 1, own);
    kern_store_add(f16, 0, 1, own);
    ck_assert_uint_eq(half[0], 0x7C00);
}
END_TEST

static int64_t count_bits(enum dtype t, void *data, int64_t n)
{
    return kern_count_nonfinite((struct view){data, t}, n);
}

START_TEST(count_nonfinite)
{
    enum { N = 200 };
    for (int r = 0; kern_cast_row_name(r); r++) {
        ck_assert(kern_cast_force(kern_cast_row_name(r)));
        for (int n = 0; n < N; n++) {
            float x[N + 1];
            uint16_t f16[N + 1], bf16[N + 1];
            int64_t bad = 0;
            for (int i = 0; i <= N; i++) {
                static const uint32_t words[] = {0x7F7FFFFF, 0x7F800000, 0x00000001, 0xFFC00000,
                                                 0xFF800000, 0x7F800001, 0x80000000};
                uint32_t u = i == n ? 0x7F800000u : words[(i * 5 + n) % 7];
                x[i] = half_bits_float(u);
                bf16[i] = (uint16_t)(u == 0x7F800001u ? 0x7F81 : u >> 16);
                f16[i] = (uint16_t)((u & 0x7F800000u) == 0x7F800000u ? 0x7C00 | (u >> 16 & 0x83FF)
                                                                     : 0xFBFF);
                bad += i < n && (u & 0x7F800000u) == 0x7F800000u;
            }
            ck_assert_int_eq(count_bits(DTYPE_F32, x, n), bad);
            ck_assert_int_eq(count_bits(DTYPE_BF16, bf16, n), bad);
            ck_assert_int_eq(count_bits(DTYPE_F16, f16, n), bad);
        }
    }
}
END_TEST

START_TEST(rows_follow_the_cap)
{
    static struct diag d;
    diag_init(&d);
    for (int i = 0; i <= (int)cpu_best(); i++) {
        ck_assert_int_eq(cpu_init(isa_name((enum isa)i), &d), RC_OK);
        const char *right = i >= ISA_AVX512 ? "avx512" : i == ISA_AVX2 ? "avx2" : "scalar";
        ck_assert_str_eq(kern_cast_name(), right);
    }
    ck_assert_int_eq(cpu_init("scalar", &d), RC_OK);
    ck_assert_int_eq(kern_cast_force("avx512"), 0);
    ck_assert_int_eq(kern_cast_force("nonsense"), 0);
    ck_assert_ptr_null(kern_cast_row_name(1));
}
END_TEST

/* Vectors made elsewhere, kept outside the project: "f32 f16 bf16 ..." in hex, nan for any NaN. */
static FILE *open_shared_vectors(void)
{
    static const char file[] = "data/fp-vectors/f32_to_small_rne.txt";
    char path[1024];
    const char *shared = getenv("MPTRAIN_SHARED"), *srcdir = getenv("srcdir");
    if (shared)
        snprintf(path, sizeof(path), "%s/%s", shared, file);
    else
        snprintf(path, sizeof(path), "%s/../shared/%s", srcdir ? srcdir : ".", file);
    FILE *f = fopen(path, "r");
    if (!f)
        printf("shared_vectors: skipped: not there: %s\n", path);
    return f;
}

static bool agrees(const char *word, uint16_t h, struct cast_format f)
{
    if (strcmp(word, "nan") == 0)
        return isnan(cast_ref_value(f, h));
    return strtoul(word, NULL, 16) == h;
}

START_TEST(shared_vectors)
{
    FILE *f = open_shared_vectors();
    if (!f)
        return;
    char line[256], from[16], f16[16], bf16[16];
    int n = 0;
    while (fgets(line, sizeof(line), f)) {
        if (line[0] == '#' || sscanf(line, "%15s %15s %15s", from, f16, bf16) != 3)
            continue;
        uint32_t bits = (uint32_t)strtoul(from, NULL, 16);
        for (int r = 0; kern_cast_row_name(r); r++) {
            ck_assert(kern_cast_force(kern_cast_row_name(r)));
            ck_assert_msg(agrees(f16, narrow_one(DTYPE_F16, bits), CAST_FP16), "%s", line);
            ck_assert_msg(agrees(bf16, narrow_one(DTYPE_BF16, bits), CAST_BF16), "%s", line);
        }
        n++;
    }
    fclose(f);
    printf("shared_vectors: %d\n", n);
    ck_assert_int_gt(n, 1000);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cast");
    TCase *t = tcase_create("cast");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, known_values);
    tcase_add_test(t, known_subnormals);
    tcase_add_test(t, all_half_patterns);
    tcase_add_test(t, edge_patterns);
    tcase_add_test(t, strided_patterns);
    tcase_add_test(t, tails);
    tcase_add_test(t, half_to_half);
    tcase_add_test(t, all_threads);
    tcase_add_test(t, load_and_store);
    tcase_add_test(t, count_nonfinite);
    tcase_add_test(t, rows_follow_the_cap);
    tcase_add_test(t, shared_vectors);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
