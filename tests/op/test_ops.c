/* test_ops.c: every op x every one of its cases, by the promises that op.h makes for all of them:
 * gradients against finite differences, half against FP32, accumulation, threads, short batches,
 * whole outputs. To have a new op tested: nothing but its `cases`.
 *
 * Tolerances. EPS is FP32's 2^-24. `noise` bounds the rounding of one output element of our cases
 * (sums of at most 65 products of magnitude <= 2.25, or a function to a few ulp). A central
 * difference with step s is off by noise/s, and by c s^2; two step sizes tell c. */
#include "config.h"

#include "base/cpu.h"
#include "base/par.h"
#include "harness.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double EPS = 0x1p-24;
static const double NOISE = 16 * 0x1p-24; /* relative to 1 + |y| */
static const double STEP = 0x1p-6;
static const double SEED = 0.75; /* of losses, in the harness */

/* The loop index of a Check loop test is (op, dtype). */
enum { N_DTYPES = 3 };
static const enum dtype dtypes[N_DTYPES] = {DTYPE_F32, DTYPE_BF16, DTYPE_F16};

static const struct op *op_of(int i)
{
    return op_at(i / N_DTYPES);
}

static enum dtype dtype_of(int i)
{
    return dtypes[i % N_DTYPES];
}

static enum gemm_act fused; /* into the op of the running test */

/* A cast comes from FP32; all others have inputs of the node's dtype. */
static void init(struct harness *h, const struct op *op, const struct op_case *c, enum dtype dtype,
                 int64_t batch)
{
    enum dtype in = op == op_get(OP_cast) ? DTYPE_F32 : dtype;
    enum rc rc = harness_init_act(h, op, c, in, dtype, batch, fused);
    diag_print(&h->diag, 0, stderr);
    ck_assert_int_eq(rc, RC_OK);
}

static const char *about(const struct op *op, const struct op_case *c, enum dtype dtype)
{
    static char text[256];
    snprintf(text, sizeof(text), "%s %s case %d (%s) activation %d", op->name, dtype_name(dtype),
             (int)(c - op->cases), c->attrs ? c->attrs : "", (int)fused);
    return text;
}

/* Gradients that this op makes: of its float inputs and of its params. */
static int gradients(const struct harness *h, int out[NODE_MAX_IN + NODE_MAX_PARAMS])
{
    const struct node *n = harness_node(h);
    int count = 0;
    for (int i = 0; i < h->n_x; i++)
        out[count++] = harness_grad(h, n->in[i]);
    for (int i = 0; i < n->n_params; i++)
        out[count++] = harness_grad(h, n->param[i]);
    return count;
}

static double unit_roundoff(enum dtype t)
{
    return t == DTYPE_BF16 ? 0x1p-8 : t == DTYPE_F16 ? 0x1p-11 : 0x1p-24;
}

START_TEST(has_cases)
{
    ck_assert_msg(op_at(_i)->cases && op_at(_i)->cases[0].n_in > 0, "%s has no cases",
                  op_at(_i)->name);
    ck_assert_ptr_eq(op_find(op_at(_i)->name), op_at(_i));
}
END_TEST

/* ---- gradients ---- */

/* Outputs of a forward pass, kept to be compared. */
static float *outputs(struct harness *h)
{
    const struct node *n = harness_node(h);
    harness_forward(h, h->graph.batch);
    int64_t size = n->out == TENSOR_NONE ? 0 : harness_size(h, n->out);
    float *y = malloc((size_t)(size + 1) * sizeof(*y));
    for (int64_t i = 0; i < size; i++)
        y[i] = harness_get(h, n->out, i);
    return y;
}

/* d(objective)/dx by a central difference; *noise grows by its bound on rounding. The objective is
 * the outputs weighted with d_out, or the loss times its seed. */
