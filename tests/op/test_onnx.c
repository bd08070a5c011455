/* test_onnx.c: the node tests of ONNX (tests/golden/onnx): forward, in FP32, evaluation mode. */
#include "config.h"

#include "harness.h"

#include "dataset/reader.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPS 0x1p-23
enum { FACTOR = 64 }; /* roundings: sums here have up to some hundred terms, added in tiles */

static struct diag d;

/* NAME.<role>.npy; false where there is none. */
static bool load(struct data_array *out, const char *name, const char *role)
{
    char path[4096];
    struct data_file f;
    const char *source = getenv("srcdir");
    snprintf(path, sizeof(path), "%s/tests/golden/onnx/%s.%s.npy", source ? source : ".", name,
             role);
    diag_init(&d);
    if (data_file_open(&f, path, &d) != RC_OK)
        return false;
    ck_assert_int_eq(data_array_load(out, &f, reader_npy_header, &d), RC_OK);
    ck_assert_int_eq(out->type, DATA_ARRAY_F32);
    data_file_close(&f);
    return true;
}

static int64_t elements(const struct data_array *a)
{
    int64_t n = 1;
    for (int i = 0; i < a->rank; i++)
        n *= a->dims[i];
    return n;
}

/* The tensor "n.<role>" or its twin takes the values of an array. */
static void put(struct harness *h, const char *name, int tensor)
{
    const char *role = strrchr(graph_tensor(&h->graph, tensor)->name, '.');
    struct data_array a;
    ck_assert_msg(load(&a, name, role + 1), "%s: no array for %s", name, role + 1);
    ck_assert_int_eq(elements(&a), harness_size(h, tensor));
    for (int64_t i = 0; i < elements(&a); i++)
        harness_set(h, tensor, i, ((const float *)a.data)[i]);
    data_array_release(&a);
}

static void compare(const struct harness *h, const char *name)
{
    struct data_array y;
    int out = h->graph.nodes[0].out;
    ck_assert(load(&y, name, "y"));
    ck_assert_msg(elements(&y) == harness_size(h, out), "%s: %d values, not %d", name,
                  (int)harness_size(h, out), (int)elements(&y));
    const float *want = y.data;
    double largest = 0;
    for (int64_t i = 0; i < elements(&y); i++)
        largest = fmax(largest, fabs((double)want[i]));
    for (int64_t i = 0; i < elements(&y); i++) {
        double got = (double)harness_get(h, out, i), bound = FACTOR * EPS * largest;
        ck_assert_msg(fabs(got - (double)want[i]) <= bound, "%s: [%d] is %.9g, not %.9g", name,
                      (int)i, got, (double)want[i]);
    }
    data_array_release(&y);
}

static void run(const char *name, const struct op *op, const char *attrs)
{
    struct op_case c = {.attrs = strcmp(attrs, "{}") == 0 ? NULL : attrs};
    struct data_array x[OP_CASE_MAX_IN];
    struct harness h;
    char role[16];
    for (; c.n_in < OP_CASE_MAX_IN; c.n_in++) {
        struct data_array *a = &x[c.n_in];
        snprintf(role, sizeof(role), "x%d", c.n_in);
        if (!load(a, name, role))
            break;
        c.in[c.n_in].rank = a->rank;
        memcpy(c.in[c.n_in].dims, a->dims, sizeof(a->dims));
    }
    ck_assert_msg(harness_init(&h, op, &c, DTYPE_F32, DTYPE_F32, 0) == RC_OK, "%s: %s", name,
                  h.diag.items[0].text);
    struct node *n = harness_node(&h);
    for (int i = 0; i < c.n_in; i++) {
        for (int64_t k = 0; k < elements(&x[i]); k++)
            harness_set(&h, n->in[i], k, ((const float *)x[i].data)[k]);
        data_array_release(&x[i]);
    }
    for (int i = 0; i < n->n_params; i++)
        put(&h, name, n->param[i]);
    for (int i = 0; i < n->n_statistics; i++)
        put(&h, name, n->statistic[i]);
    h.run.training = false;
    harness_forward(&h, h.graph.batch);
    compare(&h, name);
    harness_release(&h);
}

START_TEST(node_tests)
{
    char path[4096], line[1024];
    const char *source = getenv("srcdir");
    int ran = 0, left_out = 0;
    snprintf(path, sizeof(path), "%s/tests/golden/onnx/cases.txt", source ? source : ".");
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    while (fgets(line, sizeof(line), f)) {
        char *op = strchr(line, ' '), *attrs = op ? strchr(op + 1, ' ') : NULL;
        ck_assert_ptr_nonnull(attrs);
        *op++ = *attrs++ = 0;
        attrs[strcspn(attrs, "\n")] = 0;
        if (strcmp(op, "-") == 0) {
            left_out++;
            continue;
        }
        ck_assert_msg(op_find(op) != NULL, "%s: no op %s", line, op);
        run(line, op_find(op), attrs);
        ran++;
    }
    fclose(f);
    printf("%d node tests run, %d left out with a reason\n", ran, left_out);
    ck_assert_int_eq(ran, 77);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("onnx");
    TCase *c = tcase_create("all");
    tcase_add_test(c, node_tests);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
