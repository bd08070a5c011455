/* test_gemm_pack.c: packing piece by piece, in any order, gives the bytes that packing as a whole
 * gives, in both layouts, on every row that packs; also where inf and NaN must be marked. */
#include "config.h"

#include "gemm_case.h"

#include "base/diag.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* b is stored (rows, cols), with rows ld apart. */
struct matrix {
    const float *b;
    int64_t rows, cols, ld;
};

static void parts(const struct gemm_plan *p, const struct matrix *x, int64_t high, int64_t wide,
                  void *packed)
{
    int64_t rows = x->rows, cols = x->cols;
    int64_t down = (rows + high - 1) / high, across = (cols + wide - 1) / wide;
    kern_gemm_pack_begin(p, packed);
    for (int64_t i = down * across - 1; i >= 0; i--) { /* last first */
        struct gemm_part part = {i / across * high, high, i % across * wide, wide};
        part.rows = part.row + high > rows ? rows - part.row : high;
        part.cols = part.col + wide > cols ? cols - part.col : wide;
        kern_gemm_pack_part(p, x->b, x->ld, packed, &part);
    }
}

static void check(const char *row, enum dtype compute, bool b_trans, int64_t n, int64_t k)
{
    struct gemm_desc d = {
        .m = 5, .n = n, .k = k, .b_trans = b_trans, .compute = compute, .b_is_weight = true};
    struct gemm_plan p;
    const char *reason;
    if (!kern_gemm_plan_row(&p, &d, row, &reason) || !kern_gemm_packs_parts(&p))
        return;
    int64_t rows = b_trans ? n : k, cols = b_trans ? k : n, ld = cols + 3;
    size_t bytes = (p.packed_bytes + 63) / 64 * 64;
    float *b = malloc((size_t)(rows * ld) * sizeof(float));
    char *whole = aligned_alloc(64, bytes), *pieces = aligned_alloc(64, bytes);
    for (int64_t i = 0; i < rows * ld; i++)
        b[i] = (float)(i * 37 % 251 - 120) / 64;
    b[(rows - 1) * ld + cols / 2] = INFINITY;
    memset(whole, 0x5A, bytes);
    memset(pieces, 0x5A, bytes);
    kern_gemm_pack(&p, b, ld, whole);
    static const int64_t sizes[][2] = {{32, 32}, {64, 512}, {1024, 32}, {96, 1024}};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        struct matrix x = {b, rows, cols, ld};
        parts(&p, &x, sizes[s][0], sizes[s][1], pieces);
        ck_assert_msg(memcmp(whole, pieces, p.packed_bytes) == 0,
                      "%s %s %s n %d k %d: parts of %d x %d differ", row, dtype_name(compute),
                      b_trans ? "turned" : "plain", (int)n, (int)k, (int)sizes[s][0],
                      (int)sizes[s][1]);
    }
    free(b);
    free(whole);
    free(pieces);
}

START_TEST(parts_give_the_whole)
{
    static const int64_t shapes[][2] = {{1, 1}, {10, 9}, {33, 70}, {100, 1100}, {784, 513}};
    for (int r = 0; kern_gemm_row_name(r); r++)
        for (int t = 0; t < GEMM_N_TYPES; t++)
            for (size_t s = 0; s < COUNT_OF(shapes); s++)
                for (int turned = 0; turned < 2; turned++)
                    check(kern_gemm_row_name(r), gemm_types[t], turned, shapes[s][0], shapes[s][1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gemm_pack");
    TCase *cases = tcase_create("gemm_pack");
    tcase_set_timeout(cases, 120);
    tcase_add_checked_fixture(cases, gemm_case_setup, NULL);
    tcase_add_test(cases, parts_give_the_whole);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