static double difference(struct harness *h, int tensor, int64_t i, double step, double *noise)
{
    const struct node *n = harness_node(h);
    float x = harness_get(h, tensor, i);
    harness_set(h, tensor, i, (float)((double)x + step));
    double high = harness_get(h, tensor, i);
    float *up = outputs(h);
    double loss_up = h->loss.sum;
    harness_set(h, tensor, i, (float)((double)x - step));
    double low = harness_get(h, tensor, i);
    float *down = outputs(h);
    double loss_down = h->loss.sum, change = 0, bound = 0;
    harness_set(h, tensor, i, x);
    if (n->out == TENSOR_NONE) {
        change = SEED * (loss_up - loss_down);
        bound = SEED * NOISE * 4;
    } else {
        int d_out = harness_grad(h, n->out);
        for (int64_t k = 0; k < harness_size(h, n->out); k++) {
            double weight = harness_get(h, d_out, k);
            if (up[k] == down[k])
                continue;
            change += weight * ((double)up[k] - (double)down[k]);
            bound += fabs(weight) * NOISE * (1 + fabs((double)up[k]));
        }
    }
    free(up);
    free(down);
    *noise += bound / (high - low);
    return change / (high - low);
}

static void check_gradient(struct harness *h, const char *what, int tensor)
{
    int grad = harness_grad(h, tensor);
    for (int64_t i = 0; i < harness_size(h, tensor); i++) {
        double noise = 0;
        double near = difference(h, tensor, i, STEP, &noise);
        double far = difference(h, tensor, i, 2 * STEP, &noise);
        double want = (4 * near - far) / 3; /* Richardson: what is left is of order STEP^4 */
        double bound = noise + 0.1 * fabs(near - far) + 64 * EPS;
        double got = harness_get(h, grad, i);
        ck_assert_msg(fabs(got - want) <= bound,
                      "%s: %s[%d]: gradient %.9g, difference %.9g +- %.2g", what,
                      graph_tensor(&h->graph, tensor)->name, (int)i, got, want, bound);
        ck_assert_msg(bound < 0.01 * (1 + fabs(want)), "%s: the check is too coarse: %g", what,
                      bound);
    }
}

static void check_gradients(const struct op *op)
{
    for (const struct op_case *c = op->cases; c->n_in; c++) {
        struct harness h;
        init(&h, op, c, DTYPE_F32, 0);
        const struct node *n = harness_node(&h);
        harness_forward(&h, h.graph.batch);
        harness_backward(&h, h.graph.batch);
        for (int i = 0; i < h.n_x; i++)
            check_gradient(&h, about(op, c, DTYPE_F32), n->in[i]);
        for (int i = 0; i < n->n_params; i++)
            check_gradient(&h, about(op, c, DTYPE_F32), n->param[i]);
        harness_release(&h);
    }
}

START_TEST(gradient_is_the_derivative)
{
    check_gradients(op_at(_i));
}
END_TEST

/* ---- half ---- */

/* Half must be FP32 inside and round once: within one roundoff of the FP32 result of the same
 * numbers. extra: what a gradient loses because its op reads its own rounded output. */
static void check_close(const char *what, const struct harness *half, const struct harness *full,
                        int tensor, double extra)
{
    const struct tensor *t = graph_tensor(&half->graph, tensor);
    double u = unit_roundoff(t->dtype), tiny = dtype_min(t->dtype);
    for (int64_t i = 0; i < tensor_elements(t); i++) {
        double a = harness_get(half, tensor, i), b = harness_get(full, tensor, i);
        double bound = (u + extra) * fabs(b) + extra + 2 * NOISE * (1 + fabs(b)) + tiny;
        ck_assert_msg(fabs(a - b) <= bound, "%s: %s[%d]: %.9g in half, %.9g in FP32, bound %.2g",
                      what, t->name, (int)i, a, b, bound);
    }
}

