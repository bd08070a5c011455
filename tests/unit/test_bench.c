/* test_bench.c: what `mptrain bench` tells is complete and adds up. No time is compared with a
 * limit: a slow machine is no failure. */
#include "config.h"

#include "bench/bench.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/par.h"
#include "bench/bench_copy.h"
#include "bench/bench_node.h"
#include "bench/bench_product.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct diag d;
static struct str out;

static void setup(void)
{
    diag_init(&d);
    str_init(&out);
    ck_assert_int_eq(cpu_init(NULL, &d), RC_OK);
    par_set_threads(2);
}

static void teardown(void)
{
    str_release(&out);
}

static json_t *parsed(void)
{
    json_t *j = json_loads(out.text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(j);
    return j;
}

static double number(const json_t *j, const char *name)
{
    const json_t *value = json_object_get(j, name);
    ck_assert_msg(json_is_number(value), "no number %s", name);
    return json_number_value(value);
}

static const char *text(const json_t *j, const char *name)
{
    const json_t *value = json_object_get(j, name);
    ck_assert_msg(json_is_string(value), "no text %s", name);
    return json_string_value(value);
}

/* ---- the stopwatch ---- */

static void spin(void *context)
{
    double end = clock_seconds() + 1e-4;
    ++*(int *)context;
    while (clock_seconds() < end)
        continue;
}

START_TEST(times_are_of_one_call)
{
    int calls = 0;
    double start = clock_seconds();
    struct bench_times t = bench_time(4, spin, &calls);
    double all = clock_seconds() - start;
    ck_assert(t.best >= 1e-4 && t.median >= t.best);
    ck_assert_int_ge(t.n, 7);
    ck_assert_int_ge(calls, t.n);
    ck_assert(all >= 4e-3 && t.best * calls <= all);
}
END_TEST

static void count(void *context)
{
    ++*(int64_t *)context;
}

START_TEST(short_calls_are_timed_in_bunches)
{
    int64_t calls = 0;
    struct bench_times t = bench_time(1, count, &calls);
    ck_assert(t.best >= 0);
    ck_assert_int_ge(calls, 10 * (int64_t)t.n);
}
END_TEST

START_TEST(best_and_median)
{
    double odd[] = {5, 1, 4}, even[] = {8, 2, 6, 4}, one[] = {3};
    struct bench_times t = bench_time_sort(odd, 3);
    ck_assert(t.best == 1 && t.median == 4 && t.n == 3);
    t = bench_time_sort(even, 4);
    ck_assert(t.best == 2 && t.median == 5 && t.n == 4);
    t = bench_time_sort(one, 1);
    ck_assert(t.best == 3 && t.median == 3);
}
END_TEST

/* ---- gemm ---- */

/* Each row and type is measured or refused, never both, and in the order of the table. */
START_TEST(gemm_tells_every_row)
{
    static const char *const types[] = {"fp32", "bf16", "fp16"};
    const struct bench_opts o = {.m = 33, .n = 17, .k = 9, .ms = 1, .json = true};
    ck_assert_int_eq(bench_gemm(&o, &out, &d), RC_OK);
    json_t *j = parsed(), *r;
    size_t i;
    ck_assert_uint_eq(json_object_size(j), 4);
    ck_assert_str_eq(text(j, "cpu"), cpu_name());
    ck_assert(number(j, "threads") == 2);
    int rows = 0;
    for (int k = 0; kern_gemm_row_name(k); k++, rows++)
        for (size_t t = 0; t < COUNT_OF(types); t++) {
            int measured = 0, refused = 0;
            json_array_foreach(json_object_get(j, "rows"), i, r) measured +=
                strcmp(text(r, "row"), kern_gemm_row_name(k)) == 0 &&
                strcmp(text(r, "dtype"), types[t]) == 0;
            json_array_foreach(json_object_get(j, "refused"), i, r)
            {
                const char *reason = text(r, "reason");
                bool other = reason[4] == ':' && strncmp(reason, types[t], 4) != 0;
                refused += strcmp(text(r, "row"), kern_gemm_row_name(k)) == 0 && !other;
            }
            ck_assert_int_eq(measured + refused, 1);
        }
    ck_assert_int_gt(rows, 3);
    json_array_foreach(json_object_get(j, "rows"), i, r)
    {
        ck_assert_uint_eq(json_object_size(r), 7);
        ck_assert(number(r, "m") == 33 && number(r, "n") == 17 && number(r, "k") == 9);
        ck_assert(number(r, "median_gflops") > 0);
        ck_assert(number(r, "best_gflops") >= number(r, "median_gflops"));
    }
    json_decref(j);
}
END_TEST

/* What is timed is the product: on `ref`, with and without packing, against a plain sum. */
START_TEST(gemm_computes_the_product)
{
    const int64_t mnk[] = {5, 7, 11};
    for (int i = 0; kern_gemm_row_name(i); i++) {
        struct bench_product p;
        const char *reason;
        if (!bench_product_plan(&p, DTYPE_F32, kern_gemm_row_name(i), mnk, &reason))
            continue;
        ck_assert_int_eq(bench_product_bind(&p, &d), RC_OK);
        p.pack = i % 2;
        bench_product_run(&p, 1);
        const float *a = p.args.a, *w = p.weight, *c = p.args.c;
        for (int m = 0; m < 5; m++)
            for (int n = 0; n < 7; n++) {
                double sum = 0;
                for (int k = 0; k < 11; k++)
                    sum += (double)a[m * 11 + k] * (double)w[n * 11 + k];
                /* 11 terms of at most 1, 11 roundings */
                ck_assert(fabs(sum - (double)c[m * 7 + n]) <= 11 * 11 * 0x1p-24);
            }
        ck_assert(bench_product_flops(&p) == 770);
        bench_product_release(&p);
    }
}
END_TEST

/* ---- cast, op ---- */

START_TEST(cast_tells_every_row)
{
    const char *const rows_wanted[] = {"scalar"};
    struct bench_opts o = {.ms = 1, .json = true, .n_rows = 1, .rows = rows_wanted};
    ck_assert_int_eq(bench_cast(&o, &out, &d), RC_OK);
    json_t *j = parsed(), *rows = json_object_get(j, "rows"), *r;
    size_t i;
    ck_assert_uint_eq(json_array_size(rows), 10);
    json_array_foreach(rows, i, r)
    {
        ck_assert_str_eq(text(r, "row"), "scalar");
        ck_assert_str_ne(text(r, "from"), text(r, "to"));
        ck_assert(number(r, "median_ns") >= number(r, "best_ns") && number(r, "best_ns") > 0);
        ck_assert(number(r, "best_gbs") >= number(r, "median_gbs"));
        ck_assert(number(r, "threads") == (number(r, "elements") > 1024 ? 2 : 1));
    }
    json_decref(j);
    ck_assert_str_eq(kern_cast_name(), kern_cast_row_name(0)); /* no row stays forced */
}
END_TEST

static double bytes_of(const char *name, const char *attrs, bool backward)
{
    struct bench_node b;
    struct bench_node_case c = {.op = op_find(name),
                                .attrs = attrs,
                                .n_in = 1,
                                .rank = {2},
                                .dims = {{64, 256}},
                                .dtype = DTYPE_F32};
    ck_assert_int_eq(bench_node_init(&b, &c, &d), RC_OK);
    double bytes = bench_node_bytes(&b, backward);
    bench_node_release(&b);
    return bytes;
}

START_TEST(bytes_are_counted_once)
{
    ck_assert(bytes_of("relu", NULL, false) == 4.0 * 2 * 64 * 256);
    ck_assert(bytes_of("relu", NULL, true) == 4.0 * 3 * 64 * 256); /* y, dy, dx */
    double params = 32 * 256 + 32;
    ck_assert(bytes_of("linear", "{units: 32}", false) == 4 * (64 * 256 + params + 64 * 32));
    ck_assert(bytes_of("linear", "{units: 32}", true) ==
              4 * (64 * 256 + params + 64 * 32 + 64 * 256 + params));
}
END_TEST

/* Every op can be built from each of its cases and run both ways. */
START_TEST(every_op_can_be_measured)
{
    const struct op *op;
    for (int i = 0; (op = op_at(i)) != NULL; i++)
        for (const struct op_case *from = op->cases; from->n_in > 0; from++) {
            struct bench_node b;
            struct bench_node_case c = {
                .op = op, .attrs = from->attrs, .n_in = from->n_in, .dtype = DTYPE_F32};
            if (op == op_get(OP_cast))
                c.dtype = DTYPE_F16;
            for (int k = 0; k < from->n_in; k++) {
                c.rank[k] = from->in[k].rank;
                memcpy(c.dims[k], from->in[k].dims, sizeof(c.dims[k]));
            }
            ck_assert_msg(bench_node_init(&b, &c, &d) == RC_OK, "%s %s", op->name, from->attrs);
            bench_node_forward(&b);
            bench_node_backward(&b);
            ck_assert(bench_node_bytes(&b, false) > 0 && bench_node_bytes(&b, true) > 0);
            bench_node_release(&b);
        }
}
END_TEST

START_TEST(op_tells_both_passes_in_each_type)
{
    const struct bench_opts o = {.ms = 1, .json = true, .shape = "4,6", .attrs = "{units: 3}"};
    ck_assert_int_eq(bench_op(&o, "linear", &out, &d), RC_OK);
    json_t *j = parsed(), *rows = json_object_get(j, "rows");
    ck_assert_str_eq(text(j, "op"), "linear");
    ck_assert_uint_eq(json_array_size(rows), 6);
    for (size_t i = 0; i < 6; i++) {
        static const char *const types[] = {"fp32", "bf16", "fp16"};
        const json_t *r = json_array_get(rows, i);
        ck_assert_str_eq(text(r, "dtype"), types[i / 2]);
        ck_assert_str_eq(text(r, "pass"), i % 2 ? "backward" : "forward");
        ck_assert_str_eq(text(r, "shape"), "(4,6)");
        ck_assert(number(r, "best_ns") > 0);
    }
    json_decref(j);
}
END_TEST

/* ---- step ---- */

static const char config[] =
    "data: {type: synthetic, train: {shape: [8], rows: 40, classes: 3}}\n"
    "model: [linear: {name: a, units: 16}, relu: {}, linear: {name: b, units: 3}]\n"
    "loss: cross_entropy\n"
    "optimizer: {type: adamw, lr: 1e-3}\n"
    "train: {batch: 16, epochs: 2}\n";

static void load(struct spec *spec, const char *const *sets, int n)
{
    ck_assert_int_eq(config_load_text(spec, config, strlen(config), "c.yaml", ".", sets, n, &d),
                     RC_OK);
}

/* Of a single step the medians are the step itself, so its phases cannot take longer than it. */
START_TEST(step_phases_add_up)
{
    static const char *const phases[] = {"data", "forward", "backward", "check", "update", "log"};
    static const char *const sets[] = {"precision.compute=bf16"};
    const struct bench_opts o = {.ms = 1, .json = true, .steps = 1, .warmup = 1};
    struct spec spec;
    double sum = 0;
    load(&spec, sets, 1);
    ck_assert_int_eq(bench_step(&o, &spec, &out, &d), RC_OK);
    json_t *j = parsed(), *at = json_object_get(j, "phases");
    ck_assert_uint_eq(json_object_size(at), COUNT_OF(phases));
    for (size_t i = 0; i < COUNT_OF(phases); i++) {
        ck_assert(number(at, phases[i]) > 0);
        sum += number(at, phases[i]);
    }
    double step = number(j, "median_step_ms");
    ck_assert(step == number(j, "best_step_ms"));
    ck_assert_msg(sum <= step * (1 + 1e-4), "phases %g, step %g", sum, step); /* 6 digits */
    ck_assert_str_eq(text(j, "config"), "c.yaml");
    ck_assert_str_eq(text(j, "precision"), "bf16");
    ck_assert(number(j, "threads") == 2 && number(j, "steps") == 1);
    ck_assert(number(j, "peak_rss_mib") > 1);
    ck_assert(number(j, "parameters") == 8 * 16 + 16 + 16 * 3 + 3);
    ck_assert(number(j, "peak_gflops") > 0 && number(j, "copy_gbs") > 0);
    json_decref(j);
    spec_release(&spec);
}
END_TEST

/* 40 rows in batches of 16: every third step is short and does not count. */
START_TEST(short_steps_do_not_count)
{
    const struct bench_opts o = {.ms = 1, .json = true, .steps = 6, .warmup = 0};
    struct spec spec;
    load(&spec, NULL, 0);
    ck_assert_int_eq(bench_step(&o, &spec, &out, &d), RC_OK);
    json_t *j = parsed();
    ck_assert(number(j, "steps") == 6 && number(j, "left_out") == 2);
    /* FP32: no packed copy but what the row wants; gradient, weight twice, two states twice */
    ck_assert(number(j, "update_bytes") >= 4.0 * 7 * number(j, "parameters"));
    json_decref(j);
    spec_release(&spec);
}
END_TEST

START_TEST(a_run_that_does_not_train_is_told)
{
    static const char *const overflow[] = {"precision.compute=fp16",
                                           "loss_scale={type: static, scale: 1e30}"};
    static const char *const large[] = {"train.batch=41"};
    const struct bench_opts o = {.ms = 1, .steps = 1, .warmup = 0};
    struct spec spec;
    load(&spec, overflow, 2);
    ck_assert_int_eq(bench_step(&o, &spec, &out, &d), RC_NUMERIC);
    spec_release(&spec);
    load(&spec, large, 1);
    ck_assert_int_eq(bench_step(&o, &spec, &out, &d), RC_CONFIG);
    spec_release(&spec);
}
END_TEST

START_TEST(copy_has_a_rate)
{
    double rate = 0;
    ck_assert_int_eq(bench_copy(1 << 20, 1, &rate, &d), RC_OK);
    ck_assert(rate > 0 && isfinite(rate));
    ck_assert_int_eq(bench_copy(1, 1, &rate, &d), RC_OK);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("bench");
    TCase *t = tcase_create("bench");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, times_are_of_one_call);
    tcase_add_test(t, short_calls_are_timed_in_bunches);
    tcase_add_test(t, best_and_median);
    tcase_add_test(t, gemm_tells_every_row);
    tcase_add_test(t, gemm_computes_the_product);
    tcase_add_test(t, cast_tells_every_row);
    tcase_add_test(t, bytes_are_counted_once);
    tcase_add_test(t, every_op_can_be_measured);
    tcase_add_test(t, op_tells_both_passes_in_each_type);
    tcase_add_test(t, step_phases_add_up);
    tcase_add_test(t, short_steps_do_not_count);
    tcase_add_test(t, a_run_that_does_not_train_is_told);
    tcase_add_test(t, copy_has_a_rate);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
