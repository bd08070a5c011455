/* test_vec_columns.c: the functions of kern_vec over columns and rows of tiles, every row of the
 * table against plain loops in FP64. */
#include "config.h"

#include "base/cpu.h"
#include "base/diag.h"
#include "kern/kern_vec.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, N_SHAPES = 7 };

static const struct {
    int64_t rows, cols;
} shapes[N_SHAPES] = {{1, 1}, {5, 3}, {7, 16}, {3, 17}, {32, 32}, {2, 100}, {1, 1000}};

static float x[MOST], dy[MOST], out[MOST], more[MOST];
static float mean[MOST], factor[MOST], offset[MOST], of_x[MOST];

static void fill(void)
{
    for (int i = 0; i < MOST; i++) {
        x[i] = sinf((float)i * 1.7F) + 0.25F;
        dy[i] = cosf((float)i * 0.9F);
        mean[i] = sinf((float)i) / 4;
        factor[i] = 1 + cosf((float)i) / 2;
        offset[i] = sinf((float)i * 3) / 2;
        of_x[i] = cosf((float)i * 2);
    }
}

static void near(double got, double want, double size)
{
    ck_assert_msg(fabs(got - want) <= size * 0x1p-22, "%.9g, not %.9g", got, want);
}

START_TEST(columns)
{
    const struct vec_row *v = kern_vec_row(_i / N_SHAPES);
    int64_t rows = shapes[_i % N_SHAPES].rows, cols = shapes[_i % N_SHAPES].cols;
    if (!v)
        return;
    float sum[MOST] = {0}, square[MOST] = {0}, part[MOST] = {0}, dot[MOST] = {0};
    float sum_relu[MOST] = {0}, dot_relu[MOST] = {0};
    const struct vec_column_norm norm = {mean, factor, offset};
    const struct vec_column_grad grad = {mean, factor, of_x, offset};
    v->column_moments(rows, cols, x, mean, sum, square);
    v->column_products(rows, cols, dy, x, mean, part, dot);
    v->column_products_relu(rows, cols, dy, x, &norm, sum_relu, dot_relu);
    for (int64_t c = 0; c < cols; c++) {
        double want[6] = {0}, size = 0;
        for (int64_t r = 0; r < rows; r++) {
            float d = x[r * cols + c] - mean[c];
            double g = (double)dy[r * cols + c];
            bool on = d * factor[c] + offset[c] > 0;
            want[0] += (double)d;
            want[1] += (double)d * (double)d;
            want[2] += g;
            want[3] += g * (double)d;
            want[4] += on ? g : 0;
            want[5] += on ? g * (double)d : 0;
            size += 4;
        }
        near((double)sum[c], want[0], size);
        near((double)square[c], want[1], size);
        near((double)part[c], want[2], size);
        near((double)dot[c], want[3], size);
        near((double)sum_relu[c], want[4], size);
        near((double)dot_relu[c], want[5], size);
    }
    v->column_affine(rows, cols, x, mean, factor, offset, out);
    v->column_grad(rows, cols, dy, x, &grad, more);
    for (int64_t i = 0; i < rows * cols; i++) {
        int64_t c = i % cols;
        double d = (double)(x[i] - mean[c]), f = (double)factor[c], o = (double)offset[c];
        near((double)out[i], d * f + o, 4);
        near((double)more[i], f * (double)dy[i] + ((double)of_x[c] * d + o), 8);
    }
    v->column_grad_relu(rows, cols, dy, x, &norm, &grad, more);
    for (int64_t i = 0; i < rows * cols; i++) {
        int64_t c = i % cols;
        float d = x[i] - mean[c];
        double g = d * factor[c] + offset[c] > 0 ? (double)dy[i] : 0;
        double want = (double)factor[c] * g + ((double)of_x[c] * (double)d + (double)offset[c]);
        near((double)more[i], want, 8);
    }
}
END_TEST