static void half_case(const struct op *op, const struct op_case *c, enum dtype dtype)
{
    const char *what = about(op, c, dtype);
    struct harness half, full;
    init(&half, op, c, dtype, 0);
    init(&full, op, c, DTYPE_F32, 0);
    const struct node *n = harness_node(&half);
    for (int i = 0; i < half.n_x; i++) {
        if (op == op_get(OP_cast))
            harness_copy(&half, n->in[i], &full, n->in[i]);
        harness_copy(&full, n->in[i], &half, n->in[i]);
    }
    if (n->out != TENSOR_NONE)
        harness_copy(&full, harness_grad(&full, n->out), &half, harness_grad(&half, n->out));
    for (int p = 0; p < n->n_params; p++)
        for (int64_t i = 0; i < harness_size(&half, n->param[p]); i++) {
            float w = rintf(harness_get(&half, n->param[p], i) * 64) / 64; /* exact in bf16 */
            harness_set(&half, n->param[p], i, w);
            harness_set(&full, n->param[p], i, w);
        }
    harness_forward(&half, half.graph.batch);
    harness_forward(&full, full.graph.batch);
    harness_backward(&half, half.graph.batch);
    harness_backward(&full, full.graph.batch);
    if (n->out != TENSOR_NONE)
        check_close(what, &half, &full, n->out, 0);
    ck_assert_msg(half.loss.sum == full.loss.sum && half.loss.count == full.loss.count &&
                      half.loss.correct == full.loss.correct,
                  "%s: the loss is %.17g in half, %.17g in FP32", what, half.loss.sum,
                  full.loss.sum);
    /* |d/dy of y(1-y) or 1-y^2| <= 2, |dy| <= 1.5, y off by one roundoff of |y| <= 1 */
    double extra = op->reads & OP_READS_OUT ? 3 * unit_roundoff(dtype) : 0;
    if (fused != GEMM_ACT_NONE) {
        /* the gradient before the activation is off by that, and rounded once (|it| <= 1.7); the
         * others are sums of at most `terms` of it, times numbers of at most 1.5 */
        int64_t terms = harness_size(&half, n->out) / half.graph.batch;
        terms = terms > half.graph.batch ? terms : half.graph.batch;
        extra = 5 * 1.5 * (double)terms * unit_roundoff(dtype);
    }
    int grads[NODE_MAX_IN + NODE_MAX_PARAMS], count = gradients(&half, grads);
    for (int i = 0; i < count; i++)
        check_close(what, &half, &full, grads[i], extra);
    harness_release(&half);
    harness_release(&full);
}

START_TEST(half_rounds_once)
{
    for (const struct op_case *c = op_of(_i)->cases; c->n_in; c++)
        half_case(op_of(_i), c, dtype_of(_i));
}
END_TEST

/* ---- activations fused into an op ---- */

/* relu has a corner: tests/golden/fused compares it bit for bit with one that is not fused. */
static const enum gemm_act smooth[] = {GEMM_ACT_GELU, GEMM_ACT_GELU_TANH, GEMM_ACT_SILU,
                                       GEMM_ACT_TANH, GEMM_ACT_SIGMOID};

START_TEST(with_activation)
{
    const struct op *op = op_at(_i);
    if (!op->takes_act)
        return;
    for (size_t a = 0; a < COUNT_OF(smooth); a++) {
        fused = smooth[a];
        check_gradients(op);
        for (const struct op_case *c = op->cases; c->n_in; c++)
            for (int t = 0; t < N_DTYPES; t++)
                half_case(op, c, dtypes[t]);
    }
}
END_TEST

/* ---- accumulation ---- */

static void accumulate_case(const struct op *op, const struct op_case *c, enum dtype dtype)
{
    const char *what = about(op, c, dtype);
    struct harness once, zero, one;
    init(&once, op, c, dtype, 0);
    init(&zero, op, c, dtype, 0);
    init(&one, op, c, dtype, 0);
    int grads[NODE_MAX_IN + NODE_MAX_PARAMS], count = gradients(&once, grads);
    for (int i = 0; i < count; i++) {
        harness_fill(&zero, grads[i], 0);
        harness_fill(&one, grads[i], 1);
    }
    struct harness *all[] = {&once, &zero, &one};
    for (int k = 0; k < 3; k++) {
        struct harness *h = all[k];
        for (int i = 0; i < h->n_x; i++)
            harness_node(h)->grad_adds[i] = k > 0;
        h->run.add_dparams = k > 0;
        harness_forward(h, h->graph.batch);
        harness_backward(h, h->graph.batch);
    }
    for (int i = 0; i < count; i++) {
        double u = unit_roundoff(graph_tensor(&once.graph, grads[i])->dtype);
        for (int64_t k = 0; k < harness_size(&once, grads[i]); k++) {
            double d = harness_get(&once, grads[i], k);
            double added = harness_get(&zero, grads[i], k);
            double to_one = harness_get(&one, grads[i], k);
            ck_assert_msg(d == added, "%s: %.9g alone, %.9g added to 0", what, d, added);
            ck_assert_msg(fabs(to_one - (1 + d)) <= 2 * u * (1 + fabs(d)) + NOISE * (1 + fabs(d)),
                          "%s: %.9g added to 1 gives %.9g", what, d, to_one);
        }
    }
    for (int k = 0; k < 3; k++)
        harness_release(all[k]);
}

