/* test_losses.c: losses, bias gradients and dropout against exact values: public bug reports retold
 * (B04 sums in half, B08 unstable softmax, B09 ignored labels, B10 labels out of range, B16 and B33
 * means of means) and the first steps of an overflow worked out by hand. */
#include "config.h"

#include "../op/harness.h"
#include "base/cpu.h"
#include "base/par.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A loss over (rows, columns) predictions, all given. */
static void loss_init(struct harness *h, enum op_id op, const char *attrs, enum dtype dtype,
                      int64_t rows, int64_t columns, const float *x)
{
    struct op_case c = {attrs, 1, {{2, {rows, columns}}}, 0};
    enum rc rc = harness_init(h, op_get(op), &c, dtype, dtype, 0);
    diag_print(&h->diag, 0, stderr);
    ck_assert_int_eq(rc, RC_OK);
    for (int64_t i = 0; i < rows * columns; i++)
        harness_set(h, harness_node(h)->in[0], i, x[i]);
}

static void *targets(struct harness *h)
{
    return graph_tensor(&h->graph, harness_node(h)->in[1])->data;
}

static float d_x(const struct harness *h, int64_t i)
{
    return harness_get(h, harness_grad(h, harness_node(h)->in[0]), i);
}

static double cross_entropy(const char *attrs, enum dtype dtype, int64_t classes, const float *x,
                            int32_t label, double *grad_sum)
{
    struct harness h;
    loss_init(&h, OP_cross_entropy, attrs, dtype, 1, classes, x);
    *(int32_t *)targets(&h) = label;
    h.run.loss_seed = 1;
    harness_forward(&h, 1);
    harness_backward(&h, 1);
    *grad_sum = 0;
    for (int64_t i = 0; i < classes; i++)
        *grad_sum += (double)d_x(&h, i);
    double loss = h.loss.sum;
    ck_assert_int_eq(h.loss.count, 1);
    harness_release(&h);
    return loss;
}

/* B08. In half too: the logits are exact there, and the loss is FP32 inside. */
START_TEST(large_logits)
{
    static const struct {
        int64_t classes;
        float x[3];
        int32_t label;
        double loss;
    } rows[] = {
        {3, {12, 0, -12}, 1, 12.000006144231229},
        {3, {12, 0, -12}, 0, 6.1442312288462975e-06},
        {2, {1000, 0}, 1, 1000},
        {2, {1000, 0}, 0, 0},
        {2, {0, 200}, 0, 200},
    };
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t t = 0; t < COUNT_OF(dtypes); t++) {
            double sum;
            double loss =
                cross_entropy(NULL, dtypes[t], rows[i].classes, rows[i].x, rows[i].label, &sum);
            /* exp to 2 ulp of FP32 in what the largest logit leaves, and no more */
            ck_assert_double_le(fabs(loss - rows[i].loss), 0x1p-21 * 6.2e-6 + 1e-13);
            ck_assert(isfinite(sum));
            ck_assert_double_le(fabs(sum), dtypes[t] == DTYPE_F32 ? 0x1p-22 : 0x1p-7);
        }
}
END_TEST

/* The gradient of a confident, right answer keeps its digits: 1 - p = rest/(1 + rest). */
START_TEST(small_gradients_keep_their_digits)
{
    struct harness h;
    const float x[] = {20, 0};
    loss_init(&h, OP_cross_entropy, NULL, DTYPE_F32, 1, 2, x);
    *(int32_t *)targets(&h) = 0;
    h.run.loss_seed = 65536;
    harness_forward(&h, 1);
    harness_backward(&h, 1);
    double want = 65536 * exp(-20) / (1 + exp(-20));
    ck_assert_double_le(fabs((double)d_x(&h, 0) + want), 0x1p-21 * want);
    ck_assert_double_le(fabs((double)d_x(&h, 1) - want), 0x1p-21 * want);
    harness_release(&h);
}
END_TEST

