/* op_groupnorm.c: y = (x - mean) / sqrt(var + eps) * weight + bias, where mean and variance are of
 * one group of channels in one row of the batch, over all inner dimensions (Wu and He 2018). One
 * group: layer normalisation of images; as many as channels: instance normalisation. FP32 inside,
 * sums in FP64 of distances from the first pixel.
 *
 * Scratch: of each row of the batch two sums (2,C) f64 for the params' gradients; then of each
 * thread ROOMS vectors (C), f64 or f32. */
#include "config.h"

#include "base/par.h"
#include "kern/kern_vec.h"
#include "op/columns.h"

#include <math.h>
#include <string.h>

enum { WEIGHT, BIAS };
enum { MEAN, FACTOR }; /* saved: (B,groups) */
enum { ROOMS = 7 };

struct groupnorm {
    int64_t groups;
    double eps;
    bool affine;
};

static const struct key keys[] = {
    {"groups", KEY_INT, offsetof(struct groupnorm, groups), NULL, 1, 1 << 24, 0, NULL,
     "Groups of channels; divides their number."},
    {"eps", KEY_FLOAT, offsetof(struct groupnorm, eps), "1e-5", 0, 1, KEY_ABOVE_MIN, NULL,
     "Added to the variance."},
    {"affine", KEY_BOOL, offsetof(struct groupnorm, affine), "true", 0, 0, 0, NULL,
     "Multiply each channel by a weight, which starts at 1, and add a bias, which starts at 0."},
    {0},
};

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    const struct groupnorm *a = n->attrs.at;
    const struct tensor *in = graph_tensor(g, n->in[0]);
    int64_t c = tensor_columns(in), rows[2] = {in->dims[0], a->groups};
    if (in->rank < 2 || c % a->groups != 0)
        return diag_error(d, RC_CONFIG, n->loc,
                          "groupnorm '%s': 'groups' is %lld and must divide the %lld channels of "
                          "'%s'",
                          n->name, (long long)a->groups, in->rank < 2 ? 0 : (long long)c, in->name);
    if (a->affine) {
        struct init one = {.kind = INIT_CONSTANT, .scale = 1}, zero = {.kind = INIT_ZEROS};
        TRY(op_add_param(g, n, "weight", 1, &c, one, d));
        TRY(op_add_param(g, n, "bias", 1, &c, zero, d));
    }
    TRY(op_add_saved(g, n, "mean", true, 2, rows, d));
    TRY(op_add_saved(g, n, "factor", true, 2, rows, d));
    return op_add_out_like(g, n, 0, d);
}

static size_t vector_bytes(int64_t c)
{
    return ((size_t)c * sizeof(double) + 63) / 64 * 64;
}

static size_t sums_bytes(int64_t batch, int64_t c)
{
    return (size_t)batch * 2 * vector_bytes(c);
}

static void plan(struct op_planner *p, struct node *n)
{
    int64_t c = tensor_columns(graph_tensor(p->graph, n->in[0]));
    op_plan_scratch(n, sums_bytes(p->graph->batch, c) +
                           vector_bytes(c) * ROOMS * (size_t)par_threads());
}

struct job {
    int64_t pixels, c, groups;
    double eps;
    struct view x, y, dy, dx;
    bool add;
    const float *w, *b; /* (C) or NULL */
    float *mean, *factor;
    char *sums, *rooms;
};

/* What one thread works with for one row of the batch; vectors (C). */
struct row {
    const struct job *job;
    double *first, *second; /* sums over the pixels */
    float *mean, *factor, *offset, *of_x, *start;
};

static struct job job_of(const struct op_run *r, const struct node *n)
{
    const struct groupnorm *a = n->attrs.at;
    const struct tensor *in = graph_tensor(r->graph, n->in[0]);
    int64_t c = tensor_columns(in);
    struct job j = {.pixels = tensor_row_elements(in) / c,
                    .c = c,
                    .groups = a->groups,
                    .eps = a->eps,
                    .x = op_view(r, n->in[0]),
                    .y = op_view(r, n->out),
                    .mean = op_f32(r, n->saved[MEAN]),
                    .factor = op_f32(r, n->saved[FACTOR]),
                    .sums = r->scratch,
                    .rooms = (char *)r->scratch + sums_bytes(r->graph->batch, c)};
    if (a->affine) {
        j.w = op_f32(r, n->param[WEIGHT]);
        j.b = op_f32(r, n->param[BIAS]);
    }
    return j;
}