START_TEST(gradients_add_up)
{
    for (const struct op_case *c = op_of(_i)->cases; c->n_in; c++)
        accumulate_case(op_of(_i), c, dtype_of(_i));
}
END_TEST

/* ---- threads ---- */

/* Rows of a batch with about 50,000 elements, so that the work is cut into several blocks. */
static int64_t many_rows(const struct op_case *c)
{
    int64_t row = 1;
    for (int i = 1; i < c->in[0].rank; i++)
        row *= c->in[0].dims[i];
    return 50000 / row + 3;
}

/* Planned and run with so many threads. */
static void run_with(struct harness *h, const struct op *op, const struct op_case *c,
                     enum dtype dtype, int threads)
{
    par_set_threads(threads);
    init(h, op, c, dtype, many_rows(c));
    harness_forward(h, h->graph.batch);
    harness_backward(h, h->graph.batch);
    par_set_threads(1);
}

START_TEST(threads_do_not_matter)
{
    const struct op *op = op_of(_i);
    for (const struct op_case *c = op->cases; c->n_in; c++) {
        struct harness a, b;
        run_with(&a, op, c, dtype_of(_i), 1);
        run_with(&b, op, c, dtype_of(_i), 3);
        ck_assert_mem_eq(&a.loss, &b.loss, sizeof(a.loss));
        for (int t = 0; t < a.graph.n_tensors; t++)
            ck_assert_msg(memcmp(a.graph.tensors[t].data, b.graph.tensors[t].data,
                                 a.graph.tensors[t].bytes) == 0,
                          "%s: '%s' differs with 1 and 3 threads", about(op, c, dtype_of(_i)),
                          a.graph.tensors[t].name);
        harness_release(&a);
        harness_release(&b);
    }
}
END_TEST

/* ---- whole outputs, and nothing more ---- */

static bool all_ones(const struct harness *h, int tensor, int64_t from)
{
    const struct tensor *t = graph_tensor(&h->graph, tensor);
    const unsigned char *bytes = t->data;
    for (size_t i = (size_t)from * dtype_size(t->dtype); i < t->bytes; i++)
        if (bytes[i] != 0xFF)
            return false;
    return true;
}

/* The first elements of a tensor are numbers, the others as they were: NaN, all bits 1. */
static void check_written(const char *what, const struct harness *h, int tensor, int64_t rows)
{
    const struct tensor *t = graph_tensor(&h->graph, tensor);
    int64_t wanted = t->batched ? rows * tensor_row_elements(t) : tensor_elements(t);
    for (int64_t i = 0; i < wanted; i++)
        ck_assert_msg(isfinite(harness_get(h, tensor, i)), "%s: %s[%d] is not written", what,
                      t->name, (int)i);
    ck_assert_msg(all_ones(h, tensor, wanted), "%s: '%s' is written behind row %d", what, t->name,
                  (int)rows);
}

static void clear_rows(struct harness *h, int tensor, int64_t rows)
{
    const struct tensor *t = graph_tensor(&h->graph, tensor);
    for (int64_t i = rows * tensor_row_elements(t); i < tensor_elements(t); i++)
        harness_set(h, tensor, i, NAN);
}

