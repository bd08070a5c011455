/* test_gemm.c: every row of kern_gemm that runs here, against `ref` bit for bit where arithmetic is
 * exact, against FP64 within derived bounds elsewhere; edges, strides, threads, the choice of a
 * row. Special values: test_gemm_special.c. */
#include "config.h"

#include "gemm_case.h"

#include "base/cpu.h"
#include "base/half.h"
#include "base/par.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- exact: small integers ---------------------------------------------------------------------
 */

enum { ALL_DESCS = 32 * 27 };

START_TEST(ref_knows_a_product_by_hand)
{
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 2, -1}, bias[2] = {10, -100};
    float c[4] = {1, 1, 1, 1};
    struct gemm_desc d = {.m = 2, .n = 2, .k = 3, .bias = true, .act = GEMM_ACT_RELU};
    struct gemm_plan p;
    const char *reason;
    ck_assert(kern_gemm_plan_row(&p, &d, "ref", &reason));
    struct gemm_args g = {.m = 2,
                          .n = 2,
                          .k = 3,
                          .a = a,
                          .lda = 3,
                          .b = b,
                          .ldb = 2,
                          .c = c,
                          .ldc = 2,
                          .add = true,
                          .bias = bias};
    kern_gemm_run(&p, &g);
    ck_assert(c[0] == 18 && c[1] == 0 && c[2] == 27 && c[3] == 0);
}
END_TEST

START_TEST(bits_all_types)
{
    for (size_t t = 0; t < GEMM_N_TYPES; t++)
        for (unsigned i = 0; i < ALL_DESCS; i++) {
            struct gemm_desc d = gemm_some_desc(33, 35, 37, gemm_types[t], i);
            gemm_check_bits(&d, i % 5 % 2);
        }
}
END_TEST

static const int64_t edges[] = {1, 2, 3, 5, 7, 9, 15, 16, 17, 31, 32, 33, 63, 65, 100, 130};
enum { N_EDGES = COUNT_OF(edges) };

START_TEST(bits_all_sizes)
{
    unsigned choice = 1;
    for (int i = 0; i < N_EDGES * N_EDGES * N_EDGES; i++) {
        int64_t m = edges[i % N_EDGES], n = edges[i / N_EDGES % N_EDGES];
        int64_t k = edges[i / N_EDGES / N_EDGES];
        if ((i % N_EDGES + i / N_EDGES) % 5 != i / N_EDGES / N_EDGES % 5)
            continue; /* every pair of sizes comes, every triple would take long */
        choice = choice * 1664525u + 1013904223u;
        struct gemm_desc d = gemm_some_desc(m, n, k, gemm_types[i % 3], choice >> 8);
        gemm_check_bits(&d, choice >> 31);
    }
}
END_TEST

/* Several blocks and several chunks of K, on every row. */
START_TEST(bits_large_sizes)
{
    static const int64_t shapes[][3] = {{1, 10, 1500},  {530, 17, 70},   {20, 1063, 33},
                                        {90, 70, 1301}, {260, 150, 400}, {37, 41, 2049}};
    for (unsigned i = 0; i < COUNT_OF(shapes) * 3 * 3; i++) {
        const int64_t *s = shapes[i % COUNT_OF(shapes)];
        struct gemm_desc d = gemm_some_desc(s[0], s[1], s[2], gemm_types[i / COUNT_OF(shapes) % 3],
                                            i * 2654435761u >> 7);
        gemm_check_bits(&d, i % 2);
    }
}
END_TEST

START_TEST(bits_empty)
{
    for (size_t t = 0; t < GEMM_N_TYPES; t++)
        for (unsigned i = 0; i < 64; i++) {
            struct gemm_desc d = gemm_some_desc(5, 7, 0, gemm_types[t], i * 27);
            gemm_check_bits(&d, i % 2);
            d = gemm_some_desc(0, 7, 3, gemm_types[t], i * 27);
            gemm_check_bits(&d, i % 2);
            d = gemm_some_desc(5, 0, 3, gemm_types[t], i * 27);
            gemm_check_bits(&d, i % 2);
        }
}
END_TEST

