/* op_linear.c: y = act(x W' + b) on the last dimension: (B,...,K) -> (B,...,N). All inner
 * dimensions are rows of one GEMM. W is (N,K), as in PyTorch; b and a fused activation are the
 * epilogue of the GEMM.
 *
 *     slot 0  Y  (M,N) = X (M,K) . W' (K,N) + b      W packed ahead
 *     slot 1  dX (M,K) = dY (M,N) . W (N,K)          W packed ahead, in its other layout
 *     slot 2  dW (N,K) = dY' (N,M) . X (M,K)         FP32, straight from the accumulators */
#include "config.h"

#include "op/op.h"

#include <math.h>
#include <stddef.h>

enum { SLOT_OUT, SLOT_D_IN, SLOT_D_WEIGHT };
enum { WEIGHT, BIAS };

struct linear {
    int64_t units;
    bool bias;
    struct op_init_attrs init;
};

static const struct key keys[] = {
    {"units", KEY_INT, offsetof(struct linear, units), NULL, 1, 1 << 30, 0, NULL,
     "Number of outputs."},
    {"bias", KEY_BOOL, offsetof(struct linear, bias), "true", 0, 0, 0, NULL,
     "Add a bias. It starts uniform within 1/sqrt(fan_in) with init: kaiming, at 0 otherwise."},
    OP_INIT_KEYS(struct linear, init),
    {0},
};

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    const struct linear *a = n->attrs.at;
    TRY(op_check_init(n, &a->init, d));
    struct tensor in = *graph_tensor(g, n->in[0]);
    if (in.rank < 2)
        return diag_error(d, RC_CONFIG, n->loc,
                          "linear '%s': its input has no features: "
                          "it needs (B,features)",
                          n->name);
    int64_t fan_in = tensor_columns(&in);
    int64_t weight[2] = {a->units, fan_in};
    struct init init = op_init(&a->init, fan_in, a->units);
    TRY(op_add_param(g, n, "weight", 2, weight, init, d));
    if (a->bias) {
        struct init start = {.kind = INIT_ZEROS, .fan_in = fan_in, .fan_out = a->units};
        if (init.kind == INIT_KAIMING) {
            start.kind = INIT_UNIFORM;
            start.scale = 1 / sqrt((double)fan_in);
        }
        TRY(op_add_param(g, n, "bias", 1, &a->units, start, d));
    }
    in.dims[in.rank - 1] = a->units;
    return op_add_out(g, n, in.rank, in.dims, d);
}

/* Rows of the GEMMs at `batch` rows of the batch. */
static int64_t gemm_rows(const struct graph *g, const struct node *n, int64_t batch)
{
    const struct tensor *in = graph_tensor(g, n->in[0]);
    return batch * (tensor_row_elements(in) / tensor_columns(in));
}

static void plan(struct op_planner *p, struct node *n)
{
    const struct graph *g = p->graph;
    const struct tensor *in = graph_tensor(g, n->in[0]), *out = graph_tensor(g, n->out);
    int64_t m = gemm_rows(g, n, g->batch), k = tensor_columns(in), units = tensor_columns(out);
    enum dtype x = in->dtype, y = out->dtype;
    int d_in = in->grad, d_out = out->grad;
    enum dtype dx = d_in != TENSOR_NONE ? graph_tensor(g, d_in)->dtype : x;
    enum dtype dy = d_out != TENSOR_NONE ? graph_tensor(g, d_out)->dtype : y;

    struct gemm_desc forward = {.m = m,
                                .n = units,
                                .k = k,
                                .b_trans = true,
                                .a = x,
                                .b = DTYPE_F32,
                                .c = y,
                                .compute = n->dtype,
                                .b_is_weight = true,
                                .bias = n->n_params > BIAS,
                                .act = (enum gemm_act)n->act};
    op_plan_gemm(p, n, SLOT_OUT, &forward, WEIGHT);
    if (!p->training)
        return;
    if (d_in != TENSOR_NONE) {
        struct gemm_desc back = {.m = m,
                                 .n = k,
                                 .k = units,
                                 .a = dy,
                                 .b = DTYPE_F32,
                                 .c = dx,
                                 .compute = n->dtype,
                                 .b_is_weight = true};
        op_plan_gemm(p, n, SLOT_D_IN, &back, WEIGHT);
    }
    struct gemm_desc weight = {.m = units,
                               .n = k,
                               .k = m,
                               .a_trans = true,
                               .a = dy,
                               .b = x,
                               .c = DTYPE_F32,
                               .compute = n->dtype};
    op_plan_gemm(p, n, SLOT_D_WEIGHT, &weight, WEIGHT);
}

