/* test_dataset.c: the table, class checks (B10), holding out, order, batches, synthetic data. */
#include "config.h"

#include "data_kit.h"

#include "base/par.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* n rows of two bytes (i, i + 1), as far as a byte goes, with class i mod 3. */
static void open_numbered(struct dataset *ds, int n)
{
    struct str x, y;
    str_init(&x);
    str_init(&y);
    const char x_head[] = {0, 0, 8, 2, 0, 0, (char)(n >> 8), (char)n, 0, 0, 0, 2};
    const char y_head[] = {0, 0, 8, 1, 0, 0, (char)(n >> 8), (char)n};
    str_append(&x, x_head, sizeof(x_head));
    str_append(&y, y_head, sizeof(y_head));
    for (int i = 0; i < n; i++) {
        const char row[] = {(char)i, (char)(i + 1)}, label = (char)(i % 3);
        str_append(&x, row, 2);
        str_append(&y, &label, 1);
    }
    const char *inputs = data_kit_write("x", x.text, x.length);
    const char *targets = data_kit_write("y", y.text, y.length);
    ck_assert_int_eq(data_kit_open_arrays(ds, "idx", inputs, targets, DATASET_CLASSES), RC_OK);
    str_release(&x);
    str_release(&y);
}

START_TEST(table)
{
    int n = 0;
    for (const struct reader *r; (r = dataset_reader_at(n)) != NULL; n++) {
        ck_assert_ptr_eq(dataset_reader(r->name), r);
        ck_assert(r->help && r->keys && r->open && r->attrs_size > 0);
        for (const struct key *k = r->keys; k->name; k++) {
            ck_assert_ptr_nonnull(k->help);
            ck_assert_uint_lt(k->offset, r->attrs_size);
        }
    }
    ck_assert_int_eq(n, 7);
    ck_assert_ptr_null(dataset_reader("idy"));
    ck_assert_ptr_null(dataset_reader_at(-1));
}
END_TEST

/* B10 */
START_TEST(classes_out_of_range)
{
    struct dataset ds;
    open_numbered(&ds, 6);
    diag_init(&data_kit_diag);
    ck_assert_int_eq(dataset_check_classes(&ds, 3, -1, &data_kit_diag), RC_OK);
    ck_assert_int_eq(data_kit_diag.n_items, 0);
    ds.classes[2] = 3;
    ck_assert_int_eq(dataset_check_classes(&ds, 3, -1, &data_kit_diag), RC_DATA);
    ck_assert(data_kit_said("/y: error: row 3: class 3 is outside the allowed range 0..2"));
    diag_init(&data_kit_diag);
    ck_assert_int_eq(dataset_check_classes(&ds, 3, 3, &data_kit_diag), RC_OK);
    ds.classes[2] = -1;
    ck_assert_int_eq(dataset_check_classes(&ds, 3, -1, &data_kit_diag), RC_DATA);
    ck_assert(data_kit_said("row 3: class -1"));
    diag_init(&data_kit_diag);
    ds.classes[2] = 4294967296;
    ck_assert_int_eq(dataset_check_classes(&ds, 3, -100, &data_kit_diag), RC_DATA);
    ck_assert(data_kit_said("row 3: class 4294967296 is outside"));
    diag_init(&data_kit_diag);
    for (int i = 0; i < 6; i++)
        ds.classes[i] = i % 3 + 1;
    ck_assert_int_eq(dataset_check_classes(&ds, 3, -1, &data_kit_diag), RC_DATA);
    ck_assert(data_kit_said("2 of 6 labels are out of range"));
    ck_assert(data_kit_said("numbered from 1"));
    for (int i = 0; i < 6; i++)
        ds.classes[i] = 7;
    diag_init(&data_kit_diag);
    ck_assert_int_eq(dataset_check_classes(&ds, 3, -1, &data_kit_diag), RC_DATA);
    ck_assert_int_eq(data_kit_diag.n_errors, 3); /* the first few */
    dataset_release(&ds);
}
END_TEST

