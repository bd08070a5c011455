/* op_batchnorm.c: y = act((x - mean) / sqrt(var + eps) * weight + bias), each channel (the last
 * dimension) by its mean and variance over the batch and all inner dimensions (Ioffe and Szegedy
 * 2015). Statistics and parameters are FP32, whatever x is stored in.
 *
 * Training uses the batch's variance (divided by n), and stages the running statistics, which take
 * the unbiased variance (divided by n - 1), as PyTorch does. Evaluation uses the running
 * statistics; so does a training batch with one value a channel, which has no variance: it leaves
 * them as they are.
 *
 * Values are summed as distances from the first row: a mean much larger than the deviation costs no
 * digits. */
#include "config.h"

#include "kern/kern_vec.h"
#include "op/columns.h"

#include <math.h>

enum { WEIGHT, BIAS };
enum { RUNNING_MEAN, RUNNING_VAR };
enum { MEAN, FACTOR }; /* saved: the mean, and 1/sqrt(var + eps) */

struct batchnorm {
    double momentum, eps;
    bool affine;
};

static const struct key keys[] = {
    {"momentum", KEY_FLOAT, offsetof(struct batchnorm, momentum), "0.1", 0, 1, 0, NULL,
     "Share of the newest batch in the running mean and variance."},
    {"eps", KEY_FLOAT, offsetof(struct batchnorm, eps), "1e-5", 0, 1, KEY_ABOVE_MIN, NULL,
     "Added to the variance."},
    {"affine", KEY_BOOL, offsetof(struct batchnorm, affine), "true", 0, 0, 0, NULL,
     "Multiply by a weight, which starts at 1, and add a bias, which starts at 0."},
    {0},
};

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    const struct batchnorm *a = n->attrs.at;
    const struct tensor *in = graph_tensor(g, n->in[0]);
    int64_t c = tensor_columns(in);
    if (in->rank < 2)
        return diag_error(d, RC_CONFIG, n->loc, "batchnorm '%s': its input has no channels",
                          n->name);
    if (a->affine) {
        struct init one = {.kind = INIT_CONSTANT, .scale = 1}, zero = {.kind = INIT_ZEROS};
        TRY(op_add_param(g, n, "weight", 1, &c, one, d));
        TRY(op_add_param(g, n, "bias", 1, &c, zero, d));
    }
    TRY(op_add_statistic(g, n, "running_mean", c, 0, d));
    TRY(op_add_statistic(g, n, "running_var", c, 1, d));
    TRY(op_add_saved(g, n, "mean", false, 1, &c, d));
    TRY(op_add_saved(g, n, "factor", false, 1, &c, d));
    return op_add_out_like(g, n, 0, d);
}

/* Scratch: partial sums, their totals (2,C) f64, then five vectors (C) f32. */
enum { VECTORS = 5 };

static void plan(struct op_planner *p, struct node *n)
{
    int64_t c = tensor_columns(graph_tensor(p->graph, n->in[0]));
    op_plan_scratch(n, columns_scratch(c) +
                           (size_t)c * (2 * sizeof(double) + VECTORS * sizeof(float)));
}

struct job {
    int64_t rows, c; /* values of a channel, channels */
    struct view x, y, pre, dy, dx, saved;
    enum gemm_act act;
    bool add;
    const float *mean, *factor; /* (C), as saved */
    double *sums;               /* (2,C) */
    float *vector[VECTORS];     /* (C) each */
};

static struct job job_of(const struct op_run *r, const struct node *n)
{
    struct job j = {.c = tensor_columns(graph_tensor(r->graph, n->in[0])),
                    .x = op_view(r, n->in[0]),
                    .y = op_view(r, n->out),
                    .act = (enum gemm_act)n->act,
                    .mean = op_f32(r, n->saved[MEAN]),
                    .factor = op_f32(r, n->saved[FACTOR])};
    if (n->pre != TENSOR_NONE)
        j.pre = op_view(r, n->pre);
    j.rows = op_elements(r, n->in[0]) / j.c;
    j.sums = (double *)(void *)((char *)r->scratch + columns_scratch(j.c));
    for (int i = 0; i < VECTORS; i++)
        j.vector[i] = (float *)(void *)(j.sums + 2 * j.c) + i * j.c;
    return j;
}

/* ---- forward ---- */

