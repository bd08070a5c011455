/* test_optim.c: optimizers against PyTorch's formulas (tests/golden/make_optim.py) and against
 * exact values: public bug reports retold (B17 decay at the wrong scale, B18 narrowed factors, B19
 * epsilon that is 0, B20 updates that vanish). */
#include "config.h"

#include "base/half.h"
#include "config/yaml_tree.h"
#include "optim/optim.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 19, UPDATES = 10 };

static struct pool pool;
static struct diag diag;

/* The optimizer's keys from a YAML map, checked. */
static enum rc read(const struct optim *o, const char *text, struct section *out)
{
    const struct value *v = NULL;
    pool_init(&pool);
    diag_init(&diag);
    ck_assert_int_eq(yaml_tree_parse_value(&v, text, NOWHERE, &pool, &diag), RC_OK);
    ck_assert_int_eq(
        keys_read(out, "optimizer", o->keys, o->attrs_size, v, NOWHERE, NULL, &pool, &diag), RC_OK);
    return optim_check(o, out, &diag);
}

/* An optimizer over n weights, with its states at 0. */
struct run {
    const struct optim *optim;
    struct section attrs;
    float states[OPTIM_MAX_STATES][N];
    double lr, weight_decay, grad_factor;
    int64_t update;
};

static void start(struct run *r, const char *name, const char *keys, double lr, double decay)
{
    memset(r, 0, sizeof(*r));
    r->optim = optim_find(name);
    ck_assert_ptr_nonnull(r->optim);
    ck_assert_int_eq(read(r->optim, keys, &r->attrs), RC_OK);
    r->lr = lr;
    r->weight_decay = decay;
    r->grad_factor = 1;
}

static void update_once(const struct run *r, const struct optim_step *s, int64_t n, float *w,
                        const float *g, float *const states[])
{
    struct optim_update u;
    r->optim->prepare(r->attrs.at, s, r->weight_decay, &u);
    u.run(&u.factors, n, w, g, states);
}

static void update(struct run *r, int64_t n, float *w, const float *g)
{
    float *states[] = {r->states[0], r->states[1], r->states[2]};
    struct optim_step s = {r->lr, r->grad_factor, ++r->update};
    update_once(r, &s, n, w, g, states);
}

static float gradient(int i, int k)
{
    return i ? (float)((i * 37 + k * 11) % 23 - 11) / 8 : 0;
}

/* One line of the golden file. Each of UPDATES updates rounds a handful of times. */
static void golden_line(char *line)
{
    char *save = NULL;
    const char *name = strtok_r(line, "\t", &save), *keys = strtok_r(NULL, "\t", &save);
    double lr = atof(strtok_r(NULL, "\t", &save)), decay = atof(strtok_r(NULL, "\t", &save));
    struct run r;
    start(&r, name, keys, lr, decay);
    float w[N], g[N];
    for (int i = 0; i < N; i++)
        w[i] = (float)(i - 9) / 4;
    r.grad_factor = 0x1p-12; /* the gradients come scaled by 2^12: exact */
    for (int k = 1; k <= UPDATES; k++) {
        for (int i = 0; i < N; i++)
            g[i] = gradient(i, k) * 0x1p12F;
        update(&r, N, w, g);
    }
    for (int i = 0; i < N; i++) {
        double want = atof(strtok_r(NULL, "\t", &save));
        double bound = UPDATES * 8 * 0x1p-24 * (fabs(want) + 0.5);
        ck_assert_msg(fabs((double)w[i] - want) <= bound, "%s %s: w[%d] %.9g, not %.9g +- %.2g",
                      name, keys, i, (double)w[i], want, bound);
    }
    pool_release(&pool);
}

START_TEST(as_pytorch)
{
    const char *dir = getenv("srcdir");
    char path[1024], line[2048];
    snprintf(path, sizeof(path), "%s/tests/golden/optim.txt", dir ? dir : ".");
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    int lines = 0;
    for (; fgets(line, sizeof(line), f); lines++)
        golden_line(line);
    fclose(f);
    ck_assert_int_eq(lines, 9);
}
END_TEST

/* Blocks of any size give the same bits: the vector body and its tail agree. */
START_TEST(blocks)
{
    static const char *const names[] = {"sgd", "adam", "adamw"};
    for (size_t o = 0; o < COUNT_OF(names); o++) {
        struct run whole, one;
        float a[N], b[N], g[N];
        start(&whole, names[o], "{}", 0.1, 0.01);
        one = whole;
        for (int i = 0; i < N; i++)
            a[i] = b[i] = (float)i / 3;
        for (int k = 1; k <= 3; k++) {
            for (int i = 0; i < N; i++)
                g[i] = gradient(i, k);
            update(&whole, N, a, g);
            struct optim_step s = {0.1, 1, k};
            for (int i = 0; i < N; i++) {
                float *states[] = {&one.states[0][i], &one.states[1][i], NULL};
                update_once(&one, &s, 1, &b[i], &g[i], states);
            }
        }
        ck_assert_mem_eq(a, b, sizeof(a));
        pool_release(&pool);
    }
}
END_TEST