/* log softmax with smoothing s: (1-s) nll + s mean of all nll; logits 1, 2, 4, label 2, s 0.3 */
START_TEST(label_smoothing)
{
    const float x[] = {1, 2, 4};
    double lse = log(exp(1) + exp(2) + exp(4)), sum;
    double want = 0.7 * (lse - 4) + 0.3 * (lse - 7.0 / 3);
    double loss = cross_entropy("{label_smoothing: 0.3}", DTYPE_F32, 3, x, 2, &sum);
    ck_assert_double_le(fabs(loss - want), 0x1p-21);
    ck_assert_double_le(fabs(sum), 0x1p-22);
}
END_TEST

/* B09 */
START_TEST(ignored_labels)
{
    struct harness h;
    float x[8 * 3];
    for (int i = 0; i < 24; i++)
        x[i] = (float)(i % 5);
    loss_init(&h, OP_cross_entropy, "{ignore_label: 255}", DTYPE_F32, 8, 3, x);
    int32_t *labels = targets(&h);
    for (int i = 0; i < 8; i++)
        labels[i] = 255;
    const struct node *n = harness_node(&h);
    ck_assert_int_eq(n->op->count(&h.graph, n, labels, 8), 0);
    ck_assert_int_eq(n->op->ignored_label(n), 255);
    harness_forward(&h, 8);
    harness_backward(&h, 8);
    ck_assert(h.loss.sum == 0 && h.loss.count == 0 && h.loss.correct == 0);
    for (int i = 0; i < 24; i++)
        ck_assert(d_x(&h, i) == 0);

    labels[5] = 1;
    ck_assert_int_eq(n->op->count(&h.graph, n, labels, 8), 1);
    ck_assert_int_eq(n->op->count(&h.graph, n, labels, 5), 0);
    harness_forward(&h, 8);
    harness_backward(&h, 8);
    ck_assert_int_eq(h.loss.count, 1);
    /* row 5 is 0, 1, 2: loss log(1 + e + e^2) - 1 */
    ck_assert_double_le(fabs(h.loss.sum - (log(1 + exp(1) + exp(2)) - 1)), 0x1p-21);
    for (int i = 0; i < 24; i++)
        ck_assert((d_x(&h, i) == 0) == (i / 3 != 5));
    harness_release(&h);
}
END_TEST

/* B10: the data is refused before step 1; should one slip through, nothing outside is read, and the
 * loss says so. A sanitizer build sees the read. */
START_TEST(label_outside)
{
    static const int32_t labels[] = {-1, 3, INT32_MAX, INT32_MIN};
    const float x[] = {1, 2, 3};
    for (size_t i = 0; i < COUNT_OF(labels); i++) {
        double sum;
        ck_assert(isnan(cross_entropy(NULL, DTYPE_F32, 3, x, labels[i], &sum)));
    }
}
END_TEST

START_TEST(accuracy)
{
    const float x[] = {0,  1,   1,   /* a tie goes to 1 */
                       3,  2,   1,   /* 0 */
                       1,  NAN, 2,   /* none */
                       -1, -2,  -3}; /* 0 */
    struct harness h;
    loss_init(&h, OP_cross_entropy, NULL, DTYPE_F32, 4, 3, x);
    memcpy(targets(&h), (int32_t[]){2, 0, 2, 0}, 16);
    harness_forward(&h, 4);
    ck_assert_int_eq(h.loss.count, 4);
    ck_assert_int_eq(h.loss.correct, 2);
    ck_assert(isnan(h.loss.sum));
    memcpy(targets(&h), (int32_t[]){1, 0, 2, 0}, 16);
    harness_forward(&h, 2);
    ck_assert_int_eq(h.loss.correct, 2);
    ck_assert(isfinite(h.loss.sum));
    harness_release(&h);
}
END_TEST

