/* test_vec.c: every row of kern_vec against FP64 libm. Errors are counted in units in the last
 * place of the exact value (2^-149 for subnormals), over FP32 patterns spread over the whole line
 * and dense where a function changes its form. */
#include "config.h"

#include "kern/kern_vec.h"

#include "base/cpu.h"
#include "base/half.h"
#include "vec_exact.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 1024 };

static void setup(void)
{
    static struct diag d;
    diag_init(&d);
    ck_assert_int_eq(cpu_init(NULL, &d), RC_OK);
}

/* One unit in the last place of an FP32 number of this size. */
static double ulp_of(double size)
{
    if (size < 0x1p-126)
        return 0x1p-149;
    if (size >= 0x1p128)
        return 0x1p104;
    return ldexp(1.0, ilogb(size) - 23);
}

struct unary {
    const char *name;
    double bound; /* ulp */
    /* further units of 2^-149: where exp is subnormal, its rounding is multiplied by about x */
    double below;
    double (*exact)(double x);
    double (*scale)(double x); /* whose ulp counts; NULL: the exact value's own */
    void (*run)(const struct vec_row *row, int64_t n, const float *x, float *out);
};

static float ones[TILE];

#define RUN(name, call)                                                                            \
    static void name(const struct vec_row *row, int64_t n, const float *x, float *out)             \
    {                                                                                              \
        call;                                                                                      \
    }
RUN(run_exp, row->exp(n, x, out))
RUN(run_log, row->log(n, x, out))
RUN(run_tanh, row->tanh(n, x, out))
RUN(run_sigmoid, row->sigmoid(n, x, out))
RUN(run_relu, row->relu(n, x, out))
RUN(run_leaky, row->leaky_relu(n, x, 0.125f, out))
RUN(run_gelu, row->gelu(n, x, out))
RUN(run_gelu_tanh, row->gelu_tanh(n, x, out))
RUN(run_silu, row->silu(n, x, out))
RUN(run_gelu_grad, row->gelu_grad(n, x, ones, out))
RUN(run_gelu_tanh_grad, row->gelu_tanh_grad(n, x, ones, out))
RUN(run_silu_grad, row->silu_grad(n, x, ones, out))

static const struct unary unaries[] = {
    {"exp", 2, 0, exp, NULL, run_exp},
    {"log", 2, 0, log, NULL, run_log},
    {"tanh", 4, 0, tanh, NULL, run_tanh},
    {"sigmoid", 4, 0, vec_logistic, NULL, run_sigmoid},
    {"relu", 0, 0, vec_relu_exact, NULL, run_relu},
    {"leaky_relu", 0.5, 0, vec_leaky_exact, NULL, run_leaky},
    {"gelu", 6, 0, vec_gelu_exact, NULL, run_gelu},
    {"gelu_tanh", 6, 16, vec_gelu_tanh_exact, vec_gelu_tanh_scale, run_gelu_tanh},
    {"silu", 5, 110, vec_silu_exact, NULL, run_silu},
    {"gelu_grad", 6, 16, vec_gelu_slope, vec_gelu_slope_scale, run_gelu_grad},
    {"gelu_tanh_grad", 8, 256, vec_gelu_tanh_slope, vec_gelu_tanh_slope_scale, run_gelu_tanh_grad},
    {"silu_grad", 6, 110, vec_silu_slope, vec_silu_slope_scale, run_silu_grad},
};

struct worst {
    double error;
    float x, got;
};

/* NaN must be NaN, inf inf; the rest is an error in ulp. */
static double error_of(const struct unary *f, float x, float got)
{
    double right = f->exact((double)x);
    if (isnan(right) || isnan(x))
        return isnan(got) ? 0 : INFINITY;
    if (isnan(got))
        return INFINITY;
    if (isinf(got)) /* right only where the exact value rounds to inf, or nearly */
        return fabs(right) > 0x1.fffffcp127 && (right > 0) == (got > 0) ? 0 : INFINITY;
    if (isinf(right))
        return INFINITY;
    double scale = f->scale ? f->scale((double)x) : right;
    double excess = fabs((double)got - right) - f->below * 0x1p-149;
    return fmax(excess, 0) / ulp_of(fabs(scale));
}