/* B17: decay is added to the unscaled gradient. */
START_TEST(decay_is_unscaled)
{
    struct run r;
    float w = 1, zero = 0;
    start(&r, "sgd", "{}", 0.125, 0.25);
    r.grad_factor = 1.0 / 16384;
    update(&r, 1, &w, &zero);
    ck_assert(w == 0.96875F);
    pool_release(&pool);
}
END_TEST

/* B18: the factors are FP32. */
START_TEST(factors)
{
    static const struct {
        float g;
        double factor;
        float step;
    } rows[] = {{0x1p20F, 0x1p-26, 0.015625F}, {0x1p-10F, 1.0 / 65536, 0x1p-26F}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct run r;
        float w = 0;
        start(&r, "sgd", "{}", 1, 0);
        r.grad_factor = rows[i].factor;
        update(&r, 1, &w, &rows[i].g);
        ck_assert(w == -rows[i].step);
        pool_release(&pool);
    }
}
END_TEST

/* B19: no gradient, no change, and never 0/0; B06: not even of a subnormal. */
START_TEST(zero_gradient)
{
    static const char *const names[] = {"sgd", "adam", "adamw"};
    for (size_t o = 0; o < COUNT_OF(names); o++) {
        struct run r;
        const float before[] = {1, -0.3F, 1e-40F, 0, 1e30F};
        float w[5], g[5] = {0};
        memcpy(w, before, sizeof(w));
        start(&r, names[o], "{}", 0.001, 0);
        for (int k = 0; k < 3; k++)
            update(&r, 5, w, g);
        ck_assert_mem_eq(w, before, sizeof(w));
        pool_release(&pool);
    }
}
END_TEST

/* B20: 100 small updates arrive in the FP32 master, and through it in the half copies. */
START_TEST(small_updates)
{
    struct run r;
    float w = 1, g = 1;
    uint32_t bits;
    start(&r, "sgd", "{}", 6e-4, 0);
    for (int k = 0; k < 100; k++)
        update(&r, 1, &w, &g);
    memcpy(&bits, &w, sizeof(bits));
    ck_assert_uint_eq(bits, 0x3F70A3F8);
    ck_assert_uint_eq(half_f32_to_bf16(w), 0x3F71);
    ck_assert_uint_eq(half_f32_to_f16(w), 0x3B85);
    pool_release(&pool);
    w = 1;
    start(&r, "sgd", "{}", 1e-4, 0);
    for (int k = 0; k < 100; k++)
        update(&r, 1, &w, &g);
    memcpy(&bits, &w, sizeof(bits));
    ck_assert_uint_eq(bits, 0x3F7D7088);
    pool_release(&pool);
}
END_TEST

START_TEST(states)
{
    struct section s;
    const struct optim *sgd = optim_find("sgd");
    ck_assert_int_eq(read(sgd, "{}", &s), RC_OK);
    ck_assert_int_eq(optim_states(sgd, s.at), 0);
    pool_release(&pool);
    ck_assert_int_eq(read(sgd, "{momentum: 0.9}", &s), RC_OK);
    ck_assert_int_eq(optim_states(sgd, s.at), 1);
    pool_release(&pool);
    ck_assert_int_eq(read(optim_find("adamw"), "{}", &s), RC_OK);
    ck_assert_int_eq(optim_states(optim_find("adamw"), s.at), 2);
    pool_release(&pool);
    ck_assert_ptr_null(optim_find("sdg"));
    for (int i = 0; optim_at(i); i++)
        for (int k = 0; k < optim_at(i)->n_states; k++)
            ck_assert_ptr_nonnull(optim_at(i)->states[k]);
}
END_TEST

START_TEST(refused)
{
    struct section s;
    ck_assert_int_eq(read(optim_find("sgd"), "{nesterov: true}", &s), RC_CONFIG);
    ck_assert_ptr_nonnull(strstr(diag.items[0].text, "momentum"));
    pool_release(&pool);
    ck_assert_int_eq(read(optim_find("adam"), "{betas: [0.9]}", &s), RC_CONFIG);
    ck_assert_ptr_nonnull(strstr(diag.items[0].text, "two numbers"));
    pool_release(&pool);
    ck_assert_int_eq(read(optim_find("adamw"), "{betas: [0.9, 0.99, 0.999]}", &s), RC_CONFIG);
    pool_release(&pool);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("optim");
    TCase *t = tcase_create("all");
    tcase_add_test(t, as_pytorch);
    tcase_add_test(t, blocks);
    tcase_add_test(t, decay_is_unscaled);
    tcase_add_test(t, factors);
    tcase_add_test(t, zero_gradient);
    tcase_add_test(t, small_updates);
    tcase_add_test(t, states);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? 1 : 0;
}
