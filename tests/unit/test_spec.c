/* test_spec.c: what a config comes to: values, defaults, names, --set, the effective config. */
#include "config.h"

#include "config/spec.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DATA "data: {type: idx, train: {inputs: a, targets: b}}\n"
#define MODEL "model: [{linear: {units: 3}}]\n"
#define LOSS "loss: cross_entropy\n"
#define BASE DATA MODEL LOSS

static struct diag diag;
static struct spec spec;

static void setup(void)
{
    diag_init(&diag);
    spec = (struct spec){0};
}

static void teardown(void)
{
    spec_release(&spec);
}

static void load_set(const char *text, const char *const *sets, int n_sets)
{
    spec_release(&spec);
    diag_init(&diag);
    enum rc rc =
        config_load_text(&spec, text, strlen(text), "dir/t.yaml", "dir", sets, n_sets, &diag);
    ck_assert_msg(rc == RC_OK, "%s", diag.n_items ? diag.items[0].text : "no message");
    ck_assert_int_eq(diag.n_items, 0);
}

static void load(const char *text)
{
    load_set(text, NULL, 0);
}

#define LOAD_SET(text, ...)                                                                        \
    load_set(text, (const char *const[]){__VA_ARGS__},                                             \
             (int)COUNT_OF(((const char *const[]){__VA_ARGS__})))

START_TEST(defaults)
{
    load(BASE);
    ck_assert_str_eq(spec.name, "t");
    ck_assert_str_eq(spec.folder, "dir");
    ck_assert_int_eq(spec.seed, 0);
    ck_assert_str_eq(spec.optimizer.optim->name, "adamw");
    ck_assert_double_eq(spec.optimizer.lr, 1e-3);
    ck_assert_double_eq(spec.optimizer.weight_decay, 0.01);
    ck_assert_int_eq(spec.schedule.type, SCHEDULE_CONSTANT);
    ck_assert_int_eq(spec.loss_scale.type, 0);
    ck_assert_double_eq(spec.loss_scale.init, 65536);
    ck_assert_double_eq(spec.loss_scale.max, 16777216);
    ck_assert_int_eq(precision_dtype(&spec.precision), DTYPE_BF16);
    ck_assert_int_eq(spec.train.batch, 32);
    ck_assert_int_eq(spec.train.epochs, 10);
    ck_assert_int_eq(spec.train.steps, 0);
    ck_assert_int_eq(spec.train.max_skips, 50);
    ck_assert_int_eq(spec.train.eval.every_epochs, 1);
    ck_assert_int_eq(spec.checkpoint.keep, 3);
    ck_assert(spec.checkpoint.best);
    ck_assert_int_eq(spec.log.every, 1);
    ck_assert(spec.data.shuffle);
    ck_assert_double_eq(spec.data.divide, 1);
    ck_assert(spec.data.has_train);
    ck_assert(!spec.data.has_test);
}
END_TEST

START_TEST(steps_take_the_place_of_epochs)
{
    load(BASE "train: {steps: 5, eval: {every_steps: 2}}\ncheckpoint: {every_steps: 3}\n");
    ck_assert_int_eq(spec.train.epochs, 0);
    ck_assert_int_eq(spec.train.steps, 5);
    ck_assert_int_eq(spec.train.eval.every_epochs, 0);
    ck_assert_int_eq(spec.checkpoint.every_epochs, 0);
}
END_TEST

START_TEST(numbers) /* B34 */
{
    static const char *const same[] = {"1e-4",  "1E-4",   "1.e-4", ".1e-3",
                                       "+1e-4", "0.0001", "1e-04"};
    char text[300];
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        snprintf(text, sizeof(text), BASE "optimizer: {lr: %s}\n", same[i]);
        load(text);
        union {
            float x;
            uint32_t bits;
        } as = {(float)spec.optimizer.lr};
        ck_assert_uint_eq(as.bits, 0x38D1B717u);
    }
}
END_TEST

START_TEST(names_stay_text) /* B35 */
{
    load(DATA "model:\n  - linear: {units: 3, name: no}\n  - linear: {units: 3, name: y}\n"
              "  - linear: {units: 3, name: on, from: [no, y]}\n"
              "  - linear: {units: 3, name: \"null\"}\n" LOSS);
    ck_assert_str_eq(spec.layers[0].name, "no");
    ck_assert_str_eq(spec.layers[1].name, "y");
    ck_assert_str_eq(spec.layers[2].name, "on");
    ck_assert_str_eq(spec.layers[3].name, "null");
    ck_assert_int_eq(spec.layers[2].from.n, 2);
    ck_assert_str_eq(((const char *const *)spec.layers[2].from.at)[0], "no");
    load(BASE "loss_scale: off\n");
    ck_assert_int_eq(spec.loss_scale.type, SCALE_NONE + 1);
}
END_TEST