START_TEST(pictures)
{
    const struct vec_row *v = kern_vec_row(_i / N_SHAPES);
    int64_t rows = shapes[_i % N_SHAPES].rows, cols = shapes[_i % N_SHAPES].cols;
    int64_t step = cols + 3;
    if (!v || rows * step > MOST)
        return;
    static float top[MOST], left[MOST], dx[MOST], sum[MOST], wide[MOST];
    for (int64_t i = 0; i < MOST; i++) {
        bool used = i < rows * cols;
        top[i] = i % 3 || !used ? dy[i] : x[i / cols * step + i % cols]; /* some are the largest */
        left[i] = (float)i;
        dx[i] = wide[i] = 1;
        sum[i] = 2;
    }
    float was[MOST];
    memcpy(was, top, sizeof(was));
    v->rows_max(rows, cols, step, x, top);
    v->rows_add(rows, cols, step, x, sum);
    v->rows_spread(rows, cols, step, dy, wide);
    v->rows_max_grad(rows, cols, step, x, was, left, dx);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < step; c++) {
            int64_t from = r * step + c, to = r * cols + c;
            if (c >= cols) { /* between the pixels nothing happens */
                ck_assert(dx[from] == 1 && wide[from] == 1);
                continue;
            }
            bool hit = x[from] == was[to];
            ck_assert(top[to] == (x[from] > was[to] ? x[from] : was[to]));
            ck_assert(sum[to] == 2 + x[from] && wide[from] == 1 + dy[to]);
            ck_assert(dx[from] == (hit ? 1 + (float)to : 1) && left[to] == (hit ? 0 : (float)to));
        }
}
END_TEST

START_TEST(products)
{
    const struct vec_row *v = kern_vec_row(_i / N_SHAPES);
    int64_t rows = shapes[_i % N_SHAPES].rows, cols = shapes[_i % N_SHAPES].cols;
    int64_t step = cols + 3;
    if (!v || rows * step > MOST)
        return;
    static float sum[MOST], wide[MOST], dot[MOST];
    for (int64_t i = 0; i < MOST; i++)
        sum[i] = wide[i] = dot[i] = 1;
    v->rows_fma(rows, cols, step, x, factor, sum);
    v->rows_spread_fma(rows, cols, step, dy, factor, wide);
    v->rows_dot(rows, cols, step, x, dy, dot);
    for (int64_t c = 0; c < cols; c++) {
        double want = 1;
        for (int64_t r = 0; r < rows; r++) {
            int64_t from = r * step + c, to = r * cols + c;
            near((double)sum[to], 1 + (double)x[from] * (double)factor[c], 4);
            near((double)wide[from], 1 + (double)dy[to] * (double)factor[c], 4);
            want += (double)x[from] * (double)dy[to];
        }
        near((double)dot[c], want, 2 * (double)(rows + 1));
    }
}
END_TEST

START_TEST(nan_is_the_largest)
{
    const struct vec_row *v = kern_vec_row(_i);
    float a[4] = {NAN, 1, -1, NAN}, top[4] = {5, NAN, 2, NAN};
    if (!v)
        return;
    v->rows_max(1, 4, 4, a, top);
    ck_assert(isnan(top[0]) && isnan(top[1]) && top[2] == 2 && isnan(top[3]));
}
END_TEST

START_TEST(copies)
{
    static const size_t lengths[] = {2, 4, 6, 8, 16, 22, 62, 64, 66, 128, 190};
    const struct vec_row *v = kern_vec_row(_i);
    char from[2048], to[2048];
    for (size_t i = 0; v && i < COUNT_OF(lengths); i++) {
        size_t n = lengths[i];
        for (size_t k = 0; k < sizeof(from); k++)
            from[k] = (char)(k * 7);
        memset(to, 0x5A, sizeof(to));
        v->rows_copy(4, n, to, n + 3, from + 1, n + 10);
        for (size_t k = 0; k < 4 * (n + 3); k++) {
            size_t r = k / (n + 3), c = k % (n + 3);
            ck_assert(to[k] == (c < n ? from[1 + r * (n + 10) + c] : 0x5A));
        }
    }
}
END_TEST

static void setup(void)
{
    struct diag d;
    diag_init(&d);
    ck_assert_int_eq(cpu_init(NULL, &d), RC_OK);
    fill();
}

int main(void)
{
    enum { MOST_ROWS = 4 };
    Suite *s = suite_create("vec_columns");
    TCase *c = tcase_create("all");
    tcase_add_checked_fixture(c, setup, NULL);
    tcase_add_loop_test(c, columns, 0, MOST_ROWS * N_SHAPES);
    tcase_add_loop_test(c, pictures, 0, MOST_ROWS * N_SHAPES);
    tcase_add_loop_test(c, products, 0, MOST_ROWS * N_SHAPES);
    tcase_add_loop_test(c, nan_is_the_largest, 0, MOST_ROWS);
    tcase_add_loop_test(c, copies, 0, MOST_ROWS);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