/* A NaN far behind the largest logit: wrong all the same. More classes than a tile. */
START_TEST(late_nan)
{
    static float x[2000];
    struct harness h;
    x[0] = 5;
    x[1500] = NAN;
    loss_init(&h, OP_cross_entropy, NULL, DTYPE_F32, 1, 2000, x);
    *(int32_t *)targets(&h) = 0;
    harness_forward(&h, 1);
    harness_backward(&h, 1);
    ck_assert(isnan(h.loss.sum) && h.loss.correct == 0 && h.loss.count == 1);
    ck_assert(isnan(d_x(&h, 0)) && isnan(d_x(&h, 1999)));
    harness_release(&h);
}
END_TEST

/* More rows than one block of the sum: nothing is left out or counted twice. */
START_TEST(many_rows)
{
    enum { ROWS = 50001 };
    static float x[ROWS * 2];
    static const enum op_id losses[] = {OP_mse, OP_bce_with_logits, OP_cross_entropy};
    static const double each[] = {1, 1.3132616875182228, 0.31326168751822286};
    for (size_t i = 0; i < COUNT_OF(losses); i++) {
        bool labels = losses[i] == OP_cross_entropy;
        struct harness h;
        for (int k = 0; k < ROWS * 2; k++)
            x[k] = labels ? (float)(k % 2) : 1; /* logits 0, 1 */
        loss_init(&h, losses[i], NULL, DTYPE_F32, ROWS, labels ? 2 : 1, x);
        for (int k = 0; k < ROWS; k++)
            if (labels)
                ((int32_t *)targets(&h))[k] = 1;
            else
                ((float *)targets(&h))[k] = 0;
        harness_forward(&h, ROWS);
        ck_assert_int_eq(h.loss.count, ROWS);
        ck_assert_double_le(fabs(h.loss.sum - ROWS * each[i]), 4 * 0x1p-24 * ROWS * each[i]);
        ck_assert_int_eq(h.loss.correct, labels ? ROWS : 0);
        harness_release(&h);
    }
}
END_TEST

/* Lab A, at w = 1, x = 1, t = 0, scale 65536: the gradient is exactly 131072 in FP32 and inf in
 * FP16; halving the scale twice brings it back (65536 rounds to inf, 32768 is exact). */
START_TEST(overflow_on_demand)
{
    static const struct {
        double scale;
        float half;
    } steps[] = {{65536, INFINITY}, {32768, INFINITY}, {16384, 32768}};
    const float y[] = {1};
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        for (int half = 0; half < 2; half++) {
            struct harness h;
            loss_init(&h, OP_mse, NULL, half ? DTYPE_F16 : DTYPE_F32, 1, 1, y);
            *(float *)targets(&h) = 0;
            h.run.loss_seed = steps[i].scale;
            harness_forward(&h, 1);
            harness_backward(&h, 1);
            ck_assert(h.loss.sum == 1 && h.loss.count == 1);
            ck_assert(d_x(&h, 0) == (half ? steps[i].half : (float)(2 * steps[i].scale)));
            harness_release(&h);
        }
}
END_TEST

/* B16, B33: sums and counts add up over batches of any size; seeds carry the window's row count. */
START_TEST(sums_not_means)
{
    const float y[] = {1, 1, 1, 1, 1}, t[] = {0, 0, 0, 0, -2};
    for (int64_t batch = 1; batch <= 5; batch++) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t at = 0; at < 5; at += batch) {
            int64_t rows = 5 - at < batch ? 5 - at : batch;
            struct harness h;
            loss_init(&h, OP_mse, NULL, DTYPE_F32, rows, 1, y);
            memcpy(targets(&h), t + at, (size_t)rows * sizeof(*t));
            harness_forward(&h, rows);
            sum += h.loss.sum;
            count += h.loss.count;
            harness_release(&h);
        }
        ck_assert(sum / (double)count == 2.6);
    }
    /* micro-batches of 3 and 1, scale 1024: 2 (y - t) 1024/4 */
    const float y4[] = {1, 1, 1, 1}, t4[] = {0.5F, 0.5F, 0.5F, -1.5F};
    struct harness h;
    loss_init(&h, OP_mse, NULL, DTYPE_F16, 4, 1, y4);
    memcpy(targets(&h), t4, sizeof(t4));
    h.run.loss_seed = 1024.0 / 4;
    harness_forward(&h, 4);
    harness_backward(&h, 4);
    ck_assert(h.loss.sum / (double)h.loss.count == 1.75);
    ck_assert(d_x(&h, 0) == 256 && d_x(&h, 3) == 1280);
    harness_release(&h);
}
END_TEST

