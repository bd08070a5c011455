/* test_gemm_special.c: every row of kern_gemm that runs here, on special values: NaN before
 * in C, inf and NaN in A and B, subnormals, long sums. */
#include "config.h"

#include "gemm_case.h"

#include "base/rc.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* portBLAS PR #237, OpenBLAS #929: C holds NaN before (gemm_case_run), none may survive; then
 * C = 1, A·B = 2, added twice: 3 and 5, in every type of C. */
START_TEST(old_c)
{
    static const int64_t sizes[] = {1, 3, 5, 7, 17, 33};
    for (unsigned i = 0; i < 6 * 6 * 6; i++) {
        struct gemm_desc d = {.m = sizes[i % 6], .n = sizes[i / 6 % 6], .k = sizes[i / 36]};
        d.compute = gemm_types[i % 3];
        d.c = gemm_types[i / 3 % 3];
        gemm_check_bits(&d, false);
        struct gemm_case x;
        gemm_case_init(&x, &d, true, FILL_INTEGERS);
        for (int64_t e = 0; e < d.m * d.k; e++)
            x.a[e] = e % d.k == 0 ? 2 : 0;
        for (int64_t e = 0; e < d.k * d.n; e++)
            x.b[e] = 1;
        for (int r = 0; kern_gemm_row_name(r); r++)
            for (int pass = 0; pass < 2; pass++) {
                for (int64_t e = 0; e < d.m * d.n; e++)
                    x.c[e] = pass == 0 ? 1 : 3;
                gemm_case_sync(&x);
                void *c = gemm_case_run(&x, kern_gemm_row_name(r));
                for (int64_t e = 0; c && e < d.m * d.n; e++)
                    ck_assert(gemm_case_at(&x, c, e / d.n, e % d.n) == (pass == 0 ? 3 : 5));
                free(c);
            }
        gemm_case_release(&x);
    }
}
END_TEST

/* numpy #15785: sums in half precision stop growing. 5000 ones: 5000 in FP16, 4992 in BF16. */
START_TEST(sums_keep_growing)
{
    for (unsigned i = 0; i < 9; i++) {
        struct gemm_desc d = {
            .m = 1, .n = 1, .k = 5000, .compute = gemm_types[i % 3], .c = gemm_types[i / 3]};
        d.a = d.b = d.compute;
        struct gemm_case x;
        gemm_case_init(&x, &d, false, FILL_INTEGERS);
        for (int k = 0; k < 5000; k++)
            x.a[k] = x.b[k] = 1;
        gemm_case_sync(&x);
        for (int r = 0; kern_gemm_row_name(r); r++) {
            void *c = gemm_case_run(&x, kern_gemm_row_name(r));
            if (c)
                ck_assert(gemm_case_at(&x, c, 0, 0) == (d.c == DTYPE_BF16 ? 4992 : 5000));
            free(c);
        }
        gemm_case_release(&x);
    }
}
END_TEST

static bool same_kind(float a, float b)
{
    return isnan(a) ? isnan(b) : isinf(a) ? a == b : isfinite(b);
}

/* inf and NaN in some rows of A and columns of B: cells are finite, inf or NaN where ref's are, and
 * cells of other rows and columns keep their bits. */
static void check_special(const struct gemm_desc *d)
{
    struct gemm_case clean, x;
    gemm_case_init(&clean, d, false, FILL_NORMAL);
    gemm_case_init(&x, d, false, FILL_NORMAL);
    int64_t k = d->k - 1, last = d->m - 1;
    x.a[2 * d->k + k / 2] = INFINITY;
    x.a[last * d->k + k] = NAN;
    x.a[last / 2 * d->k] = -INFINITY;
    x.a[last / 2 * d->k + k] = INFINITY; /* inf - inf, unless B's signs say otherwise */
    x.b[k * d->n + 1] = INFINITY;
    x.b[k / 2 * d->n + d->n - 1] = NAN;
    x.b[k / 2 * d->n] = 0; /* inf * 0 */
    for (int64_t j = 3; j < d->n; j += 2)
        x.b[k / 2 * d->n + j] = 2; /* no low part */
    for (int64_t j = 3; j < d->n; j += 2)
        clean.b[k / 2 * d->n + j] = x.b[k / 2 * d->n + j];
    gemm_case_sync(&x);
    gemm_case_sync(&clean);
    void *right = gemm_case_run(&x, "ref");
    for (int r = 0; kern_gemm_row_name(r); r++) {
        void *c = gemm_case_run(&x, kern_gemm_row_name(r));
        void *before = gemm_case_run(&clean, kern_gemm_row_name(r));
        for (int64_t e = 0; c && e < d->m * d->n; e++) {
            int64_t i = e / d->n, j = e % d->n;
            float got = gemm_case_at(&x, c, i, j), want = gemm_case_at(&x, right, i, j);
            if (!same_kind(got, want))
                ck_abort_msg("%s: row %d column %d is %g, ref %g: %s", kern_gemm_row_name(r),
                             (int)i, (int)j, (double)got, (double)want, gemm_case_name(&x));
            bool touched =
                i == 2 || i == last || i == last / 2 || j == 1 || j == d->n - 1 || j == 0;
            ck_assert(touched || got == gemm_case_at(&x, before, i, j));
        }
        free(c);
        free(before);
    }
    free(right);
    gemm_case_release(&x);
    gemm_case_release(&clean);
}