START_TEST(hold_out)
{
    enum { N = 50, HELD = 13 }; /* 0.25 of 50 is 12.5, rounded away from zero */
    struct dataset ds, held;
    bool seen[N] = {false};
    open_numbered(&ds, N);
    ck_assert_int_eq(dataset_hold_out(&ds, 0.25, 7, &held, &data_kit_diag), RC_OK);
    ck_assert_int_eq(held.rows, HELD);
    ck_assert_int_eq(ds.rows, N - HELD);
    const struct dataset *parts[] = {&ds, &held};
    for (int p = 0; p < 2; p++)
        for (int64_t i = 0; i < parts[p]->rows; i++) {
            int row = ((uint8_t *)parts[p]->inputs)[2 * i];
            ck_assert(!seen[row]); /* every row is in one part, whole, with its own class */
            seen[row] = true;
            ck_assert_int_eq(((uint8_t *)parts[p]->inputs)[2 * i + 1], row + 1);
            ck_assert_int_eq(parts[p]->classes[i], row % 3);
            ck_assert_int_eq(parts[p]->origin[i], row + 1);
            ck_assert(i == 0 || row > ((uint8_t *)parts[p]->inputs)[2 * i - 2]);
        }
    held.classes[0] = 9;
    ck_assert_int_eq(dataset_check_classes(&held, 3, -1, &data_kit_diag), RC_DATA);
    struct dataset again, other, rest;
    open_numbered(&again, N);
    ck_assert_int_eq(dataset_hold_out(&again, 0.25, 7, &rest, &data_kit_diag), RC_OK);
    ck_assert_mem_eq(rest.inputs, held.inputs, 2 * HELD);
    dataset_release(&again);
    open_numbered(&again, N);
    ck_assert_int_eq(dataset_hold_out(&again, 0.25, 8, &other, &data_kit_diag), RC_OK);
    ck_assert_mem_ne(other.inputs, held.inputs, 2 * HELD);
    dataset_release(&other);
    dataset_release(&rest);
    dataset_release(&again);
    dataset_release(&ds); /* held stands on its own */
    ck_assert_int_eq(strcmp(strrchr(held.source, '/'), "/x"), 0);
    dataset_release(&held);
}
END_TEST

START_TEST(hold_out_leaves_none)
{
    static const double shares[] = {0, 0.01, 0.99, 1, -1, 2, NAN};
    struct dataset ds, held;
    open_numbered(&ds, 5);
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        ck_assert_int_eq(dataset_hold_out(&ds, shares[i], 1, &held, &data_kit_diag), RC_CONFIG);
        ck_assert_int_eq(ds.rows, 5);
    }
    ck_assert(data_kit_said("leaves the validation set without a row"));
    ck_assert(data_kit_said("leaves the training set without a row"));
    dataset_release(&ds);
}
END_TEST

START_TEST(order)
{
    enum { N = 1000 };
    int64_t a[N], b[N];
    bool seen[N] = {false};
    dataset_order(N, false, 1, 3, a);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(a[i], i);
    dataset_order(N, true, 1, 3, a);
    for (int i = 0; i < N; i++) {
        ck_assert(a[i] >= 0 && a[i] < N && !seen[a[i]]);
        seen[a[i]] = true;
    }
    dataset_order(N, true, 1, 3, b);
    ck_assert_mem_eq(a, b, sizeof(a));
    dataset_order(N, true, 1, 4, b);
    ck_assert_mem_ne(a, b, sizeof(a));
    dataset_order(N, true, 2, 3, b);
    ck_assert_mem_ne(a, b, sizeof(a));
    dataset_order(1, true, 1, 0, a);
    ck_assert_int_eq(a[0], 0);
}
END_TEST

/* Each of the 24 orders of 4 rows comes up about equally often: chi square, 23 degrees of freedom,
 * stays below 49.7 with probability 0.999; the seed is fixed. */
START_TEST(order_is_uniform)
{
    enum { DRAWS = 24000, CELLS = 256 };
    int count[CELLS] = {0};
    for (int i = 0; i < DRAWS; i++) {
        int64_t o[4];
        dataset_order(4, true, 5, i, o);
        count[o[0] << 6 | o[1] << 4 | o[2] << 2 | o[3]]++;
    }
    double chi2 = 0, expected = DRAWS / 24.0;
    int cells = 0;
    for (int i = 0; i < CELLS; i++)
        if (count[i] > 0) {
            chi2 += (count[i] - expected) * (count[i] - expected) / expected;
            cells++;
        }
    ck_assert_int_eq(cells, 24);
    ck_assert_double_lt(chi2, 49.7);
}
END_TEST