static void check_tile(const struct unary *f, const struct vec_row *row, const float *x,
                       struct worst *w)
{
    float out[TILE];
    f->run(row, TILE, x, out);
    for (int i = 0; i < TILE; i++) {
        double e = error_of(f, x[i], out[i]);
        if (e > w->error)
            *w = (struct worst){e, x[i], out[i]};
    }
}

/* Patterns over the whole line, and uniform numbers where the functions bend. */
static void fill_tile(float *x, int tile)
{
    static const float spans[] = {0.7f, 2.0f, 8.0f, 20.0f, 110.0f};
    for (int i = 0; i < TILE; i++) {
        uint32_t at = (uint32_t)tile * TILE + (uint32_t)i;
        if (tile % 2 == 0)
            x[i] = half_bits_float(at * 16381u);
        else
            x[i] = spans[tile / 2 % 5] * ((float)(at * 2654435761u >> 8) * 0x1p-23f - 1.0f);
    }
}

START_TEST(errors)
{
    const struct unary *f = &unaries[_i];
    for (int i = 0; i < TILE; i++)
        ones[i] = 1.0f;
    for (int r = 0; kern_vec_row(r); r++) {
        struct worst w = {0, 0, 0};
        float x[TILE];
        for (int tile = 0; tile < 512; tile++) {
            fill_tile(x, tile);
            check_tile(f, kern_vec_row(r), x, &w);
        }
        printf("%-14s %-7s %.2f ulp at %a\n", f->name, kern_vec_row(r)->name, w.error, (double)w.x);
        ck_assert_msg(w.error <= f->bound, "%s of row %s: %.2f ulp at %a: %a, not %a", f->name,
                      kern_vec_row(r)->name, w.error, (double)w.x, (double)w.got,
                      f->exact((double)w.x));
    }
}
END_TEST