static void moments_tile(void *context, const struct columns_tile *t, float *sum, float *square)
{
    const struct job *j = context;
    float tile[KERN_TILE];
    const float *x = kern_load(j->x, t->at, t->n, tile);
    kern_vec()->column_moments(t->rows, t->cols, x, j->vector[0] + t->col, sum, square);
}

/* The statistics of this batch, into what is saved and what is staged. */
static void measure(const struct op_run *r, const struct node *n, const struct job *j)
{
    const struct batchnorm *a = n->attrs.at;
    float *first = j->vector[0], *mean = op_f32(r, n->saved[MEAN]);
    float *factor = op_f32(r, n->saved[FACTOR]);
    float *next_mean = op_f32(r, n->staged[RUNNING_MEAN]);
    float *next_var = op_f32(r, n->staged[RUNNING_VAR]);
    double count = (double)j->rows;
    for (int64_t c = 0; c < j->c; c += KERN_TILE) {
        int64_t some = j->c - c < KERN_TILE ? j->c - c : KERN_TILE;
        kern_cast(DTYPE_F32, first + c, j->x.dtype,
                  (const char *)j->x.data + (size_t)c * dtype_size(j->x.dtype), some);
    }
    columns_sums(j->rows, j->c, moments_tile, (void *)j, r->scratch, j->sums);
    for (int64_t c = 0; c < j->c; c++) {
        double off = j->sums[c] / count, var = j->sums[j->c + c] / count - off * off;
        double m = (double)first[c] + off;
        var = var < 0 ? 0 : var; /* rounding; a NaN stays */
        mean[c] = (float)m;
        factor[c] = (float)(1 / sqrt(var + a->eps));
        next_mean[c] = (float)((1 - a->momentum) * (double)next_mean[c] + a->momentum * m);
        next_var[c] = (float)((1 - a->momentum) * (double)next_var[c] +
                              a->momentum * var * count / (count - 1));
    }
}

/* The running statistics instead. */
static void recall(const struct op_run *r, const struct node *n, const struct job *j)
{
    const struct batchnorm *a = n->attrs.at;
    const float *running_mean = op_f32(r, n->statistic[RUNNING_MEAN]);
    const float *running_var = op_f32(r, n->statistic[RUNNING_VAR]);
    float *mean = op_f32(r, n->saved[MEAN]), *factor = op_f32(r, n->saved[FACTOR]);
    for (int64_t c = 0; c < j->c; c++) {
        mean[c] = running_mean[c];
        factor[c] = (float)(1 / sqrt((double)running_var[c] + a->eps));
    }
}

static void normalise_tile(void *context, const struct columns_tile *t)
{
    const struct job *j = context;
    float in[KERN_TILE], y[KERN_TILE];
    const float *x = kern_load(j->x, t->at, t->n, in);
    kern_vec()->column_affine(t->rows, t->cols, x, j->mean + t->col, j->vector[0] + t->col,
                              j->vector[1] + t->col, y);
    if (j->pre.data)
        kern_store(j->pre, t->at, t->n, y);
    kern_gemm_act(j->act, t->n, y);
    kern_store(j->y, t->at, t->n, y);
}

/* y = (x - mean) vector 0 + vector 1 */
static void make_affine(const struct op_run *r, const struct node *n, const struct job *j)
{
    bool affine = n->n_params > 0;
    for (int64_t c = 0; c < j->c; c++) {
        j->vector[0][c] = j->factor[c] * (affine ? op_f32(r, n->param[WEIGHT])[c] : 1);
        j->vector[1][c] = affine ? op_f32(r, n->param[BIAS])[c] : 0;
    }
}

static bool has_batch_statistics(const struct op_run *r, const struct job *j)
{
    return r->training && j->rows > 1;
}

static void forward(const struct op_run *r, const struct node *n)
{
    struct job j = job_of(r, n);
    if (has_batch_statistics(r, &j))
        measure(r, n, &j);
    else
        recall(r, n, &j);
    make_affine(r, n, &j);
    columns_each(j.rows, j.c, normalise_tile, &j);
}

/* ---- backward ---- */

/* What normalise_tile did, for columns from col on. */
static struct vec_column_norm norm_of(const struct job *j, int64_t col)
{
    return (struct vec_column_norm){j->mean + col, j->vector[0] + col, j->vector[1] + col};
}