static struct row row_of(const struct job *j, int64_t b)
{
    char *own = j->rooms + (size_t)par_thread() * ROOMS * vector_bytes(j->c);
    char *sums = j->sums + sums_bytes(b, j->c);
    struct row r = {.job = j};
    float **vectors[] = {&r.mean, &r.factor, &r.offset, &r.of_x, &r.start};
    r.first = (double *)(void *)sums;
    r.second = (double *)(void *)(sums + vector_bytes(j->c));
    for (size_t i = 0; i < COUNT_OF(vectors); i++)
        *vectors[i] = (float *)(void *)(own + i * vector_bytes(j->c));
    memset(sums, 0, 2 * vector_bytes(j->c));
    return r;
}

/* first += and second += what a tile has, which comes in FP32. */
static void add_sums(const struct row *r, const struct columns_tile *t, const float *first,
                     const float *second)
{
    for (int64_t c = 0; c < t->cols; c++) {
        r->first[t->col + c] += (double)first[c];
        r->second[t->col + c] += (double)second[c];
    }
}

/* ---- forward ---- */

static void moments_tile(void *context, const struct columns_tile *t)
{
    const struct row *r = context;
    float tile[KERN_TILE], sum[KERN_TILE] = {0}, square[KERN_TILE] = {0};
    const float *x = kern_load(r->job->x, t->at, t->n, tile);
    kern_vec()->column_moments(t->rows, t->cols, x, r->start + t->col, sum, square);
    add_sums(r, t, sum, square);
}

/* Mean and 1/deviation of channels c .. c+n-1, from the sums of each. */
static void measure(const struct row *r, int64_t c, int64_t n, float *mean_out, float *factor_out)
{
    double count = (double)r->job->pixels, mean = 0, square = 0;
    for (int64_t i = c; i < c + n; i++)
        mean += ((double)r->start[i] + r->first[i] / count) / (double)n;
    for (int64_t i = c; i < c + n; i++) {
        double off = (double)r->start[i] + r->first[i] / count - mean;
        square += r->second[i] - r->first[i] * r->first[i] / count + count * off * off;
    }
    double var = square / (count * (double)n);
    *mean_out = (float)mean;
    *factor_out = (float)(1 / sqrt((var < 0 ? 0 : var) + r->job->eps));
}

static void normalise_tile(void *context, const struct columns_tile *t)
{
    const struct row *r = context;
    float tile[KERN_TILE], y[KERN_TILE];
    kern_vec()->column_affine(t->rows, t->cols, kern_load(r->job->x, t->at, t->n, tile),
                              r->mean + t->col, r->factor + t->col, r->offset + t->col, y);
    kern_store(r->job->y, t->at, t->n, y);
}

static void forward_row(void *context, int64_t b)
{
    const struct job *j = context;
    struct row r = row_of(j, b);
    int64_t n = j->c / j->groups, pixel = b * j->pixels;
    kern_cast(DTYPE_F32, r.start, j->x.dtype,
              (const char *)j->x.data + (size_t)(pixel * j->c) * dtype_size(j->x.dtype), j->c);
    columns_walk(pixel, pixel + j->pixels, j->c, moments_tile, &r);
    for (int64_t g = 0; g < j->groups; g++)
        measure(&r, g * n, n, &j->mean[b * j->groups + g], &j->factor[b * j->groups + g]);
    for (int64_t c = 0; c < j->c; c++) {
        r.mean[c] = j->mean[b * j->groups + c / n];
        r.factor[c] = j->factor[b * j->groups + c / n] * (j->w ? j->w[c] : 1);
        r.offset[c] = j->b ? j->b[c] : 0;
    }
    columns_walk(pixel, pixel + j->pixels, j->c, normalise_tile, &r);
}