/* Edge values of every function: name, x, exact result by its bits (any NaN for 7FC00000). */
START_TEST(edges)
{
    static const struct {
        int f;
        uint32_t x, right;
    } cases[] = {
        {0, 0x00000000, 0x3F800000},  {0, 0x80000000, 0x3F800000}, /* exp: 0, -0 */
        {0, 0x7F800000, 0x7F800000},  {0, 0xFF800000, 0x00000000}, /* inf, -inf */
        {0, 0x7FC00000, 0x7FC00000},  {0, 0x7F7FFFFF, 0x7F800000}, /* NaN, largest */
        {0, 0xFF7FFFFF, 0x00000000},  {0, 0xC2D20000, 0x00000000}, /* -105 */
        {0, 0x42B20000, 0x7F800000},  {0, 0x00000001, 0x3F800000}, /* 89, smallest */
        {1, 0x3F800000, 0x00000000},  {1, 0x00000000, 0xFF800000}, /* log: 1, 0 */
        {1, 0x80000000, 0xFF800000},  {1, 0x7F800000, 0x7F800000}, /* -0, inf */
        {1, 0xBF800000, 0x7FC00000},  {1, 0xFF800000, 0x7FC00000}, /* -1, -inf */
        {1, 0x7FC00000, 0x7FC00000},  {1, 0x80000001, 0x7FC00000}, /* NaN, -smallest */
        {2, 0x00000000, 0x00000000},  {2, 0x80000000, 0x80000000}, /* tanh: 0, -0 */
        {2, 0x7F800000, 0x3F800000},  {2, 0xFF800000, 0xBF800000}, /* inf, -inf */
        {2, 0x7FC00000, 0x7FC00000},  {2, 0x00000001, 0x00000001}, /* NaN, smallest */
        {2, 0x80000003, 0x80000003},  {2, 0x33000000, 0x33000000}, /* 2^-25 is its own */
        {3, 0x00000000, 0x3F000000},  {3, 0x7F800000, 0x3F800000}, /* sigmoid: 0, inf */
        {3, 0xFF800000, 0x00000000},  {3, 0x7FC00000, 0x7FC00000}, /* -inf, NaN */
        {4, 0x80000000, 0x00000000},  {4, 0xFF800000, 0x00000000}, /* relu: -0, -inf */
        {4, 0x7F800000, 0x7F800000},  {4, 0x7FC00000, 0x7FC00000}, /* inf, NaN */
        {4, 0x00000001, 0x00000001},  {5, 0xFF800000, 0xFF800000}, /* leaky_relu: -inf */
        {5, 0x7FC00000, 0x7FC00000},  {5, 0x80000008, 0x80000001}, /* NaN, -2^-146 */
        {6, 0x00000000, 0x00000000},  {6, 0x7F800000, 0x7F800000}, /* gelu: 0, inf */
        {6, 0xFF800000, 0x80000000},  {6, 0x7FC00000, 0x7FC00000}, /* -inf, NaN */
        {6, 0xFF7FFFFF, 0x80000000},  {6, 0x7F7FFFFF, 0x7F7FFFFF}, /* +-largest */
        {7, 0x00000000, 0x00000000},  {7, 0x7F800000, 0x7F800000}, /* gelu_tanh */
        {7, 0xFF800000, 0x80000000},  {7, 0x7FC00000, 0x7FC00000},
        {7, 0xFF7FFFFF, 0x80000000},  {7, 0x7F7FFFFF, 0x7F7FFFFF},
        {8, 0x00000000, 0x00000000},  {8, 0x7F800000, 0x7F800000}, /* silu */
        {8, 0xFF800000, 0x80000000},  {8, 0x7FC00000, 0x7FC00000},
        {8, 0xFF7FFFFF, 0x80000000},  {8, 0x7F7FFFFF, 0x7F7FFFFF},
        {9, 0x7F800000, 0x3F800000},  {9, 0xFF800000, 0x80000000},  /* gelu_grad */
        {9, 0x7FC00000, 0x7FC00000},  {10, 0x7F800000, 0x3F800000}, /* gelu_tanh_grad */
        {10, 0xFF800000, 0x80000000}, {10, 0x7FC00000, 0x7FC00000},
        {11, 0x7F800000, 0x3F800000}, {11, 0xFF800000, 0x80000000}, /* silu_grad */
        {11, 0x7FC00000, 0x7FC00000}, {11, 0x00000000, 0x3F000000},
    };
    for (int i = 0; i < TILE; i++)
        ones[i] = 1.0f;
    for (int r = 0; kern_vec_row(r); r++)
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            float x[37], out[37]; /* whole vectors and a tail */
            for (int j = 0; j < 37; j++)
                x[j] = half_bits_float(cases[i].x);
            unaries[cases[i].f].run(kern_vec_row(r), 37, x, out);
            for (int j = 0; j < 37; j++) {
                bool right = cases[i].right == 0x7FC00000
                                 ? isnan(out[j])
                                 : half_float_bits(out[j]) == cases[i].right;
                ck_assert_msg(right, "%s of row %s at %08x: %08x, not %08x",
                              unaries[cases[i].f].name, kern_vec_row(r)->name, cases[i].x,
                              half_float_bits(out[j]), cases[i].right);
            }
        }
}
END_TEST

/* Any length and alignment, in place too; nothing behind the end is touched. */
START_TEST(tails_and_places)
{
    enum { MOST = 67 };
    float x[MOST + 5], out[MOST + 5], own[MOST + 5];
    for (int i = 0; i < TILE; i++)
        ones[i] = 1.0f;
    for (size_t f = 0; f < COUNT_OF(unaries); f++)
        for (int r = 0; kern_vec_row(r); r++)
            for (int n = 0; n <= MOST; n++) {
                int shift = n % 4;
                for (int i = 0; i < MOST + 5; i++) {
                    x[i] = own[i] = 0.25f * (float)(i + 1);
                    out[i] = -77.0f;
                }
                unaries[f].run(kern_vec_row(r), n, x + shift, out + shift);
                unaries[f].run(kern_vec_row(r), n, own + shift, own + shift);
                for (int i = 0; i < MOST + 5; i++) {
                    bool in = i >= shift && i < shift + n;
                    ck_assert(in ? error_of(&unaries[f], x[i], out[i]) <= unaries[f].bound
                                 : out[i] == -77.0f);
                    ck_assert(in ? error_of(&unaries[f], x[i], own[i]) <= unaries[f].bound
                                 : own[i] == x[i]);
                }
            }
}
END_TEST