/* The weight as GEMM `slot` wants it: (N,K), f32 or the packed panel. */
static const void *weight_of(const struct op_run *r, const struct node *n, int slot)
{
    int id = n->shadow[slot] != TENSOR_NONE ? n->shadow[slot] : n->param[WEIGHT];
    return graph_tensor(r->graph, id)->data;
}

static void forward(const struct op_run *r, const struct node *n)
{
    const struct graph *g = r->graph;
    int64_t k = tensor_columns(graph_tensor(g, n->in[0]));
    int64_t units = tensor_columns(graph_tensor(g, n->out));
    struct gemm_args args = {.m = gemm_rows(g, n, r->rows),
                             .n = units,
                             .k = k,
                             .a = op_view(r, n->in[0]).data,
                             .lda = k,
                             .b = weight_of(r, n, SLOT_OUT),
                             .ldb = k,
                             .c = op_view(r, n->out).data,
                             .ldc = units,
                             .bias = n->n_params > BIAS ? op_f32(r, n->param[BIAS]) : NULL,
                             .pre = n->pre != TENSOR_NONE ? op_view(r, n->pre).data : NULL,
                             .scratch = r->scratch};
    kern_gemm_run(n->gemm[SLOT_OUT], &args);
}

static void backward(const struct op_run *r, const struct node *n)
{
    const struct graph *g = r->graph;
    int64_t m = gemm_rows(g, n, r->rows), k = tensor_columns(graph_tensor(g, n->in[0]));
    int64_t units = tensor_columns(graph_tensor(g, n->out));
    struct view dy = op_undo_act(r, n), dx = op_d_in(r, n, 0);
    if (n->n_params > BIAS)
        op_column_sum(dy, m, units, op_d_param(r, n, BIAS), r->add_dparams);
    struct gemm_args weight = {.m = units,
                               .n = k,
                               .k = m,
                               .a = dy.data,
                               .lda = units,
                               .b = op_view(r, n->in[0]).data,
                               .ldb = k,
                               .c = op_d_param(r, n, WEIGHT),
                               .ldc = k,
                               .add = r->add_dparams,
                               .scratch = r->scratch};
    kern_gemm_run(n->gemm[SLOT_D_WEIGHT], &weight);
    if (!dx.data)
        return;
    struct gemm_args back = {.m = m,
                             .n = k,
                             .k = units,
                             .a = dy.data,
                             .lda = units,
                             .b = weight_of(r, n, SLOT_D_IN),
                             .ldb = k,
                             .c = dx.data,
                             .ldc = k,
                             .add = n->grad_adds[0],
                             .scratch = r->scratch};
    kern_gemm_run(n->gemm[SLOT_D_IN], &back);
}

static double flops(const struct graph *g, const struct node *n)
{
    return 2.0 * (double)gemm_rows(g, n, g->batch) *
           (double)tensor_elements(graph_tensor(g, n->param[WEIGHT]));
}

static const struct op_case cases[] = {
    {"{units: 3}", 1, {{2, {5, 7}}}, 0},
    {"{units: 1, bias: false, init: xavier}", 1, {{2, {4, 1}}}, 0},
    {"{units: 33, init: normal, init_scale: 0.1}", 1, {{2, {17, 65}}}, 0},
    {"{units: 5, init: uniform}", 1, {{3, {3, 4, 6}}}, 0},
    {"{units: 40}", 1, {{2, {70, 20}}}, 0},
    {0},
};

const struct op op_linear = {
    .name = "linear",
    .help = "Fully connected layer on the last dimension.",
    .kind = OP_LAYER,
    .class = OP_ALLOW,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct linear),
    .reads = OP_READS_IN,
    .takes_act = true,
    .shape = shape,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .flops = flops,
    .cases = cases,
};
