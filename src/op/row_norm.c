/* row_norm.c: see row_norm.h.
 *
 *     f = 1/sqrt(mean((x - m)^2) + eps), m the mean or 0
 *     h = (x - m) f,  y = h w + b
 *     dx = f (dy w - [mean(dy w)] - h mean(dy w h)), the middle term where the mean is subtracted
 *     dw = sum over rows of dy h,  db = sum over rows of dy
 *
 * Scratch: partial sums of dw and db (PARTS,2,C) f64; then for each thread ROOMS rows (C) f32. */
#include "config.h"

#include "op/row_norm.h"

#include "base/par.h"
#include "kern/kern_vec.h"

#include <math.h>
#include <string.h>

enum { WEIGHT, BIAS };
enum { FACTOR, MEAN }; /* saved, of each row */
enum { PARTS = 64, PART = 32 * KERN_TILE, GROUP = 64, ROOMS = 5 };

enum rc row_norm_shape(const struct row_norm *k, struct graph *g, struct node *n, struct diag *d)
{
    const struct row_norm_attrs *a = n->attrs.at;
    struct tensor in = *graph_tensor(g, n->in[0]);
    int64_t c = tensor_columns(&in), rows[2] = {in.dims[0], tensor_row_elements(&in) / c};
    if (in.rank < 2)
        return diag_error(d, RC_CONFIG, n->loc, "%s '%s': its input has no features", n->op->name,
                          n->name);
    struct init one = {.kind = INIT_CONSTANT, .scale = 1}, zero = {.kind = INIT_ZEROS};
    if (a->affine)
        TRY(op_add_param(g, n, "weight", 1, &c, one, d));
    if (a->affine && a->bias)
        TRY(op_add_param(g, n, "bias", 1, &c, zero, d));
    TRY(op_add_saved(g, n, "factor", true, 2, rows, d));
    if (k->centres)
        TRY(op_add_saved(g, n, "mean", true, 2, rows, d));
    return op_add_out_like(g, n, 0, d);
}

static size_t sums_bytes(int64_t c)
{
    return (size_t)(PARTS * 2 * c) * sizeof(double);
}

static size_t room_bytes(int64_t c)
{
    return ((size_t)(ROOMS * c) * sizeof(float) + 63) / 64 * 64;
}

void row_norm_plan(struct op_planner *p, struct node *n)
{
    int64_t c = tensor_columns(graph_tensor(p->graph, n->in[0]));
    op_plan_scratch(n, sums_bytes(c) + room_bytes(c) * (size_t)par_threads());
}

struct job {
    const struct row_norm *kind;
    double eps;
    int64_t rows, c, parts;
    struct view x, y, dy, dx;
    bool add;
    const float *w, *b;   /* (C) or NULL */
    float *factor, *mean; /* (rows); mean NULL where it is not subtracted */
    char *scratch;
};

static struct job job_of(const struct row_norm *k, const struct op_run *r, const struct node *n)
{
    const struct row_norm_attrs *a = n->attrs.at;
    struct job j = {.kind = k,
                    .eps = a->eps,
                    .c = tensor_columns(graph_tensor(r->graph, n->in[0])),
                    .x = op_view(r, n->in[0]),
                    .y = op_view(r, n->out),
                    .factor = op_f32(r, n->saved[FACTOR]),
                    .mean = k->centres ? op_f32(r, n->saved[MEAN]) : NULL,
                    .scratch = r->scratch};
    j.w = n->n_params > WEIGHT ? op_f32(r, n->param[WEIGHT]) : NULL;
    j.b = n->n_params > BIAS ? op_f32(r, n->param[BIAS]) : NULL;
    j.rows = op_elements(r, n->in[0]) / j.c;
    int64_t parts = j.rows * j.c / PART + 1;
    j.parts = parts < PARTS ? parts : PARTS;
    return j;
}

static float *room_of(const struct job *j, int i)
{
    char *own = j->scratch + sums_bytes(j->c) + (size_t)par_thread() * room_bytes(j->c);
    return (float *)(void *)own + i * j->c;
}

