/* test_norms.c: exact values of normalisation: B07, B19, running statistics, and what a mean much
 * larger than the deviation does. */
#include "config.h"

#include "harness.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static struct harness h;

/* (rows, columns) of x through the op, FP32; params keep their usual start: 1 and 0. */
static struct node *start(enum op_id id, const char *attrs, int64_t rows, int64_t columns,
                          const float *x)
{
    struct op_case c = {attrs, 1, {{2, {rows, columns}}}, 0};
    ck_assert_int_eq(harness_init(&h, op_get(id), &c, DTYPE_F32, DTYPE_F32, 0), RC_OK);
    struct node *n = harness_node(&h);
    for (int64_t i = 0; i < rows * columns; i++)
        harness_set(&h, n->in[0], i, x[i]);
    for (int i = 0; i < n->n_params; i++)
        harness_fill(&h, n->param[i], i == 0 ? 1 : 0);
    return n;
}

static double out(int64_t i)
{
    return (double)harness_get(&h, harness_node(&h)->out, i);
}

/* B07: a batch 1, 2, 3, 4; running statistics from 0 and 1 with momentum 0.1, unbiased variance. */
START_TEST(batch_of_four)
{
    static const float x[] = {1, 2, 3, 4};
    struct node *n = start(OP_batchnorm, NULL, 4, 1, x);
    harness_forward(&h, 4);
    static const double want[] = {-1.3416354, -0.4472118, 0.4472118, 1.3416354};
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(out(i), want[i], 2e-7);
    ck_assert(harness_get(&h, n->staged[0], 0) == 0.25F);
    ck_assert(harness_get(&h, n->staged[1], 0) == (float)(0.9 + 0.1 * 5.0 / 3));
    ck_assert(harness_get(&h, n->statistic[0], 0) == 0 && harness_get(&h, n->statistic[1], 0) == 1);
    harness_release(&h);
}
END_TEST

/* B07: one value a channel has no variance: the running statistics serve, and stay. */
START_TEST(batch_of_one)
{
    static const float x[] = {5, -3};
    struct node *n = start(OP_batchnorm, NULL, 1, 2, x);
    harness_set(&h, n->statistic[0], 0, 1);
    harness_set(&h, n->statistic[1], 0, 4);
    for (int training = 0; training < 2; training++) {
        h.run.training = training;
        harness_forward(&h, 1);
        ck_assert_double_eq_tol(out(0), 4 / sqrt(4 + 1e-5), 1e-6);
        ck_assert_double_eq_tol(out(1), -3 / sqrt(1 + 1e-5), 1e-6);
    }
    ck_assert(harness_get(&h, n->staged[0], 0) == 0 && harness_get(&h, n->staged[1], 0) == 1);
    harness_fill(&h, harness_grad(&h, n->out), 1);
    harness_backward(&h, 1);
    ck_assert_double_eq_tol((double)harness_get(&h, harness_grad(&h, n->in[0]), 0),
                            1 / sqrt(4 + 1e-5), 1e-7);
    harness_release(&h);
}
END_TEST

/* 10^6 + {0, 1, 2, 3}: the squares need 40 bits and have 24. */
START_TEST(mean_beyond_deviation)
{
    static const float x[] = {1e6F, 1e6F + 1, 1e6F + 2, 1e6F + 3};
    static const double want[] = {-1.3416354, -0.4472118, 0.4472118, 1.3416354};
    static const enum op_id ops[] = {OP_batchnorm, OP_layernorm, OP_groupnorm};
    for (size_t k = 0; k < COUNT_OF(ops); k++) {
        bool by_row = ops[k] != OP_batchnorm;
        start(ops[k], ops[k] == OP_groupnorm ? "{groups: 1}" : NULL, by_row ? 1 : 4, by_row ? 4 : 1,
              x);
        harness_forward(&h, by_row ? 1 : 4);
        for (int i = 0; i < 4; i++)
            ck_assert_double_eq_tol(out(i), want[i], 3e-7);
        harness_release(&h);
    }
}
END_TEST

/* B19: rows without variance, and one whose squares overflow FP16, with an eps that is 0 there. */
START_TEST(layernorm_of_constant_rows)
{
    static const float x[] = {0, 0, 0, 0, 7, 7, 7, 7, 300, -300, 300, -300};
    static const enum dtype types[] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        struct op_case c = {"{eps: 1e-12}", 1, {{2, {3, 4}}}, 0};
        ck_assert_int_eq(harness_init(&h, op_get(OP_layernorm), &c, types[t], types[t], 0), RC_OK);
        struct node *n = harness_node(&h);
        for (int i = 0; i < 12; i++)
            harness_set(&h, n->in[0], i, x[i]);
        harness_fill(&h, n->param[0], 1);
        harness_fill(&h, n->param[1], 0.5F);
        harness_forward(&h, 3);
        for (int i = 0; i < 12; i++)
            ck_assert(out(i) == (i < 8 ? 0.5 : i % 2 ? -0.5 : 1.5));
        harness_release(&h);
    }
}
END_TEST

/* 3, 4 have the root mean square sqrt(12.5). */
START_TEST(rmsnorm_by_hand)
{
    static const float x[] = {3, 4};
    start(OP_rmsnorm, "{eps: 1e-12}", 1, 2, x);
    harness_forward(&h, 1);
    ck_assert_double_eq_tol(out(0), 3 / sqrt(12.5), 1e-7);
    ck_assert_double_eq_tol(out(1), 4 / sqrt(12.5), 1e-7);
    harness_release(&h);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("norms");
    TCase *c = tcase_create("all");
    tcase_add_test(c, batch_of_four);
    tcase_add_test(c, batch_of_one);
    tcase_add_test(c, mean_beyond_deviation);
    tcase_add_test(c, layernorm_of_constant_rows);
    tcase_add_test(c, rmsnorm_by_hand);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
