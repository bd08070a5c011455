/* test_schedule.c: the learning rate of every update: exact values of warm-up (B14), step, linear
 * and cosine, their ends, and the keys that a type refuses. */
#include "config.h"

#include "config/yaml_tree.h"
#include "optim/schedule.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct pool pool;
static struct diag diag;
static struct section section;

/* The schedule of a YAML map; its check's result. */
static enum rc read(const char *text, int64_t planned)
{
    const struct value *v = NULL;
    pool_init(&pool);
    diag_init(&diag);
    ck_assert_int_eq(yaml_tree_parse_value(&v, text, NOWHERE, &pool, &diag), RC_OK);
    ck_assert_int_eq(keys_read(&section, "schedule", schedule_keys, sizeof(struct schedule), v,
                               NOWHERE, NULL, &pool, &diag),
                     RC_OK);
    return schedule_check(&section, planned, &diag);
}

static double factor(int64_t update, int64_t planned)
{
    return schedule_factor(section.at, update, planned);
}

START_TEST(constant)
{
    ck_assert_int_eq(read("{}", 10), RC_OK);
    for (int64_t k = 1; k < 20; k++)
        ck_assert(factor(k, 10) == 1);
    pool_release(&pool);
}
END_TEST

/* B14: base 0.125, 4 updates */
START_TEST(warmup)
{
    ck_assert_int_eq(read("{warmup: 4}", 10), RC_OK);
    static const double lr[] = {0.03125, 0.0625, 0.09375, 0.125, 0.125, 0.125};
    for (size_t k = 0; k < COUNT_OF(lr); k++)
        ck_assert(0.125 * factor((int64_t)k + 1, 10) == lr[k]);
    pool_release(&pool);
}
END_TEST

START_TEST(step)
{
    ck_assert_int_eq(read("{type: step, at: [3, 5], gamma: 0.5}", 10), RC_OK);
    static const double want[] = {1, 1, 1, 0.5, 0.5, 0.25, 0.25};
    for (size_t k = 0; k < COUNT_OF(want); k++)
        ck_assert(factor((int64_t)k + 1, 10) == want[k]);
    pool_release(&pool);
}
END_TEST

START_TEST(linear)
{
    ck_assert_int_eq(read("{type: linear, warmup: 2, min_factor: 0.25}", 6), RC_OK);
    static const double want[] = {0.5, 1, 1, 0.8125, 0.625, 0.4375, 0.25, 0.25};
    for (size_t k = 0; k < COUNT_OF(want); k++)
        ck_assert(factor((int64_t)k + 1, 6) == want[k]);
    pool_release(&pool);
}
END_TEST

START_TEST(cosine)
{
    ck_assert_int_eq(read("{type: cosine, total: 8}", 100), RC_OK);
    for (int64_t k = 1; k <= 8; k++)
        ck_assert_double_eq_tol(factor(k, 100),
                                (1 + cos(3.141592653589793 * (double)(k - 1) / 8)) / 2, 1e-15);
    ck_assert(factor(1, 100) == 1);
    ck_assert(factor(5, 100) > 0.4999999 && factor(5, 100) < 0.5000001);
    ck_assert(factor(9, 100) == 0 && factor(1000, 100) == 0);
    pool_release(&pool);
    ck_assert_int_eq(read("{type: cosine, warmup: 5, min_factor: 0.1}", 25), RC_OK);
    ck_assert(factor(5, 25) == 1 && factor(6, 25) == 1);
    ck_assert_double_eq_tol(factor(16, 25), 0.55, 1e-15);
    ck_assert_double_eq_tol(factor(26, 25), 0.1, 1e-15);
    pool_release(&pool);
}
END_TEST

START_TEST(refused)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"{gamma: 0.5}", "gamma"},
        {"{type: cosine, at: [3]}", "at"},
        {"{type: step, at: [3], total: 9}", "total"},
        {"{type: step, at: 3, min_factor: 0.1}", "min_factor"},
        {"{type: step}", "at"},
        {"{type: step, at: [3, 3]}", "rise"},
        {"{type: linear, warmup: 10}", "warmup"},
        {"{type: cosine, warmup: 5, total: 5}", "warmup"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ck_assert_int_eq(read(cases[i].text, 10), RC_CONFIG);
        ck_assert_int_eq(diag.n_errors, 1);
        ck_assert_msg(strstr(diag.items[0].text, cases[i].word) != NULL, "%s", diag.items[0].text);
        pool_release(&pool);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("schedule");
    TCase *t = tcase_create("all");
    tcase_add_test(t, constant);
    tcase_add_test(t, warmup);
    tcase_add_test(t, step);
    tcase_add_test(t, linear);
    tcase_add_test(t, cosine);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? 1 : 0;
}