START_TEST(gather)
{
    struct dataset ds;
    open_numbered(&ds, 9);
    static const int64_t order_[] = {8, 0, 4, 4};
    float x[8], shift[] = {1, 2}, factor[] = {0.5f, 0.25f};
    int32_t t[4];
    dataset_gather(&ds, NULL, NULL, order_, 4, x, t);
    for (int i = 0; i < 4; i++) {
        ck_assert(x[2 * i] == (float)order_[i] && x[2 * i + 1] == (float)(order_[i] + 1));
        ck_assert_int_eq(t[i], order_[i] % 3);
    }
    struct normalizer norm = {2, shift, factor};
    dataset_gather(&ds, &norm, NULL, order_, 4, x, NULL);
    for (int i = 0; i < 4; i++) {
        ck_assert(x[2 * i] == (float)(order_[i] - 1) * 0.5f);
        ck_assert(x[2 * i + 1] == (float)(order_[i] - 1) * 0.25f);
    }
    norm.columns = 1;
    dataset_gather(&ds, &norm, NULL, order_, 4, x, NULL);
    for (int i = 0; i < 4; i++) {
        ck_assert(x[2 * i] == (float)(order_[i] - 1) * 0.5f);
        ck_assert(x[2 * i + 1] == (float)order_[i] * 0.5f);
    }
    dataset_release(&ds);
}
END_TEST

/* Lengths around the unrolled loops, bytes and floats, against the plain formula. */
START_TEST(gather_tails)
{
    enum { MAX = 70, ROWS = 3 };
    uint8_t bytes[ROWS * MAX];
    float floats[ROWS * MAX], shift[MAX], factor[MAX], x[ROWS * MAX + 1];
    for (int i = 0; i < ROWS * MAX; i++) {
        bytes[i] = (uint8_t)(i * 37);
        floats[i] = bytes[i];
    }
    for (int i = 0; i < MAX; i++) {
        shift[i] = (float)i / 3;
        factor[i] = 1 / (float)(i + 1);
    }
    static const int64_t rows[ROWS] = {2, 0, 1};
    for (int n = 1; n <= MAX; n++)
        for (int kind = 0; kind < 4; kind++) {
            bool wide = kind & 1;
            struct dataset ds = {.rows = ROWS, .columns = n};
            ds.dtype = kind & 2 ? DTYPE_U8 : DTYPE_F32;
            ds.inputs = kind & 2 ? (void *)bytes : (void *)floats;
            struct normalizer norm = {wide ? n : 1, shift, factor};
            x[ROWS * n] = 12345;
            dataset_gather(&ds, &norm, NULL, rows, ROWS, x, NULL);
            for (int i = 0; i < ROWS * n; i++) {
                int c = wide ? i % n : 0;
                float raw = bytes[rows[i / n] * n + i % n];
                ck_assert(x[i] == (raw - shift[c]) * factor[c]);
            }
            ck_assert(x[ROWS * n] == 12345);
        }
}
END_TEST

START_TEST(gather_values)
{
    float inputs[] = {1, 2, 3}, values[] = {1, 2, 3, 4, 5, 6}, x[2], t[4];
    struct dataset ds = {.rows = 3, .columns = 1, .dtype = DTYPE_F32, .inputs = inputs};
    ds.target = DATASET_VALUES;
    ds.target_columns = 2;
    ds.values = values;
    static const int64_t rows[] = {2, 0};
    dataset_gather(&ds, NULL, NULL, rows, 2, x, t);
    ck_assert(x[0] == 3 && x[1] == 1);
    ck_assert(t[0] == 5 && t[1] == 6 && t[2] == 1 && t[3] == 2);
}
END_TEST

static void open_synthetic(struct dataset *ds, const char *name, int64_t rows, int64_t classes,
                           int64_t columns, int distribution, uint64_t seed)
{
    static const int64_t shape[] = {4, 5, 1};
    struct synthetic_attrs attrs = {{3, shape}, rows, classes, columns, distribution};
    struct section split = data_kit_section("synthetic", &attrs);
    struct dataset_want want = {.target = classes ? DATASET_CLASSES : DATASET_VALUES, .seed = seed};
    diag_init(&data_kit_diag);
    ck_assert_int_eq(
        dataset_open(ds, dataset_reader("synthetic"), name, &split, &want, &data_kit_diag), RC_OK);
    ck_assert(ds->rows == rows && ds->rank == 3 && ds->columns == 20 && ds->dims[1] == 5);
}