START_TEST(short_forms)
{
    load(BASE "loss_scale: 1024\noptimizer: sgd\nschedule: cosine\nprecision: fp16\n");
    ck_assert_int_eq(spec.loss_scale.type, SCALE_STATIC + 1);
    ck_assert_double_eq(spec.loss_scale.scale, 1024);
    ck_assert_str_eq(spec.optimizer.optim->name, "sgd");
    ck_assert_double_eq(spec.optimizer.weight_decay, 0);
    ck_assert_int_eq(spec.schedule.type, SCHEDULE_COSINE);
    ck_assert_int_eq(precision_dtype(&spec.precision), DTYPE_F16);
    load(BASE "loss_scale: dynamic\n");
    ck_assert_int_eq(spec.loss_scale.type, SCALE_DYNAMIC + 1);
    load(DATA MODEL "loss: {cross_entropy: {ignore_label: 255}}\n");
    ck_assert_str_eq(spec.loss.op->name, "cross_entropy");
}
END_TEST

START_TEST(names_are_made)
{
    load(DATA "model:\n  - linear: {units: 3}\n  - relu\n  - linear: {units: 3, name: linear2}\n"
              "  - linear: {units: 3}\n  - relu\n  - residual: [relu]\n"
              "  - repeat: {times: 2, layers: [relu, {linear: {units: 3}}]}\n" LOSS);
    ck_assert_str_eq(spec.layers[0].name, "linear1");
    ck_assert(!spec.layers[0].named);
    ck_assert_str_eq(spec.layers[1].name, "relu1");
    ck_assert(spec.layers[2].named);
    ck_assert_str_eq(spec.layers[3].name, "linear3");
    ck_assert_str_eq(spec.layers[4].name, "relu2");
    ck_assert_str_eq(spec.layers[5].name, "residual1");
    ck_assert_str_eq(spec.layers[5].layers[0].name, "relu1");
    ck_assert_str_eq(spec.layers[6].name, "repeat1");
    ck_assert_int_eq(spec.layers[6].times, 2);
    ck_assert_int_eq(spec.layers[6].n_layers, 2);
    ck_assert_int_eq(spec.layers[6].layers[1].loc.line, 9);
    ck_assert_str_eq(spec.layers[6].layers[1].attrs.where, "model.repeat1.linear1");
}
END_TEST

START_TEST(rules)
{
    load(BASE "precision:\n  fp32: {allow: [sigmoid, relu], deny: gelu}\n  fp16: {deny: relu}\n");
    ck_assert_int_eq(spec.precision.n_rules, 4);
    ck_assert_str_eq(spec.precision.rules[1].selector, "relu");
    ck_assert_int_eq(spec.precision.rules[1].loc.line, 5);
    ck_assert_int_eq(spec.precision.rules[1].loc.column, 27);
    ck_assert_int_eq(spec.precision.rules[2].action, RULE_DENY);
    ck_assert_int_eq(spec.precision.rules[3].dtype, DTYPE_F16);
}
END_TEST

START_TEST(settings)
{
    LOAD_SET(BASE "optimizer: {type: sgd, lr: 1}\nloss_scale: dynamic\n", "optimizer.lr=3e-4",
             "train.eval.patience=3", "precision.compute=fp32", "data.train.inputs=x.gz",
             "loss_scale.init=8", "train.steps=7", "precision.fp32.allow=[linear, relu]",
             "model.linear1.units=10", "seed=9");
    ck_assert_double_eq(spec.optimizer.lr, 3e-4);
    ck_assert_str_eq(spec.optimizer.optim->name, "sgd");
    ck_assert_int_eq(spec.train.eval.patience, 3);
    ck_assert_int_eq(precision_dtype(&spec.precision), DTYPE_F32);
    ck_assert_int_eq(spec.loss_scale.type, SCALE_DYNAMIC + 1);
    ck_assert_double_eq(spec.loss_scale.init, 8);
    ck_assert_int_eq(spec.train.steps, 7);
    ck_assert_int_eq(spec.precision.n_rules, 2);
    ck_assert_int_eq(spec.seed, 9);
    struct str units;
    str_init(&units);
    keys_write_row(&spec.layers[0].attrs, "units", &units, 0);
    ck_assert_str_eq(units.text, "units: 10\n");
    str_clear(&units);
    keys_write_row(&spec.data.train, "targets", &units, 0);
    ck_assert_ptr_nonnull(strstr(units.text, "/dir/b\n"));
    str_clear(&units);
    keys_write_row(&spec.data.train, "inputs", &units, 0);
    ck_assert_ptr_nonnull(strstr(units.text, "/dir/x.gz\n"));
    str_release(&units);
    LOAD_SET(BASE "loss_scale: dynamic\n", "loss_scale=off");
    ck_assert_int_eq(spec.loss_scale.type, SCALE_NONE + 1);
    LOAD_SET(BASE, "loss_scale.type=static", "loss_scale.scale=4",
             "loss.cross_entropy.ignore_label=3", "optimizer=sgd");
    ck_assert_double_eq(spec.loss_scale.scale, 4);
    ck_assert_str_eq(spec.optimizer.optim->name, "sgd");
}
END_TEST