/* --- within bounds: random numbers -------------------------------------------------------------
 */

/* How far C may be from the exact value. n additions and one product in FP32: n eps times the sum
 * of sizes; narrowed once: half an ulp, at least half of the smallest subnormal. */
static double bound(const struct gemm_case *x, double exact, double sizes)
{
    double eps = 0x1p-24, additions = 4.0 * (double)x->desc.k + 4;
    double b = 1.01 * eps * additions * sizes;
    if (x->desc.c == DTYPE_BF16)
        b += (fabs(exact) + b) * 0x1p-8 + 0x1p-134;
    if (x->desc.c == DTYPE_F16)
        b += (fabs(exact) + b) * 0x1p-11 + 0x1p-25;
    return b;
}

static void check_bound(const struct gemm_case *x, const char *row)
{
    void *c = gemm_case_run(x, row);
    for (int64_t i = 0; c && i < x->desc.m; i++)
        for (int64_t j = 0; j < x->desc.n; j++) {
            double sizes, exact = gemm_case_exact(x, i, j, &sizes);
            double got = (double)gemm_case_at(x, c, i, j);
            if (!(fabs(got - exact) <= bound(x, exact, sizes)))
                ck_abort_msg("%s: row %d column %d is %.9g, not %.9g +- %.3g: %s", row, (int)i,
                             (int)j, got, exact, bound(x, exact, sizes), gemm_case_name(x));
        }
    free(c);
}

START_TEST(random_numbers)
{
    static const int64_t shapes[][3] = {{1, 10, 9}, {17, 33, 65}, {70, 40, 130}, {40, 35, 1031}};
    for (unsigned i = 0; i < COUNT_OF(shapes) * 3 * 8; i++) {
        const int64_t *s = shapes[i % COUNT_OF(shapes)];
        struct gemm_desc d = gemm_some_desc(s[0], s[1], s[2], gemm_types[i / COUNT_OF(shapes) % 3],
                                            i * 2654435761u >> 8);
        struct gemm_case x;
        d.act = GEMM_ACT_NONE;
        gemm_case_init(&x, &d, i % 3 == 0, FILL_NORMAL);
        for (int r = 0; kern_gemm_row_name(r); r++)
            check_bound(&x, kern_gemm_row_name(r));
        gemm_case_release(&x);
    }
}
END_TEST

/* Any finite FP16 patterns, subnormals among them: the split into two BF16 numbers loses nothing.
 */
START_TEST(fp16_exact)
{
    struct gemm_desc d = {
        .m = 50, .n = 70, .k = 90, .a = DTYPE_F16, .b = DTYPE_F16, .compute = DTYPE_F16};
    struct gemm_case x;
    unsigned choice = 7;
    gemm_case_init(&x, &d, false, FILL_NORMAL);
    for (int pass = 0; pass < 2; pass++) { /* all exponents; subnormals only */
        for (int64_t i = 0; i < d.m * d.k + d.k * d.n; i++) {
            choice = choice * 1664525u + 1013904223u;
            uint16_t bits = (uint16_t)(choice >> 16 & (pass ? 0x83FFu : 0xFBFFu));
            float value = half_f16_to_f32(bits);
            if (i < d.m * d.k)
                x.a[i] = value;
            else
                x.b[i - d.m * d.k] = value;
        }
        gemm_case_sync(&x);
        for (int r = 0; kern_gemm_row_name(r); r++)
            check_bound(&x, kern_gemm_row_name(r));
    }
    gemm_case_release(&x);
}
END_TEST