/* Also takes the activation back: a relu is told by x, others in the place of their gradient. */
static void products_tile(void *context, const struct columns_tile *t, float *sum, float *dot)
{
    const struct job *j = context;
    float in[KERN_TILE], grad[KERN_TILE], saved[KERN_TILE];
    const float *x = kern_load(j->x, t->at, t->n, in), *dy = kern_load(j->dy, t->at, t->n, grad);
    if (j->act == GEMM_ACT_RELU) {
        struct vec_column_norm norm = norm_of(j, t->col);
        kern_vec()->column_products_relu(t->rows, t->cols, dy, x, &norm, sum, dot);
        return;
    }
    if (j->act != GEMM_ACT_NONE) {
        kern_gemm_act_grad(j->act, t->n, kern_load(j->saved, t->at, t->n, saved), dy, grad);
        kern_store(j->dy, t->at, t->n, grad);
        dy = grad;
    }
    kern_vec()->column_products(t->rows, t->cols, dy, x, j->mean + t->col, sum, dot);
}

static void grad_tile(void *context, const struct columns_tile *t)
{
    const struct job *j = context;
    float in[KERN_TILE], grad[KERN_TILE], out[KERN_TILE];
    const struct vec_column_norm norm = norm_of(j, t->col);
    const struct vec_column_grad g = {norm.mean, j->vector[2] + t->col, j->vector[3] + t->col,
                                      j->vector[4] + t->col};
    const float *x = kern_load(j->x, t->at, t->n, in), *dy = kern_load(j->dy, t->at, t->n, grad);
    if (j->act == GEMM_ACT_RELU)
        kern_vec()->column_grad_relu(t->rows, t->cols, dy, x, &norm, &g, out);
    else
        kern_vec()->column_grad(t->rows, t->cols, dy, x, &g, out);
    (j->add ? kern_store_add : kern_store)(j->dx, t->at, t->n, out);
}

/* dx = w f (dy - (sum dy + (x - mean) f^2 sum dy (x - mean)) / n), f = 1/sqrt(var + eps); without
 * statistics of the batch: w f dy. */
static void backward(const struct op_run *r, const struct node *n)
{
    struct job j = job_of(r, n);
    j.dy = op_d_out(r, n);
    j.dx = op_d_in(r, n, 0);
    j.add = n->grad_adds[0];
    if (j.act != GEMM_ACT_NONE && j.act != GEMM_ACT_RELU)
        j.saved = kern_gemm_act_reads_out(j.act) ? j.y : j.pre;
    make_affine(r, n, &j);
    columns_sums(j.rows, j.c, products_tile, &j, r->scratch, j.sums);
    const double *sum = j.sums, *dot = j.sums + j.c;
    bool affine = n->n_params > 0;
    double share = has_batch_statistics(r, &j) ? 1 / (double)j.rows : 0;
    for (int64_t c = 0; c < j.c; c++) {
        double f = (double)j.factor[c], w = affine ? (double)op_f32(r, n->param[WEIGHT])[c] : 1;
        if (affine) {
            float *dw = op_d_param(r, n, WEIGHT) + c, *db = op_d_param(r, n, BIAS) + c;
            *dw = (r->add_dparams ? *dw : 0) + (float)(dot[c] * f);
            *db = (r->add_dparams ? *db : 0) + (float)sum[c];
        }
        j.vector[2][c] = (float)(w * f);
        j.vector[3][c] = (float)(-w * f * f * f * dot[c] * share);
        j.vector[4][c] = (float)(-w * f * sum[c] * share);
    }
    if (j.dx.data)
        columns_each(j.rows, j.c, grad_tile, &j);
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {6, 5}}}, 0},
    {"{eps: 0.1, affine: false}", 1, {{2, {4, 3}}}, 0},
    {"{momentum: 0.5}", 1, {{4, {2, 3, 2, 4}}}, 0},
    {NULL, 1, {{3, {3, 2, 33}}}, 0},
    {0},
};

const struct op op_batchnorm = {
    .name = "batchnorm",
    .help = "Normalises each channel by its mean and variance over the batch; in evaluation by the "
            "running ones, which use the unbiased variance.",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct batchnorm),
    .reads = OP_READS_IN,
    .takes_act = true,
    .shape = shape,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