START_TEST(settings_of_inner_layers)
{
    static const char text[] = DATA "model:\n  - residual: [{linear: {units: 3}}, relu]\n"
                                    "  - repeat: {name: b, times: 2, layers: [relu]}\n" LOSS;
    LOAD_SET(text, "model.residual1.linear1.units=4", "model.b.times=5", "model.b.relu1.name=r",
             "model.residual1.name=res");
    ck_assert_int_eq(spec.layers[1].times, 5);
    ck_assert_str_eq(spec.layers[1].layers[0].name, "r");
    ck_assert_str_eq(spec.layers[0].layers[0].name, "linear1");
    ck_assert_str_eq(spec.layers[0].name, "res");
}
END_TEST

/* The effective config gives the same effective config, and the defaults are all in it. */
static void round_trip(const char *text)
{
    struct str first, second;
    str_init(&first);
    str_init(&second);
    load(text);
    config_write(&spec, &first);
    ck_assert(!first.failed);
    load(first.text);
    config_write(&spec, &second);
    ck_assert_str_eq(first.text, second.text);
    str_release(&first);
    str_release(&second);
}

START_TEST(effective_config)
{
    round_trip(BASE);
    round_trip(BASE "loss_scale: off\nschedule: {type: step, at: [3, 9], gamma: 0.5}\n");
    round_trip(BASE "loss_scale: 512\nschedule: linear\noptimizer: {type: sgd, lr: 1e-7}\n");
    round_trip(BASE "loss_scale: {type: dynamic, init: 4, growth: 1.7}\noptimizer: adam\n");
    round_trip(BASE "train: {steps: 5, eval: {every_steps: 2}}\ncheckpoint: {every_steps: 3}\n");
    round_trip(DATA
               "model:\n  - linear: {name: no, units: 3}\n  - linear: {name: y, units: 2}\n"
               "  - residual: [relu, {repeat: {times: 3, layers: [relu]}}]\n"
               "  - add: {from: [no, residual1]}\n"
               "loss: mse\nprecision: {compute: fp16, fp32: {allow: [\"*.a\", no], deny: [y]}, "
               "bf16: {deny: [linear]}}\n");
    round_trip(
        "data: {type: idx, train: {inputs: 'a b: #', targets: \"x\\ty\"}, hold_out: 0.25,\n"
        "  test: {inputs: /abs/c, targets: d}, normalize: minmax, normalize_by: all}\n" MODEL LOSS);
    round_trip("data: {type: csv, train: {file: a, target: [off]}, validation: {file: b, "
               "target: off}}\n" MODEL LOSS);
}
END_TEST

START_TEST(effective_values)
{
    struct str text;
    str_init(&text);
    load(BASE "loss_scale: off\noptimizer: {weight_decay: 0}\n");
    config_write(&spec, &text);
    ck_assert_ptr_nonnull(strstr(text.text,
                                 "\nloss_scale:\n  type: none\noptimizer:\n  type: adamw\n"
                                 "  lr: 0.001\n  weight_decay: 0\n"));
    ck_assert_ptr_nonnull(strstr(text.text, "  epochs: 10\n"));
    ck_assert_ptr_null(strstr(text.text, "  steps: "));
    str_release(&text);
}
END_TEST

START_TEST(from_a_file)
{
    char folder[] = "/tmp/test_spec.XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/run one.yml", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("\xEF\xBB\xBF" BASE, f);
    fclose(f);
    ck_assert_int_eq(config_load(&spec, path, NULL, 0, &diag), RC_OK);
    ck_assert_str_eq(spec.name, "run one");
    ck_assert_str_eq(spec.folder, folder);
    unlink(path);
    rmdir(folder);
    spec_release(&spec);
    ck_assert_int_eq(config_load(&spec, path, NULL, 0, &diag), RC_CONFIG);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spec");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, defaults);
    tcase_add_test(tests, steps_take_the_place_of_epochs);
    tcase_add_test(tests, numbers);
    tcase_add_test(tests, names_stay_text);
    tcase_add_test(tests, short_forms);
    tcase_add_test(tests, names_are_made);
    tcase_add_test(tests, rules);
    tcase_add_test(tests, settings);
    tcase_add_test(tests, settings_of_inner_layers);
    tcase_add_test(tests, effective_config);
    tcase_add_test(tests, effective_values);
    tcase_add_test(tests, from_a_file);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
