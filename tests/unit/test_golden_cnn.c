/* test_golden_cnn.c: a small `cnn` against PyTorch, from the same weights: every gradient of the
 * first step, the losses of ten steps, the running statistics after them (tests/golden/cnn). */
#include "config.h"

#include "data_kit.h"

#include "base/par.h"
#include "train/run_data.h"
#include "train/step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const model =
    "data: {type: npy, shuffle: false, train: {inputs: '%s/inputs.npy', targets: "
    "'%s/targets.npy'}}\n"
    "model:\n"
    "  - conv2d: {filters: 4, kernel: 3, padding: same, bias: false}\n"
    "  - batchnorm\n"
    "  - relu\n"
    "  - conv2d: {filters: 4, kernel: 3, padding: same, bias: false}\n"
    "  - batchnorm\n"
    "  - relu\n"
    "  - max_pool2d: {kernel: 2}\n"
    "  - conv2d: {filters: 8, kernel: 3, padding: same, bias: false}\n"
    "  - batchnorm\n"
    "  - relu\n"
    "  - conv2d: {filters: 8, kernel: 3, padding: same, bias: false}\n"
    "  - batchnorm\n"
    "  - relu\n"
    "  - max_pool2d: {kernel: 2}\n"
    "  - flatten\n"
    "  - linear: {units: 16}\n"
    "  - relu\n"
    "  - linear: {units: 10}\n"
    "loss: cross_entropy\n"
    "precision: {compute: %s}\n"
    "optimizer: {type: adamw, lr: 1e-2, weight_decay: 0.01, decay: all}\n"
    "train: {batch: 4, steps: 10}\n";

static char folder[2048];
static struct spec spec;
static struct run_data data;
static struct plan plan;
static struct pool pool;
static struct step_state step;
static struct diag d;

static void start(const char *compute)
{
    static char text[8192];
    const char *source = getenv("srcdir");
    snprintf(folder, sizeof(folder), "%s/tests/golden/cnn", source ? source : ".");
    snprintf(text, sizeof(text), model, folder, folder, compute);
    diag_init(&d);
    pool_init(&pool);
    ck_assert_msg(config_load_text(&spec, text, strlen(text), "cnn", ".", NULL, 0, &d) == RC_OK,
                  "%s", d.items[0].text);
    ck_assert_msg(run_data_open(&data, &spec, &d) == RC_OK, "%s", d.items[0].text);
    ck_assert_msg(plan_make(&plan, &spec, &data.shape, true, &d) == RC_OK, "%s", d.items[0].text);
    ck_assert_int_eq(plan_bind(&plan, &d), RC_OK);
    ck_assert_int_eq(step_init(&step, &plan, &data.train, &data.normalizer, &pool, &d), RC_OK);
    step.planned = 10;
    scaler_init(&step.scaler, &plan, &step.progress, true);
}

static void finish(void)
{
    plan_release(&plan);
    run_data_release(&data);
    spec_release(&spec);
    pool_release(&pool);
}

static float *load(const char *name, int64_t want)
{
    char path[4096];
    struct data_file f;
    struct data_array a;
    snprintf(path, sizeof(path), "%s/%s.npy", folder, name);
    ck_assert_msg(data_file_open(&f, path, &d) == RC_OK, "%s", path);
    ck_assert_int_eq(data_array_load(&a, &f, reader_npy_header, &d), RC_OK);
    ck_assert(a.type == DATA_ARRAY_F32 && a.rank == 1 && a.dims[0] == want);
    data_file_close(&f);
    return a.data;
}

static int64_t total(enum role role)
{
    int64_t n = 0;
    for (int i = 0; i < plan.graph.n_tensors; i++)
        n += plan.graph.tensors[i].role == role ? tensor_elements(&plan.graph.tensors[i]) : 0;
    return n;
}

static void set_weights(void)
{
    float *all = load("weights", total(ROLE_PARAM)), *at = all;
    for (int i = 0; i < plan.graph.n_tensors; i++) {
        struct tensor *t = &plan.graph.tensors[i];
        float *values = t->data;
        int64_t n = tensor_elements(t);
        if (t->role == ROLE_PARAM) {
            memcpy(values, at, (size_t)n * sizeof(*values));
            at += n;
        }
        for (int64_t k = 0; t->role == ROLE_STATISTIC && k < n; k++)
            values[k] = (float)t->init.scale;
    }
    free(all);
    plan_pack_shadows(&plan);
}

/* Tensors of a role, one after the other, against an array; share: of the largest of each. */
static void compare(const char *name, enum role role, double share)
{
    float *all = load(name, total(role)), *at = all;
    for (int i = 0; i < plan.graph.n_tensors; i++) {
        const struct tensor *t = &plan.graph.tensors[i];
        const float *got = t->data;
        double largest = 0;
        if (t->role != role)
            continue;
        for (int64_t k = 0; k < tensor_elements(t); k++)
            largest = fmax(largest, fabs((double)at[k]));
        for (int64_t k = 0; k < tensor_elements(t); k++)
            ck_assert_msg(fabs((double)got[k] - (double)at[k]) <= share * largest,
                          "%s: %s[%d] is %.9g, not %.9g", name, t->name, (int)k, (double)got[k],
                          (double)at[k]);
        at += tensor_elements(t);
    }
    free(all);
}

/* FP32: the same numbers but for the order of sums. A batchnorm over 4 images multiplies what is
 * lost by 1/deviation, four times over. */
START_TEST(fp32_is_as_pytorch)
{
    start("fp32");
    set_weights();
    float *losses = load("losses", 10);
    for (int i = 0; i < 10; i++) {
        struct step_result r;
        step_run(&step, &r);
        ck_assert_int_eq(r.outcome, STEP_APPLIED);
        if (i == 0)
            compare("gradients", ROLE_DPARAM, 2e-5);
        ck_assert_msg(fabs(r.loss - (double)losses[i]) <= 2e-4 * (double)losses[i],
                      "step %d: the loss is %.9g, not %.9g", i + 1, r.loss, (double)losses[i]);
    }
    compare("statistics", ROLE_STATISTIC, 1e-3);
    free(losses);
    finish();
}
END_TEST

/* Half precision: the loss of the first step within a few roundings of each of the 12 layers. */
START_TEST(half_is_near)
{
    static const char *const types[] = {"bf16", "fp16"};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        struct step_result r;
        start(types[t]);
        set_weights();
        float *losses = load("losses", 10);
        step_run(&step, &r);
        ck_assert_int_eq(r.outcome, STEP_APPLIED);
        double unit = t == 0 ? 0x1p-8 : 0x1p-11;
        ck_assert_msg(fabs(r.loss - (double)losses[0]) <= 12 * unit, "%s: %.9g, not %.9g", types[t],
                      r.loss, (double)losses[0]);
        ck_assert(r.loss != (double)losses[0]);
        free(losses);
        finish();
    }
}
END_TEST

static void add(TCase *tc)
{
    tcase_add_test(tc, fp32_is_as_pytorch);
    tcase_add_test(tc, half_is_near);
}

int main(void)
{
    return data_kit_run("golden_cnn", add);
}