/* A finite prediction has a finite loss, even where its square does not fit FP32. */
START_TEST(large_errors)
{
    const float y[] = {-2e38F};
    struct harness h;
    loss_init(&h, OP_mse, NULL, DTYPE_F32, 1, 1, y);
    *(float *)targets(&h) = 0;
    h.run.loss_seed = 1;
    harness_forward(&h, 1);
    harness_backward(&h, 1);
    ck_assert(h.loss.sum == (double)y[0] * (double)y[0]);
    ck_assert(isinf(d_x(&h, 0)));
    harness_release(&h);
}
END_TEST

START_TEST(binary_cross_entropy)
{
    static const struct {
        float x, t;
        int64_t correct;
    } rows[] = {{0, 0, 1},      {0, 1, 0},           {2, 1, 1},     {2, 0, 0},
                {-3, 0.25F, 1}, {40, 1, 1},          {40, 0, 0},    {-1000, 1, 0},
                {1000, 1, 1},   {-0.001F, 0.75F, 0}, {1e-6F, 1, 1}, {17, 0.5F, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct harness h;
        double x = (double)rows[i].x, t = (double)rows[i].t;
        loss_init(&h, OP_bce_with_logits, NULL, DTYPE_F32, 1, 1, &rows[i].x);
        *(float *)targets(&h) = rows[i].t;
        h.run.loss_seed = 1;
        harness_forward(&h, 1);
        harness_backward(&h, 1);
        double loss = log1p(exp(-fabs(x))) + (x > 0 ? (1 - t) * x : -t * x);
        double q = exp(-fabs(x)) / (1 + exp(-fabs(x))), g = x > 0 ? 1 - t - q : q - t;
        ck_assert_double_le(fabs(h.loss.sum - loss), 8 * 0x1p-24 * loss);
        ck_assert_double_le(fabs((double)d_x(&h, 0) - g), 8 * 0x1p-24 * fabs(g));
        ck_assert_int_eq(h.loss.correct, rows[i].correct);
        harness_release(&h);
    }
}
END_TEST

/* B04: gradient of a bias over 4096 rows of 1.0, in every dtype. */
START_TEST(long_sums)
{
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16};
    static float rows[4096 * 300];
    static uint16_t half[4096 * 300];
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        rows[i] = 1;
    for (size_t t = 0; t < COUNT_OF(dtypes); t++)
        for (int64_t columns = 1; columns <= 300; columns += 299) {
            struct view x = {rows, DTYPE_F32};
            if (dtypes[t] != DTYPE_F32) {
                kern_cast(dtypes[t], half, DTYPE_F32, rows, 4096 * columns);
                x = (struct view){half, dtypes[t]};
            }
            float sum[300];
            op_column_sum(x, 4096, columns, sum, false);
            op_column_sum(x, 4096, columns, sum, true);
            for (int64_t c = 0; c < columns; c++)
                ck_assert(sum[c] == 8192);
        }
    /* 70,000 rows: below no width of FP16 or FP32 sum is anything lost */
    op_column_sum((struct view){rows, DTYPE_F32}, 70000, 1, rows + 80000, false);
    ck_assert(rows[80000] == 70000);
}
END_TEST