/* One product per cell: every FP16 value times 1 and times 1 + 2^-10 comes out exactly. */
START_TEST(fp16_every_value)
{
    struct gemm_desc d = {
        .m = 1 << 16, .n = 2, .k = 1, .a = DTYPE_F16, .b = DTYPE_F16, .compute = DTYPE_F16};
    struct gemm_case x;
    gemm_case_init(&x, &d, false, FILL_INTEGERS);
    for (int i = 0; i < 1 << 16; i++)
        x.a[i] = (i >> 10 & 31) == 31 ? 0 : half_f16_to_f32((uint16_t)i);
    x.b[0] = 1;
    x.b[1] = 0x1.004p0f;
    gemm_case_sync(&x);
    for (int r = 0; kern_gemm_row_name(r); r++) {
        void *c = gemm_case_run(&x, kern_gemm_row_name(r));
        for (int i = 0; c && i < 1 << 16; i++) {
            ck_assert(gemm_case_at(&x, c, i, 0) == x.a[i]);
            ck_assert(gemm_case_at(&x, c, i, 1) == x.a[i] * x.b[1]); /* 22 bits: exact */
        }
        free(c);
    }
    gemm_case_release(&x);
}
END_TEST

/* The curved activations are kern_vec's: to a few ulp of their value, or of x where they cancel. */
START_TEST(activations)
{
    static const enum gemm_act acts[] = {GEMM_ACT_GELU, GEMM_ACT_SILU, GEMM_ACT_TANH,
                                         GEMM_ACT_SIGMOID};
    for (unsigned i = 0; i < COUNT_OF(acts) * 18; i++) {
        struct gemm_desc d =
            gemm_some_desc(35, 45, 33, gemm_types[i % 3], (i / 12 % 8) << 2 | i * 32 * 7);
        struct gemm_case x;
        d.act = acts[i % COUNT_OF(acts)];
        gemm_case_init(&x, &d, i % 5 < 2, FILL_INTEGERS);
        void *right = gemm_case_run(&x, "ref");
        double eps = d.c == DTYPE_F32 ? 0x1p-24 : d.c == DTYPE_BF16 ? 0x1p-7 : 0x1p-10;
        for (int r = 0; kern_gemm_row_name(r); r++) {
            void *c = gemm_case_run(&x, kern_gemm_row_name(r));
            for (int64_t e = 0; c && e < d.m * d.n; e++) {
                double sizes, in = gemm_case_exact(&x, e / d.n, e % d.n, &sizes);
                double want = (double)gemm_case_at(&x, right, e / d.n, e % d.n);
                double got = (double)gemm_case_at(&x, c, e / d.n, e % d.n);
                double near = 8 * 0x1p-24 * (fabs(in) < 1 ? fabs(in) : 1) +
                              16 * 0x1p-24 * fabs(want) + 0x1p-24;
                if (!(fabs(got - want) <= near + eps * fabs(want)))
                    ck_abort_msg("%s: %.9g, not %.9g: %s", kern_gemm_row_name(r), got, want,
                                 gemm_case_name(&x));
            }
            free(c);
        }
        free(right);
        gemm_case_release(&x);
    }
}
END_TEST

/* --- the same bits for every thread count ------------------------------------------------------
 */

START_TEST(threads)
{
    static const int64_t shapes[][3] = {{300, 500, 200}, {40, 33, 3000}, {1, 700, 900}};
    for (unsigned i = 0; i < COUNT_OF(shapes) * 3 * 4; i++) {
        const int64_t *s = shapes[i % COUNT_OF(shapes)];
        struct gemm_desc d = gemm_some_desc(s[0], s[1], s[2], gemm_types[i / 3 % 3], i * 97);
        struct gemm_case x;
        gemm_case_init(&x, &d, i % 2, FILL_NORMAL);
        for (int r = 0; kern_gemm_row_name(r); r++) {
            const char *row = kern_gemm_row_name(r);
            void *c[4];
            if (strcmp(row, "ref") == 0)
                continue; /* one thread makes a cell, in the order of k: nothing to see, slowly */
            for (int t = 0; t < 4; t++) { /* 1, 2, 3 threads, and 3 again */
                par_set_threads(t < 3 ? t + 1 : 3);
                c[t] = gemm_case_run(&x, row);
            }
            for (int t = 1; t < 4; t++) {
                if (c[0] && memcmp(c[0], c[t], gemm_case_c_bytes(&x)) != 0)
                    ck_abort_msg("%s: other bits in run %d: %s", row, t, gemm_case_name(&x));
                free(c[t]);
            }
            free(c[0]);
        }
        gemm_case_release(&x);
    }
}
END_TEST