START_TEST(output_gradients)
{
    enum { N = 100 };
    float y[N], dy[N], out[N];
    for (int i = 0; i < N; i++) {
        y[i] = (float)(i - 50) / 50.0f;
        dy[i] = (float)(i % 7) - 3.5f;
    }
    y[50] = -0.0f;
    y[99] = NAN;
    for (int r = 0; kern_vec_row(r); r++) {
        const struct vec_row *row = kern_vec_row(r);
        row->tanh_grad(N, y, dy, out);
        for (int i = 0; i < 99; i++) {
            double right = (double)dy[i] * (1.0 - (double)y[i] * (double)y[i]);
            ck_assert(fabs((double)out[i] - right) <= 2.5 * ulp_of(fabs(right)));
        }
        ck_assert(isnan(out[99]));
        row->sigmoid_grad(N, y, dy, out);
        for (int i = 0; i < 99; i++) {
            double right = (double)dy[i] * (double)y[i] * (1.0 - (double)y[i]);
            ck_assert(fabs((double)out[i] - right) <= 2.5 * ulp_of(fabs(right)));
        }
        ck_assert(isnan(out[99]));
        row->relu_grad(N, y, dy, out);
        for (int i = 0; i < 99; i++)
            ck_assert(out[i] == (y[i] > 0.0f ? dy[i] : 0.0f));
        row->leaky_relu_grad(N, y, dy, 0.25f, out);
        for (int i = 0; i < 99; i++)
            ck_assert(out[i] == (y[i] > 0.0f ? dy[i] : 0.25f * dy[i]));
        row->gelu_grad(N, y, dy, dy); /* in place; a second factor */
        for (int i = 0; i < 99; i++) {
            double factor = (double)(float)(i % 7) - 3.5, x = (double)y[i];
            double scale = fabs(factor) * vec_gelu_slope_scale(x);
            ck_assert(fabs((double)dy[i] - factor * vec_gelu_slope(x)) <= 7 * ulp_of(scale));
            dy[i] = (float)factor;
        }
        dy[99] = 99 % 7 - 3.5f;
    }
}
END_TEST

START_TEST(arithmetic)
{
    enum { N = 45 };
    float x[N], y[N], out[N], z[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i - 20);
        y[i] = (float)(i * i % 31);
    }
    for (int r = 0; kern_vec_row(r); r++) {
        const struct vec_row *row = kern_vec_row(r);
        row->add(N, x, y, out);
        row->mul(N, x, y, z);
        for (int i = 0; i < N; i++)
            ck_assert(out[i] == x[i] + y[i] && z[i] == x[i] * y[i]);
        row->scale(N, x, 0.5f, out);
        memcpy(z, y, sizeof(z));
        row->axpy(N, 3.0f, x, z);
        for (int i = 0; i < N; i++)
            ck_assert(out[i] == 0.5f * x[i] && z[i] == y[i] + 3.0f * x[i]);
        memcpy(z, x, sizeof(z));
        row->add(N, z, z, z);
        for (int i = 0; i < N; i++)
            ck_assert(z[i] == 2.0f * x[i]);
    }
}
END_TEST