/* out = (x - m) f of a row whose m and f are known. */
static void normalise(const struct job *j, int64_t row, const float *x, float *out)
{
    if (j->mean)
        kern_vec()->shift(j->c, x, -j->mean[row], out);
    kern_vec()->scale(j->c, j->mean ? out : x, j->factor[row], out);
}

static void forward_row(const struct job *j, int64_t row)
{
    const struct vec_row *vec = kern_vec();
    float *in = room_of(j, 0), *out = room_of(j, 1);
    const float *x = kern_load(j->x, row * j->c, j->c, in), *centred = x;
    if (j->mean) {
        j->mean[row] = (float)(vec->sum(j->c, x) / (double)j->c);
        vec->shift(j->c, x, -j->mean[row], out);
        centred = out;
    }
    double square = vec->square_sum(j->c, centred) / (double)j->c;
    j->factor[row] = (float)(1 / sqrt(square + j->eps));
    vec->scale(j->c, centred, j->factor[row], out);
    if (j->w)
        vec->mul(j->c, out, j->w, out);
    if (j->b)
        vec->add(j->c, out, j->b, out);
    kern_store(j->y, row * j->c, j->c, out);
}

static void forward_part(void *context, int64_t part)
{
    const struct job *j = context;
    for (int64_t row = j->rows * part / j->parts; row < j->rows * (part + 1) / j->parts; row++)
        forward_row(j, row);
}

void row_norm_forward(const struct row_norm *k, const struct op_run *r, const struct node *n)
{
    struct job j = job_of(k, r, n);
    par_for(j.parts, forward_part, &j);
}

/* One row: dx, and dy h and dy into sums (2,C). */
static void backward_row(const struct job *j, int64_t row, float *sums)
{
    const struct vec_row *vec = kern_vec();
    float *in = room_of(j, 0), *grad = room_of(j, 1), *h = room_of(j, 2);
    int64_t c = j->c, at = row * c;
    const float *x = kern_load(j->x, at, c, in), *dy = kern_load(j->dy, at, c, grad);
    normalise(j, row, x, h);
    if (j->w) {
        vec->mul(c, dy, h, in); /* x is done with */
        vec->add(c, sums, in, sums);
    }
    if (j->b)
        vec->add(c, sums + c, dy, sums + c);
    if (!j->dx.data)
        return;
    if (j->w) {
        vec->mul(c, dy, j->w, grad);
        dy = grad;
    }
    double share = vec->dot(c, dy, h) / (double)c;
    double mean = j->mean ? vec->sum(c, dy) / (double)c : 0;
    vec->shift(c, dy, (float)-mean, grad);
    vec->axpy(c, (float)-share, h, grad);
    vec->scale(c, grad, j->factor[row], grad);
    (j->add ? kern_store_add : kern_store)(j->dx, at, c, grad);
}

static void backward_part(void *context, int64_t part)
{
    const struct job *j = context;
    double *total = (double *)(void *)j->scratch + part * 2 * j->c;
    float *sums = room_of(j, 3); /* and 4 */
    int64_t row = j->rows * part / j->parts, end = j->rows * (part + 1) / j->parts;
    memset(total, 0, (size_t)(2 * j->c) * sizeof(*total));
    while (row < end) {
        int64_t last = row + GROUP < end ? row + GROUP : end;
        memset(sums, 0, (size_t)(2 * j->c) * sizeof(*sums));
        for (; row < last; row++)
            backward_row(j, row, sums);
        for (int64_t i = 0; i < 2 * j->c; i++)
            total[i] += (double)sums[i];
    }
}

void row_norm_backward(const struct row_norm *k, const struct op_run *r, const struct node *n)
{
    struct job j = job_of(k, r, n);
    j.dy = op_d_out(r, n);
    j.dx = op_d_in(r, n, 0);
    j.add = n->grad_adds[0];
    par_for(j.parts, backward_part, &j);
    const double *partial = (const double *)(const void *)j.scratch;
    for (int i = 0; i < n->n_params; i++) {
        float *out = op_d_param(r, n, i);
        for (int64_t c = 0; c < j.c; c++) {
            double sum = 0;
            for (int64_t p = 0; p < j.parts; p++)
                sum += partial[(p * 2 + i) * j.c + c];
            out[c] = (r->add_dparams ? out[c] : 0) + (float)sum;
        }
    }
}
