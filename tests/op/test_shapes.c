/* test_shapes.c: what shape() infers and refuses, how params start. */
#include "config.h"

#include "harness.h"
#include "op/init.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Runs shape() over inputs; NULL words: must work. The target of a loss has the shape that the
 * harness makes unless `target` changes it. */
static void refuses(enum op_id op, struct op_case c, const char *words)
{
    struct harness h;
    enum rc rc = harness_init(&h, op_get(op), &c, DTYPE_F32, DTYPE_F32, 0);
    if (!words) {
        ck_assert_int_eq(rc, RC_OK);
    } else {
        ck_assert_msg(rc == RC_CONFIG, "%s accepts %s", op_get(op)->name, c.attrs ? c.attrs : "");
        ck_assert_int_eq(h.diag.n_errors, 1);
        ck_assert_msg(strstr(h.diag.items[0].text, words) != NULL, "%s", h.diag.items[0].text);
    }
    harness_release(&h);
}

START_TEST(refused)
{
    refuses(OP_linear, (struct op_case){"{units: 0}", 1, {{2, {2, 3}}}, 0}, "units");
    refuses(OP_linear, (struct op_case){NULL, 1, {{2, {2, 3}}}, 0}, "units");
    refuses(OP_linear, (struct op_case){"{units: 3}", 1, {{1, {2}}}, 0}, "no features");
    refuses(OP_linear,
            (struct op_case){"{units: 3, init: zeros, init_scale: 1}", 1, {{2, {2, 3}}}, 0},
            "no effect");
    refuses(OP_linear, (struct op_case){"{units: 3, init_scale: -1}", 1, {{2, {2, 3}}}, 0},
            "negative");
    refuses(OP_linear,
            (struct op_case){"{units: 3, init: constant, init_scale: -1}", 1, {{2, {2, 3}}}, 0},
            NULL);
    refuses(OP_linear, (struct op_case){"{units: 1000000000}", 1, {{2, {1, 1100}}}, 0}, "2^40");
    refuses(OP_dropout, (struct op_case){"{p: 1}", 1, {{2, {2, 3}}}, 0}, "p");
    refuses(OP_add, (struct op_case){NULL, 2, {{2, {2, 3}}, {2, {2, 4}}}, 0}, "(B,4)");
    refuses(OP_add, (struct op_case){NULL, 2, {{2, {2, 3}}, {3, {2, 3, 1}}}, 0}, "(B,3,1)");
    refuses(OP_cross_entropy, (struct op_case){NULL, 1, {{2, {2, 1}}}, 0}, "bce_with_logits");
    refuses(OP_cross_entropy, (struct op_case){"{label_smoothing: 1}", 1, {{2, {2, 3}}}, 0},
            "label_smoothing");
    refuses(OP_leaky_relu, (struct op_case){"{slope: 2}", 1, {{2, {2, 3}}}, 0}, "slope");
}
END_TEST

/* Targets of another size than the predictions. */
START_TEST(target_sizes)
{
    static const enum op_id losses[] = {OP_cross_entropy, OP_mse, OP_bce_with_logits};
    for (size_t i = 0; i < COUNT_OF(losses); i++) {
        struct harness h;
        struct op_case c = {NULL, 1, {{2, {2, 3}}}, 0};
        ck_assert_int_eq(harness_init(&h, op_get(losses[i]), &c, DTYPE_F32, DTYPE_F32, 0), RC_OK);
        struct node *n = harness_node(&h);
        int64_t dims[] = {2, 4};
        n->in[1] = graph_add_tensor(&h.graph, "other", ROLE_INPUT, DTYPE_F32, true, 2, dims);
        ck_assert_int_eq(n->op->shape(&h.graph, n, &h.diag), RC_CONFIG);
        ck_assert_ptr_nonnull(strstr(h.diag.items[0].text, "4"));
        harness_release(&h);
    }
}
END_TEST

static void shape_is(enum op_id op, struct op_case c, const char *want)
{
    struct harness h;
    char text[TENSOR_SHAPE_ROOM];
    ck_assert_int_eq(harness_init(&h, op_get(op), &c, DTYPE_F32, DTYPE_F32, 0), RC_OK);
    ck_assert_str_eq(tensor_shape(text, graph_tensor(&h.graph, harness_node(&h)->out)), want);
    harness_release(&h);
}

START_TEST(inferred)
{
    shape_is(OP_linear, (struct op_case){"{units: 4}", 1, {{2, {2, 3}}}, 0}, "(B,4)");
    shape_is(OP_linear, (struct op_case){"{units: 4}", 1, {{4, {2, 5, 6, 3}}}, 0}, "(B,5,6,4)");
    shape_is(OP_flatten, (struct op_case){NULL, 1, {{4, {2, 5, 6, 3}}}, 0}, "(B,90)");
    shape_is(OP_flatten, (struct op_case){NULL, 1, {{1, {2}}}, 0}, "(B,1)");
    shape_is(OP_relu, (struct op_case){NULL, 1, {{3, {2, 5, 6}}}, 0}, "(B,5,6)");
    shape_is(OP_add, (struct op_case){NULL, 2, {{2, {2, 3}}, {2, {2, 3}}}, 0}, "(B,3)");
}
END_TEST