START_TEST(inf_and_nan)
{
    static const int64_t depths[] = {2, 5, 37, 1037};
    for (unsigned i = 0; i < 3 * 4 * 8; i++) {
        struct gemm_desc d =
            gemm_some_desc(41, 39, depths[i % 4], gemm_types[i / 4 % 3], i / 12 | i << 5);
        d.bias = false;
        d.act = GEMM_ACT_NONE;
        check_special(&d);
    }
}
END_TEST

/* relu and the narrowing keep NaN and make overflow inf. */
START_TEST(epilogue_keeps_specials)
{
    for (unsigned i = 0; i < 9; i++) {
        struct gemm_desc d = {
            .m = 3, .n = 18, .k = 1, .compute = gemm_types[i % 3], .c = gemm_types[i / 3]};
        d.bias = true;
        d.act = GEMM_ACT_RELU;
        struct gemm_case x;
        gemm_case_init(&x, &d, false, FILL_INTEGERS);
        for (int j = 0; j < 18; j++)
            x.bias[j] = j % 3 == 0 ? NAN : j % 3 == 1 ? -INFINITY : 0x1.fffffep127f;
        for (int r = 0; kern_gemm_row_name(r); r++) {
            void *c = gemm_case_run(&x, kern_gemm_row_name(r));
            for (int64_t e = 0; c && e < 3 * 18; e++) {
                float got = gemm_case_at(&x, c, e / 18, e % 18);
                ck_assert(e % 3 == 0 ? isnan(got) : e % 3 == 1 ? got == 0 : got > 65504);
                ck_assert(e % 3 != 2 || d.c == DTYPE_F32 || isinf(got));
            }
            free(c);
        }
        gemm_case_release(&x);
    }
}
END_TEST

/* 1024 products 1 * 2^-130: 2^-120, or 0 on a row that counts subnormals as zero. Rows of FP16 must
 * not: 2^-24 * 2^-24 is the smallest product there is. */
START_TEST(subnormals)
{
    for (unsigned i = 0; i < 3; i++) {
        struct gemm_desc d = {.m = 2,
                              .n = 3,
                              .k = 1024,
                              .a = gemm_types[i],
                              .b = gemm_types[i],
                              .compute = gemm_types[i]};
        struct gemm_case x;
        gemm_case_init(&x, &d, false, FILL_INTEGERS);
        bool f16 = gemm_types[i] == DTYPE_F16;
        for (int e = 0; e < 2 * 1024; e++)
            x.a[e] = f16 ? 0x1p-24f : 1;
        for (int e = 0; e < 3 * 1024; e++)
            x.b[e] = f16 ? 0x1p-24f : 0x1p-130f;
        gemm_case_sync(&x);
        for (int r = 0; kern_gemm_row_name(r); r++) {
            void *c = gemm_case_run(&x, kern_gemm_row_name(r));
            float right = f16 ? 0x1p-38f : kern_gemm_row_flushes(r) ? 0 : 0x1p-120f;
            if (c && gemm_case_at(&x, c, 1, 2) != right)
                ck_abort_msg("%s %s: %a, not %a", kern_gemm_row_name(r), dtype_name(gemm_types[i]),
                             (double)gemm_case_at(&x, c, 1, 2), (double)right);
            free(c);
        }
        gemm_case_release(&x);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kern_gemm, special values");
    TCase *c = tcase_create("gemm");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, gemm_case_setup, NULL);
    tcase_add_test(c, old_c);
    tcase_add_test(c, sums_keep_growing);
    tcase_add_test(c, inf_and_nan);
    tcase_add_test(c, epilogue_keeps_specials);
    tcase_add_test(c, subnormals);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