/* A plan serves smaller runs, and packed or not gives the same bits. */
START_TEST(smaller_runs)
{
    for (int r = 0; kern_gemm_row_name(r); r++) {
        struct gemm_desc d = {
            .m = 600, .n = 90, .k = 700, .a_trans = true, .compute = gemm_types[r % 3]};
        struct gemm_plan p;
        const char *reason;
        for (size_t t = 0; t < GEMM_N_TYPES; t++) {
            d.compute = gemm_types[t];
            if (!kern_gemm_plan_row(&p, &d, kern_gemm_row_name(r), &reason))
                continue;
            struct gemm_desc less = d;
            struct gemm_case x;
            less.m = 45;
            less.n = 37;
            less.k = 101;
            gemm_case_init(&x, &less, false, FILL_NORMAL);
            void *right = gemm_case_run(&x, kern_gemm_row_name(r));
            void *scratch = aligned_alloc(64, (p.scratch_bytes + 127) / 64 * 64);
            float *c = malloc(45 * 37 * sizeof(float));
            struct gemm_args g = {.m = 45,
                                  .n = 37,
                                  .k = 101,
                                  .a = x.a_store,
                                  .lda = x.lda,
                                  .b = x.b_store,
                                  .ldb = x.ldb,
                                  .c = c,
                                  .ldc = 37,
                                  .scratch = scratch};
            kern_gemm_run(&p, &g);
            for (int64_t i = 0; i < 45; i++)
                for (int64_t j = 0; j < 37; j++)
                    ck_assert(c[i * 37 + j] == gemm_case_at(&x, right, i, j));
            less.b_is_weight = true;
            x.desc = less;
            void *packed = gemm_case_run(&x, kern_gemm_row_name(r));
            ck_assert(memcmp(packed, right, gemm_case_c_bytes(&x)) == 0);
            free(packed);
            free(right);
            free(scratch);
            free(c);
            gemm_case_release(&x);
        }
    }
}
END_TEST

/* --- the choice --------------------------------------------------------------------------------
 */

START_TEST(choice_per_level)
{
    static const char *const best[ISA_COUNT][3] = {
        /* fp32, bf16, fp16 */
        [ISA_SCALAR] = {"blas_f32", "blas_f32", "blas_f32"},
        [ISA_AVX2] = {"avx2_f32", "avx2_f32", "avx2_f32"},
        [ISA_AVX512] = {"avx512_f32", "avx512_f32", "avx512_f32"},
        [ISA_AVX512_BF16] = {"avx512_f32", "avx512_bf16", "avx512_f32"},
        [ISA_AMX] = {"avx512_f32", "amx_bf16", "amx_f16x2"},
    };
    gemm_case_cap(NULL);
    for (int level = 0; level < ISA_COUNT; level++) {
        if (level > (int)cpu_best()) {
            printf("skipped: level %s: %s\n", isa_name((enum isa)level),
                   cpu_missing((enum isa)level));
            continue;
        }
        setenv("MPTRAIN_ISA", isa_name((enum isa)level), 1);
        gemm_case_cap(NULL);
        for (int t = 0; t < 3; t++) {
            struct gemm_desc d = {.m = 9,
                                  .n = 9,
                                  .k = 9,
                                  .a = gemm_types[t],
                                  .b = gemm_types[t],
                                  .compute = gemm_types[t]};
            struct gemm_plan p;
            const char *want = best[level][t];
            kern_gemm_plan(&p, &d);
            if (strcmp(want, "blas_f32") == 0 && !kern_gemm_blas_core())
                want = "ref";
            if (strcmp(want, "avx512_bf16") == 0 && strstr(cpu_name(), "Intel"))
                want = "avx512_f32"; /* half rate there */
            ck_assert_str_eq(kern_gemm_name(&p), want);
            for (int i = 0; i < p.n_refused; i++)
                ck_assert(p.refused[i].reason && p.refused[i].reason[0]);
        }
    }
    unsetenv("MPTRAIN_ISA");
    gemm_case_cap(NULL);
}
END_TEST