START_TEST(linear_params)
{
    struct harness h;
    struct op_case c = {"{units: 4}", 1, {{2, {2, 9}}}, 0};
    ck_assert_int_eq(harness_init(&h, op_get(OP_linear), &c, DTYPE_F32, DTYPE_F32, 0), RC_OK);
    const struct node *n = harness_node(&h);
    ck_assert_int_eq(n->n_params, 2);
    const struct tensor *w = graph_tensor(&h.graph, n->param[0]);
    const struct tensor *b = graph_tensor(&h.graph, n->param[1]);
    ck_assert_str_eq(w->name, "n.weight");
    ck_assert_str_eq(b->name, "n.bias");
    ck_assert(!w->no_decay && b->no_decay);
    ck_assert_int_eq(graph_tensor(&h.graph, w->grad)->role, ROLE_DPARAM);
    ck_assert(n->op->flops(&h.graph, n) == 2.0 * 2 * 9 * 4);
    harness_release(&h);
}
END_TEST

/* ---- init ---- */

enum { FAN_IN = 300, FAN_OUT = 200, N = FAN_IN * FAN_OUT };

static float *weights(const char *attrs, const char *name, uint64_t seed)
{
    struct harness h;
    struct op_case c = {attrs, 1, {{2, {1, FAN_IN}}}, 0};
    ck_assert_int_eq(harness_init(&h, op_get(OP_linear), &c, DTYPE_F32, DTYPE_F32, 0), RC_OK);
    struct tensor t = *graph_tensor(&h.graph, harness_node(&h)->param[0]);
    t.name = name;
    float *out = malloc(N * sizeof(*out));
    init_fill(&t, seed, out);
    harness_release(&h);
    return out;
}

/* Largest magnitude, and standard deviation, each within 2 %: 60,000 draws are good for 1 %. */
static void spread(const char *attrs, double bound, double deviation)
{
    float *w = weights(attrs, "fc.weight", 1);
    double max = 0, square = 0, sum = 0;
    for (int i = 0; i < N; i++) {
        max = fmax(max, fabs((double)w[i]));
        square += (double)w[i] * (double)w[i];
        sum += (double)w[i];
    }
    ck_assert_double_le(fabs(sqrt(square / N) - deviation), 0.02 * deviation);
    ck_assert_double_le(fabs(sum / N), 0.02 * deviation);
    if (bound > 0) {
        ck_assert_double_le(max, bound);
        ck_assert_double_ge(max, 0.98 * bound);
    }
    free(w);
}

START_TEST(init_spreads)
{
    double k = 1 / sqrt(FAN_IN), x = sqrt(6.0 / (FAN_IN + FAN_OUT));
    spread("{units: 200}", k * (1 + 1e-7), k / sqrt(3));
    spread("{units: 200, init_scale: 1.4142135623730951}", sqrt(6.0 / FAN_IN) * (1 + 1e-7),
           sqrt(2.0 / FAN_IN));
    spread("{units: 200, init: xavier}", x * (1 + 1e-7), x / sqrt(3));
    spread("{units: 200, init: uniform, init_scale: 0.3}", 0.3 * (1 + 1e-7), 0.3 / sqrt(3));
    spread("{units: 200, init: normal}", 0, 0.02);
    spread("{units: 200, init: normal, init_scale: 3}", 0, 3);
    float *w = weights("{units: 200, init: constant, init_scale: 1.5}", "a", 1);
    float *z = weights("{units: 200, init: zeros}", "a", 1);
    for (int i = 0; i < N; i++)
        ck_assert(w[i] == 1.5F && z[i] == 0);
    free(w);
    free(z);
}
END_TEST

START_TEST(init_streams)
{
    float *a = weights("{units: 200}", "fc1.weight", 1),
          *b = weights("{units: 200}", "fc1.weight", 1);
    float *name = weights("{units: 200}", "fc2.weight", 1);
    float *seed = weights("{units: 200}", "fc1.weight", 2);
    int same_name = 0, same_seed = 0;
    ck_assert_mem_eq(a, b, N * sizeof(*a));
    for (int i = 0; i < N; i++) {
        same_name += a[i] == name[i];
        same_seed += a[i] == seed[i];
    }
    ck_assert_int_lt(same_name, 10);
    ck_assert_int_lt(same_seed, 10);
    free(a);
    free(b);
    free(name);
    free(seed);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("shapes");
    TCase *t = tcase_create("all");
    tcase_add_test(t, refused);
    tcase_add_test(t, target_sizes);
    tcase_add_test(t, inferred);
    tcase_add_test(t, linear_params);
    tcase_add_test(t, init_spreads);
    tcase_add_test(t, init_streams);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? 1 : 0;
}