/* A short batch behind which all inputs are NaN. */
static void short_case(const struct op *op, const struct op_case *c, enum dtype dtype, int64_t rows)
{
    const char *what = about(op, c, dtype);
    struct harness h;
    init(&h, op, c, dtype, 0);
    const struct node *n = harness_node(&h);
    for (int i = 0; i < h.n_x; i++)
        clear_rows(&h, n->in[i], rows);
    if (n->out != TENSOR_NONE)
        clear_rows(&h, harness_grad(&h, n->out), rows);
    harness_forward(&h, rows);
    harness_backward(&h, rows);
    if (n->out != TENSOR_NONE)
        check_written(what, &h, n->out, rows);
    for (int i = 0; i < n->n_saved; i++)
        ck_assert_msg(all_ones(&h, n->saved[i],
                               rows * tensor_row_elements(graph_tensor(&h.graph, n->saved[i]))),
                      "%s: saved tensor written behind row %d", what, (int)rows);
    int grads[NODE_MAX_IN + NODE_MAX_PARAMS], count = gradients(&h, grads);
    for (int i = 0; i < count; i++)
        check_written(what, &h, grads[i], rows);
    if (op->kind == OP_LOSS) {
        ck_assert_msg(isfinite(h.loss.sum), "%s: loss of %d rows", what, (int)rows);
        ck_assert_int_eq(h.loss.count,
                         op->count(&h.graph, n, graph_tensor(&h.graph, n->in[1])->data, rows));
    }
    harness_release(&h);
}

START_TEST(writes_its_rows_and_no_other)
{
    const struct op *op = op_of(_i);
    for (const struct op_case *c = op->cases; c->n_in; c++)
        for (int64_t rows = 1; rows <= c->in[0].dims[0]; rows++)
            short_case(op, c, dtype_of(_i), rows);
}
END_TEST

/* Without a gradient of its input (the first layer), backward leaves it alone. */
START_TEST(input_without_gradient)
{
    const struct op *op = op_of(_i);
    for (const struct op_case *c = op->cases; c->n_in; c++) {
        struct harness h;
        init(&h, op, c, dtype_of(_i), 0);
        const struct node *n = harness_node(&h);
        int d_in = harness_grad(&h, n->in[0]);
        graph_tensor(&h.graph, n->in[0])->grad = TENSOR_NONE;
        harness_forward(&h, h.graph.batch);
        harness_backward(&h, h.graph.batch);
        ck_assert(all_ones(&h, d_in, 0));
        for (int i = 0; i < n->n_params; i++)
            check_written(op->name, &h, harness_grad(&h, n->param[i]), h.graph.batch);
        harness_release(&h);
    }
}
END_TEST

/* A NaN input makes the output, or the loss, NaN: nothing swallows it. */
START_TEST(nan_comes_through)
{
    const struct op *op = op_of(_i);
    for (const struct op_case *c = op->cases; c->n_in; c++) {
        struct harness h;
        init(&h, op, c, dtype_of(_i), 0);
        struct node *n = harness_node(&h);
        h.run.training = op != op_get(OP_dropout); /* a dropped NaN is 0 */
        harness_set(&h, n->in[0], 0, NAN);
        if (op->target == TARGET_CLASS)
            *(int32_t *)graph_tensor(&h.graph, n->in[1])->data = 2; /* a label that counts */
        harness_forward(&h, h.graph.batch);
        ck_assert_msg(isnan(op->kind == OP_LOSS ? h.loss.sum : (double)harness_get(&h, n->out, 0)),
                      "%s", about(op, c, dtype_of(_i)));
        harness_release(&h);
    }
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
    printf("instruction set: %s\n", isa_name(cpu_isa()));
    Suite *s = suite_create("ops");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, has_cases, 0, OP_COUNT);
    tcase_add_loop_test(t, gradient_is_the_derivative, 0, OP_COUNT);
    tcase_add_loop_test(t, half_rounds_once, 0, OP_COUNT * N_DTYPES);
    tcase_add_loop_test(t, with_activation, 0, OP_COUNT);
    tcase_add_loop_test(t, gradients_add_up, 0, OP_COUNT * N_DTYPES);
    tcase_add_loop_test(t, threads_do_not_matter, 0, OP_COUNT * N_DTYPES);
    tcase_add_loop_test(t, writes_its_rows_and_no_other, 0, OP_COUNT * N_DTYPES);
    tcase_add_loop_test(t, input_without_gradient, 0, OP_COUNT * N_DTYPES);
    tcase_add_loop_test(t, nan_comes_through, 0, OP_COUNT * N_DTYPES);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? 1 : 0;
}
