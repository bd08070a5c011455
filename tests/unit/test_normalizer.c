/* test_normalizer.c: the constants of normalisation: B32. */
#include "config.h"

#include "data_kit.h"

#include <math.h>

/* A data set on the stack. */
static struct dataset table(int64_t rows, int64_t columns, float *inputs)
{
    return (struct dataset){.name = "train",
                            .source = "x.csv",
                            .rows = rows,
                            .columns = columns,
                            .rank = 1,
                            .dims = {columns},
                            .dtype = DTYPE_F32,
                            .inputs = inputs};
}

static void normalise(const struct dataset *ds, double divide, enum normalize how,
                      enum normalize_by by, float *out)
{
    int64_t order[16];
    struct normalizer n;
    diag_init(&data_kit_diag);
    ck_assert_int_eq(normalizer_init(&n, ds, divide, how, by, &data_kit_diag), RC_OK);
    dataset_order(ds->rows, false, 0, 0, order);
    dataset_gather(ds, &n, NULL, order, ds->rows, out, NULL);
    normalizer_release(&n);
}

static void check(int n, const float *is, const float *should)
{
    for (int i = 0; i < n; i++)
        ck_assert_msg(is[i] == should[i], "%d: %.9g is not %.9g", i, (double)is[i],
                      (double)should[i]);
}

START_TEST(none)
{
    float x[] = {255, 51, 0, -255}, out[4];
    struct dataset ds = table(2, 2, x);
    normalise(&ds, 1, NORMALIZE_NONE, NORMALIZE_BY_COLUMN, out);
    check(4, out, x);
    normalise(&ds, 255, NORMALIZE_NONE, NORMALIZE_BY_COLUMN, out);
    check(4, out, (const float[]){255 * (1 / 255.0f), 51 * (1 / 255.0f), 0, -255 * (1 / 255.0f)});
    ck_assert_int_eq(data_kit_diag.n_items, 0);
}
END_TEST

START_TEST(standard)
{
    /* column 1: mean 3, population std 2; column 2: mean 10, std 8 */
    float x[] = {1, 2, 5, 18, 1, 2, 5, 18}, out[8];
    struct dataset ds = table(4, 2, x);
    normalise(&ds, 1, NORMALIZE_STANDARD, NORMALIZE_BY_COLUMN, out);
    check(8, out, (const float[]){-1, -1, 1, 1, -1, -1, 1, 1});
    normalise(&ds, 4, NORMALIZE_STANDARD, NORMALIZE_BY_COLUMN, out); /* dividing cancels */
    check(8, out, (const float[]){-1, -1, 1, 1, -1, -1, 1, 1});
}
END_TEST

START_TEST(standard_by_all)
{
    /* mean 4, differences 3, 5, 3 and 5 */
    float x[] = {1, 9, 7, -1, 1, 9, 7, -1}, out[8];
    struct dataset ds = table(4, 2, x);
    normalise(&ds, 1, NORMALIZE_STANDARD, NORMALIZE_BY_ALL, out);
    double std = sqrt((9 + 25 + 9 + 25) / 4.0);
    for (int i = 0; i < 8; i++)
        ck_assert(out[i] == (x[i] - 4) * (float)(1 / std));
}
END_TEST

START_TEST(minmax)
{
    float x[] = {-4, 1, 0, 3, 4, 2}, out[6];
    struct dataset ds = table(3, 2, x);
    normalise(&ds, 255, NORMALIZE_MINMAX, NORMALIZE_BY_COLUMN, out);
    check(6, out, (const float[]){0, 0, .5f, 1, 1, .5f});
    normalise(&ds, 1, NORMALIZE_MINMAX, NORMALIZE_BY_ALL, out);
    check(6, out, (const float[]){0, .625f, .5f, .875f, 1, .75f});
}
END_TEST

START_TEST(bytes)
{
    uint8_t x[] = {0, 255, 100, 155};
    float out[4];
    struct dataset ds = table(2, 2, NULL);
    ds.inputs = x;
    ds.dtype = DTYPE_U8;
    normalise(&ds, 255, NORMALIZE_STANDARD, NORMALIZE_BY_COLUMN, out);
    check(4, out, (const float[]){-1, 1, 1, -1});
}
END_TEST

/* B32: constant, nearly constant, one row only. */
START_TEST(constant_columns)
{
    static const char *names[] = {"five", "tiny", "noise", "good"};
    float x[] = {5, 0, 1e6f, 0, 5, 1e-30f, 1000000.0625f, 2, 5, 0, 1e6f, 0, 5, 1e-30f, 1e6f, 2};
    float out[16];
    struct dataset ds = table(4, 4, x);
    ds.column_names = names;
    for (int how = NORMALIZE_STANDARD; how <= NORMALIZE_MINMAX; how++) {
        normalise(&ds, 1, how, NORMALIZE_BY_COLUMN, out);
        for (int i = 0; i < 16; i++)
            if (i % 4 < 3)
                ck_assert(out[i] == 0);
            else
                ck_assert(out[i] == (i / 4 % 2 ? 1 : how == NORMALIZE_MINMAX ? 0 : -1));
        ck_assert_int_eq(data_kit_diag.n_errors, 0);
        ck_assert_int_eq(data_kit_diag.n_items, 3);
        ck_assert(data_kit_said("x.csv: warning: column 1 (five) is constant (5)"));
        ck_assert(data_kit_said("column 2 (tiny)"));
        ck_assert(data_kit_said("column 3 (noise)"));
    }
}
END_TEST

START_TEST(one_row)
{
    float x[] = {5, -3, 0, 1, 2, 3, 4}, out[7];
    struct dataset ds = table(1, 7, x);
    normalise(&ds, 1, NORMALIZE_STANDARD, NORMALIZE_BY_COLUMN, out);
    check(7, out, (const float[7]){0});
    ck_assert(data_kit_said("column 2 is constant (-3)"));
    ck_assert(data_kit_said("7 columns in all are constant"));
    ck_assert_int_eq(data_kit_diag.n_items, 6);
    ds = table(7, 1, (float[]){4, 4, 4, 4, 4, 4, 4});
    normalise(&ds, 1, NORMALIZE_MINMAX, NORMALIZE_BY_ALL, out);
    check(7, out, (const float[7]){0});
    ds = table(1, 2, (float[]){4, 4});
    normalise(&ds, 1, NORMALIZE_MINMAX, NORMALIZE_BY_ALL, out);
    check(2, out, (const float[2]){0});
    ck_assert(data_kit_said("all inputs of the training data are 4"));
}
END_TEST

/* A large mean beside a small spread: FP32 sums would lose it. */
START_TEST(large_mean)
{
    enum { N = 16 };
    float x[N], out[N];
    for (int i = 0; i < N; i++)
        x[i] = 65536 + (float)(i % 2);
    struct dataset ds = table(N, 1, x);
    normalise(&ds, 1, NORMALIZE_STANDARD, NORMALIZE_BY_COLUMN, out);
    for (int i = 0; i < N; i++)
        ck_assert(out[i] == (i % 2 ? 1 : -1));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, none);
    tcase_add_test(tc, standard);
    tcase_add_test(tc, standard_by_all);
    tcase_add_test(tc, minmax);
    tcase_add_test(tc, bytes);
    tcase_add_test(tc, constant_columns);
    tcase_add_test(tc, one_row);
    tcase_add_test(tc, large_mean);
}

int main(void)
{
    return data_kit_run("normalizer", add);
}