START_TEST(sums)
{
    enum { N = 5000 };
    static float x[N], y[N];
    for (int r = 0; kern_vec_row(r); r++) {
        const struct vec_row *row = kern_vec_row(r);
        ck_assert(row->sum(0, x) == 0.0 && row->dot(0, x, y) == 0.0);
        ck_assert(row->square_sum(0, x) == 0.0);
        for (int n = 1; n <= 140; n++) { /* integers: exact */
            double sum = 0, dot = 0;
            for (int i = 0; i < n; i++) {
                x[i] = (float)(i * 7 % 23 - 9);
                y[i] = (float)(i * 5 % 19 - 11);
                sum += (double)x[i];
                dot += (double)x[i] * (double)y[i];
            }
            x[n] = y[n] = NAN; /* behind the end */
            ck_assert(row->sum(n, x) == sum);
            ck_assert(row->dot(n, x, y) == dot);
            ck_assert(row->square_sum(n, x) == row->dot(n, x, x));
        }
        double sum = 0, dot = 0, size = 0;
        for (int i = 0; i < N; i++) {
            x[i] = (float)((uint32_t)i * 2654435761u >> 8) * 0x1p-24f - 0.4f;
            y[i] = (float)((uint32_t)i * 2246822519u >> 8) * 0x1p-24f;
            sum += (double)x[i];
            dot += (double)x[i] * (double)y[i];
            size += fabs((double)x[i]);
        }
        /* each lane adds N/32 numbers in FP32, and a product is rounded once */
        double bound = size * 0x1p-24 * (N / 32 + 2);
        ck_assert(fabs(row->sum(N, x) - sum) <= bound);
        ck_assert(fabs(row->dot(N, x, y) - dot) <= bound);
        ck_assert(row->sum(N, x) == kern_vec_row(0)->sum(N, x)); /* one order on all rows */
        ck_assert(row->square_sum(N, x) == kern_vec_row(0)->square_sum(N, x));
        for (int i = 0; i < N; i++)
            x[i] = 1.0f;
        ck_assert(row->sum(N, x) == 5000.0 && row->dot(N, x, x) == 5000.0);
        x[7] = FLT_MAX;
        ck_assert(row->square_sum(N, x) == (double)FLT_MAX * (double)FLT_MAX);
        x[7] = 1.0f;
        x[N - 1] = INFINITY;
        ck_assert(isinf(row->sum(N, x)) && isinf(row->square_sum(N, x)));
        x[3] = -INFINITY;
        ck_assert(isnan(row->sum(N, x)));
    }
}
END_TEST

START_TEST(maxima)
{
    float x[50];
    for (int r = 0; kern_vec_row(r); r++) {
        const struct vec_row *row = kern_vec_row(r);
        ck_assert(row->max(0, x) == -INFINITY && row->max_abs(0, x) == 0.0f);
        for (int n = 1; n <= 50; n++)
            for (int at = 0; at < n; at++) {
                for (int i = 0; i < n; i++)
                    x[i] = -2.0f - (float)i;
                x[at] = -1.0f;
                ck_assert(row->max(n, x) == -1.0f);
                float most = at == n - 1 ? n == 1 ? 1.0f : (float)n : (float)(n + 1);
                ck_assert(row->max_abs(n, x) == most);
                x[at] = 3.0f;
                ck_assert(row->max(n, x) == 3.0f);
                x[at] = INFINITY;
                ck_assert(row->max(n, x) == INFINITY);
                x[at] = -INFINITY;
                ck_assert(row->max(n, x) == (n == 1 ? -INFINITY : at == 0 ? -3.0f : -2.0f));
                ck_assert(row->max_abs(n, x) == INFINITY);
                x[at] = half_bits_float(at % 2 ? 0xFFC00000u : 0x7F800001u);
                ck_assert(isnan(row->max(n, x)) && isnan(row->max_abs(n, x)));
            }
        float zeros[] = {-0.0f, 0.0f, -0.0f};
        ck_assert(!signbit(row->max(3, zeros)));
        x[0] = -0x1p-149f;
        ck_assert(row->max(1, x) == -0x1p-149f && row->max_abs(1, x) == 0x1p-149f);
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
        ck_assert_str_eq(kern_vec()->name, right);
    }
    ck_assert_int_eq(cpu_init("scalar", &d), RC_OK);
    ck_assert_ptr_null(kern_vec_row(1));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vec");
    TCase *t = tcase_create("vec");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, errors, 0, (int)COUNT_OF(unaries));
    tcase_add_test(t, edges);
    tcase_add_test(t, tails_and_places);
    tcase_add_test(t, output_gradients);
    tcase_add_test(t, arithmetic);
    tcase_add_test(t, sums);
    tcase_add_test(t, maxima);
    tcase_add_test(t, rows_follow_the_cap);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