/* Sums of columns of all widths against FP64, and the same bits on all threads. */
START_TEST(column_sums)
{
    static const int64_t shapes[][2] = {{1, 1},    {65, 3},   {7, 255},   {700, 256},
                                        {70, 257}, {9000, 5}, {130, 1025}};
    static float x[9000 * 5 > 130 * 1025 ? 9000 * 5 : 700 * 256];
    rng_uniform(rng_key(1, RNG_SYNTHETIC, 0, 0), 0, (int64_t)COUNT_OF(x), x);
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        int64_t rows = shapes[s][0], columns = shapes[s][1];
        float one[1025], three[1025];
        struct view v = {x, DTYPE_F32};
        op_column_sum(v, rows, columns, one, false);
        par_set_threads(3);
        op_column_sum(v, rows, columns, three, false);
        par_set_threads(1);
        ck_assert_mem_eq(one, three, (size_t)columns * sizeof(float));
        for (int64_t c = 0; c < columns; c++) {
            double want = 0;
            for (int64_t r = 0; r < rows; r++)
                want += (double)x[r * columns + c];
            ck_assert_double_le(fabs((double)one[c] - want), 64 * 0x1p-24 * want);
        }
    }
}
END_TEST

START_TEST(dropout)
{
    struct op_case c = {"{p: 0.25}", 1, {{2, {100, 400}}}, 0};
    struct harness h, other;
    ck_assert_int_eq(harness_init(&h, op_get(OP_dropout), &c, DTYPE_F32, DTYPE_F32, 0), RC_OK);
    ck_assert_int_eq(harness_init(&other, op_get(OP_dropout), &c, DTYPE_F32, DTYPE_F32, 0), RC_OK);
    const struct node *n = harness_node(&h);
    harness_fill(&h, n->in[0], 3);
    harness_fill(&other, n->in[0], 3);
    harness_fill(&h, harness_grad(&h, n->out), 3);
    harness_forward(&h, 100);
    harness_backward(&h, 100);
    other.run.draw++;
    harness_forward(&other, 100);
    int kept = 0, differ = 0;
    for (int64_t i = 0; i < 40000; i++) {
        float y = harness_get(&h, n->out, i);
        ck_assert(y == 0 || y == 4);
        ck_assert(harness_get(&h, harness_grad(&h, n->in[0]), i) == y);
        kept += y == 4;
        differ += y != harness_get(&other, n->out, i);
    }
    /* 6 standard deviations of 40,000 draws: 6 sqrt(40000 p (1 - p)) */
    ck_assert_int_le(abs(kept - 30000), 520);
    ck_assert_int_le(abs(differ - 15000), 590); /* 2 p (1 - p); the next micro-batch draws anew */
    h.run.training = false;
    harness_forward(&h, 100);
    for (int64_t i = 0; i < 40000; i++)
        ck_assert(harness_get(&h, n->out, i) == 3);
    harness_release(&h);
    harness_release(&other);
}
END_TEST

int main(void)
{
    struct diag d;
    diag_init(&d);
    if (cpu_init(NULL, &d) != RC_OK) {
        diag_print(&d, 0, stderr);
        return 1;
    }
    Suite *s = suite_create("losses");
    TCase *t = tcase_create("all");
    tcase_add_test(t, large_logits);
    tcase_add_test(t, small_gradients_keep_their_digits);
    tcase_add_test(t, label_smoothing);
    tcase_add_test(t, ignored_labels);
    tcase_add_test(t, label_outside);
    tcase_add_test(t, accuracy);
    tcase_add_test(t, late_nan);
    tcase_add_test(t, many_rows);
    tcase_add_test(t, overflow_on_demand);
    tcase_add_test(t, sums_not_means);
    tcase_add_test(t, large_errors);
    tcase_add_test(t, binary_cross_entropy);
    tcase_add_test(t, long_sums);
    tcase_add_test(t, column_sums);
    tcase_add_test(t, dropout);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? 1 : 0;
}