START_TEST(synthetic)
{
    enum { ROWS = 5000, N = ROWS * 20 };
    struct dataset a, b;
    double mean = 0, square = 0;
    int count[4] = {0};
    open_synthetic(&a, "train", ROWS, 4, 0, 1, 1);
    for (int i = 0; i < N; i++) {
        double x = (double)data_kit_input(&a, i);
        mean += x / N;
        square += x * x / N;
    }
    /* five standard errors of mean and variance */
    ck_assert_double_lt(fabs(mean), 5 / sqrt(N));
    ck_assert_double_lt(fabs(square - 1), 5 * sqrt(2.0 / N));
    for (int i = 0; i < ROWS; i++)
        count[a.classes[i]]++;
    for (int i = 0; i < 4; i++)
        ck_assert_int_gt(count[i], ROWS / 40); /* every class is there */
    ck_assert_int_eq(dataset_check_classes(&a, 4, -1, &data_kit_diag), RC_OK);

    par_set_threads(3); /* the same numbers for any number of threads */
    open_synthetic(&b, "train", ROWS, 4, 0, 1, 1);
    ck_assert_mem_eq(a.inputs, b.inputs, N * sizeof(float));
    ck_assert_mem_eq(a.classes, b.classes, ROWS * sizeof(int64_t));
    dataset_release(&b);
    open_synthetic(&b, "test", ROWS, 4, 0, 1, 1);
    ck_assert_mem_ne(a.inputs, b.inputs, N * sizeof(float));
    dataset_release(&b);
    open_synthetic(&b, "train", ROWS, 4, 0, 1, 2);
    ck_assert_mem_ne(a.inputs, b.inputs, N * sizeof(float));
    dataset_release(&b);
    dataset_release(&a);
}
END_TEST

/* Values are linear in the inputs by the same rule in all splits: what is fitted on one holds on
 * the other. With 20 inputs and 20 rows, solved by elimination. */
START_TEST(synthetic_values)
{
    enum { N = 20 };
    struct dataset train, test;
    double m[N][N + 1];
    open_synthetic(&train, "train", N, 0, 2, 1, 3);
    open_synthetic(&test, "test", 50, 0, 2, 1, 3);
    for (int r = 0; r < N; r++) {
        for (int c = 0; c < N; c++)
            m[r][c] = (double)data_kit_input(&train, r * N + c);
        m[r][N] = (double)train.values[2 * r + 1];
    }
    for (int k = 0; k < N; k++)
        for (int r = 0; r < N; r++) {
            double f = r == k ? 0 : m[r][k] / m[k][k];
            for (int c = k; c <= N; c++)
                m[r][c] -= f * m[k][c];
        }
    for (int r = 0; r < 50; r++) {
        double y = 0;
        for (int c = 0; c < N; c++)
            y += m[c][N] / m[c][c] * (double)data_kit_input(&test, r * N + c);
        ck_assert_double_lt(fabs(y - (double)test.values[2 * r + 1]), 1e-3);
    }
    dataset_release(&train);
    dataset_release(&test);
}
END_TEST

START_TEST(synthetic_uniform)
{
    struct dataset ds;
    open_synthetic(&ds, "train", 1000, 2, 0, 0, 1);
    double mean = 0;
    for (int i = 0; i < 20000; i++) {
        double x = (double)data_kit_input(&ds, i);
        ck_assert(x >= 0 && x < 1);
        mean += x / 20000;
    }
    ck_assert_double_lt(fabs(mean - 0.5), 5 * sqrt(1.0 / 12 / 20000));
    dataset_release(&ds);
}
END_TEST

START_TEST(synthetic_refused)
{
    static const int64_t huge[] = {1 << 24, 1 << 24, 1 << 24, 1 << 24}, one[] = {1};
    struct dataset ds;
    struct synthetic_attrs attrs = {{4, huge}, 10, 2, 0, 0};
    data_kit_cap_memory();
    ck_assert_int_eq(data_kit_open(&ds, "synthetic", &attrs, DATASET_CLASSES), RC_CONFIG);
    ck_assert(data_kit_said("too much data"));
    attrs = (struct synthetic_attrs){{1, one}, 10, 2, 3, 0};
    ck_assert_int_eq(data_kit_open(&ds, "synthetic", &attrs, DATASET_CLASSES), RC_CONFIG);
    ck_assert(data_kit_said("not both"));
    attrs.classes = 0;
    ck_assert_int_eq(data_kit_open(&ds, "synthetic", &attrs, DATASET_CLASSES), RC_CONFIG);
    ck_assert(data_kit_said("`classes` is missing"));
    attrs.target_columns = 0;
    ck_assert_int_eq(data_kit_open(&ds, "synthetic", &attrs, DATASET_VALUES), RC_CONFIG);
    ck_assert(data_kit_said("`target_columns` is missing"));
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, table);
    tcase_add_test(tc, classes_out_of_range);
    tcase_add_test(tc, hold_out);
    tcase_add_test(tc, hold_out_leaves_none);
    tcase_add_test(tc, order);
    tcase_add_test(tc, order_is_uniform);
    tcase_add_test(tc, gather);
    tcase_add_test(tc, gather_tails);
    tcase_add_test(tc, gather_values);
    tcase_add_test(tc, synthetic);
    tcase_add_test(tc, synthetic_values);
    tcase_add_test(tc, synthetic_uniform);
    tcase_add_test(tc, synthetic_refused);
}

int main(void)
{
    return data_kit_run("dataset", add);
}