START_TEST(refusals_have_words)
{
    struct gemm_desc d = {.m = 9, .n = 9, .k = 9, .compute = DTYPE_F32};
    struct gemm_plan p;
    const char *reason;
    ck_assert(!kern_gemm_plan_row(&p, &d, "no_such_row", &reason));
    ck_assert_str_eq(reason, "there is no such row");
    gemm_case_cap("scalar");
    ck_assert(!kern_gemm_plan_row(&p, &d, "avx2_f32", &reason));
    ck_assert(strstr(reason, "capped") || strstr(reason, "no ") || strstr(reason, "not "));
    gemm_case_cap(NULL);
    for (int r = 0; kern_gemm_row_name(r); r++)
        ck_assert(kern_gemm_row_help(r)[0]);
    if (kern_gemm_plan_row(&p, &d, "amx_bf16", &reason))
        ck_abort_msg("amx_bf16 took fp32");
}
END_TEST

/* OpenBLAS 0.3.21 takes its oldest kernels on a CPU that it does not know, unless it is told. */
START_TEST(blas_kernels_fit)
{
    const char *core = kern_gemm_blas_core();
    if (!core) {
        printf("skipped: blas_f32: OpenBLAS is not installed\n");
        return;
    }
    if (getenv("OPENBLAS_CORETYPE")) {
        printf("skipped: blas_kernels_fit: OPENBLAS_CORETYPE is set\n");
        return;
    }
    if (cpu_has(ISA_AVX512))
        ck_assert_str_eq(core, "SkylakeX");
    else if (cpu_has(ISA_AVX2))
        ck_assert_str_eq(core, "Haswell");
    ck_assert_ptr_null(kern_gemm_blas_note());
    ck_assert_ptr_null(getenv("OPENBLAS_CORETYPE"));
}
END_TEST

START_TEST(blas_note_tells)
{
    if (!cpu_has(ISA_AVX512)) {
        printf("skipped: blas_note_tells: no AVX-512 here\n");
        return;
    }
    setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    if (!kern_gemm_blas_core())
        return;
    ck_assert_str_eq(kern_gemm_blas_note(),
                     "OpenBLAS runs its Prescott kernels on a CPU with AVX-512 "
                     "(OPENBLAS_CORETYPE=Prescott is set): blas_f32 is slow");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kern_gemm");
    TCase *c = tcase_create("gemm");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, gemm_case_setup, NULL);
    tcase_add_test(c, ref_knows_a_product_by_hand);
    tcase_add_test(c, bits_all_types);
    tcase_add_test(c, bits_all_sizes);
    tcase_add_test(c, bits_large_sizes);
    tcase_add_test(c, bits_empty);
    tcase_add_test(c, random_numbers);
    tcase_add_test(c, fp16_exact);
    tcase_add_test(c, fp16_every_value);
    tcase_add_test(c, activations);
    tcase_add_test(c, threads);
    tcase_add_test(c, smaller_runs);
    tcase_add_test(c, choice_per_level);
    tcase_add_test(c, refusals_have_words);
    tcase_add_test(c, blas_kernels_fit);
    tcase_add_test(c, blas_note_tells);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