static void forward(const struct op_run *r, const struct node *n)
{
    struct job j = job_of(r, n);
    par_for(r->rows, forward_row, &j);
}

/* ---- backward ---- */

static void products_tile(void *context, const struct columns_tile *t)
{
    const struct row *r = context;
    float in[KERN_TILE], grad[KERN_TILE], sum[KERN_TILE] = {0}, dot[KERN_TILE] = {0};
    kern_vec()->column_products(t->rows, t->cols, kern_load(r->job->dy, t->at, t->n, grad),
                                kern_load(r->job->x, t->at, t->n, in), r->mean + t->col, sum, dot);
    add_sums(r, t, sum, dot);
}

static void grad_tile(void *context, const struct columns_tile *t)
{
    const struct row *r = context;
    float in[KERN_TILE], grad[KERN_TILE], out[KERN_TILE];
    const struct vec_column_grad g = {r->mean + t->col, r->factor + t->col, r->of_x + t->col,
                                      r->offset + t->col};
    kern_vec()->column_grad(t->rows, t->cols, kern_load(r->job->dy, t->at, t->n, grad),
                            kern_load(r->job->x, t->at, t->n, in), &g, out);
    (r->job->add ? kern_store_add : kern_store)(r->job->dx, t->at, t->n, out);
}

/* dx = f (w dy - (sum w dy + (x - mean) f^2 sum w dy (x - mean)) / count), sums over the group. */
static void backward_row(void *context, int64_t b)
{
    const struct job *j = context;
    struct row r = row_of(j, b);
    int64_t n = j->c / j->groups, pixel = b * j->pixels;
    for (int64_t c = 0; c < j->c; c++)
        r.mean[c] = j->mean[b * j->groups + c / n];
    columns_walk(pixel, pixel + j->pixels, j->c, products_tile, &r);
    for (int64_t g = 0; g < j->groups; g++) {
        double f = (double)j->factor[b * j->groups + g], sum = 0, dot = 0;
        double count = (double)(j->pixels * n);
        for (int64_t c = g * n; c < (g + 1) * n; c++) {
            double w = j->w ? (double)j->w[c] : 1;
            r.factor[c] = (float)(w * f);
            sum += w * r.first[c];
            dot += w * r.second[c];
            r.second[c] *= f; /* from here on: the gradient of the weight */
        }
        for (int64_t c = g * n; c < (g + 1) * n; c++) {
            r.of_x[c] = (float)(-f * f * f * dot / count);
            r.offset[c] = (float)(-f * sum / count);
        }
    }
    if (j->dx.data)
        columns_walk(pixel, pixel + j->pixels, j->c, grad_tile, &r);
}

static void backward(const struct op_run *r, const struct node *n)
{
    struct job j = job_of(r, n);
    j.dy = op_d_out(r, n);
    j.dx = op_d_in(r, n, 0);
    j.add = n->grad_adds[0];
    par_for(r->rows, backward_row, &j);
    for (int i = 0; i < n->n_params; i++) {
        float *out = op_d_param(r, n, i);
        for (int64_t c = 0; c < j.c; c++) {
            double sum = 0;
            for (int64_t b = 0; b < r->rows; b++) {
                const char *sums = j.sums + sums_bytes(b, j.c);
                sums += i == WEIGHT ? vector_bytes(j.c) : 0;
                sum += ((const double *)(const void *)sums)[c];
            }
            out[c] = (r->add_dparams ? out[c] : 0) + (float)sum;
        }
    }
}

static const struct op_case cases[] = {
    {"{groups: 2}", 1, {{4, {2, 3, 2, 4}}}, 0},
    {"{groups: 3, affine: false, eps: 0.1}", 1, {{3, {3, 4, 3}}}, 0},
    {"{groups: 1}", 1, {{2, {3, 9}}}, 0},
    {0},
};

const struct op op_groupnorm = {
    .name = "groupnorm",
    .help = "Normalises groups of channels of each row of the batch.",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct groupnorm),
    .reads = OP_READS_IN,
    .shape = shape,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
