/* op_mse.c: (y - t)^2, its mean over all elements. Differences and squares are formed in FP64, so a
 * finite prediction has a finite loss. Gradient 2 (y - t) seed, narrowed once. */
#include "config.h"

#include "op/op_loss.h"

enum { LANES = 8 };

/* sum of (y - t)^2, in FP64 lanes of fixed order */
static double square_sum(int64_t n, const float *y, const float *t)
{
    double lane[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) {
            double e = (double)y[i + l] - (double)t[i + l];
            lane[l] += e * e;
        }
    for (; i < n; i++) {
        double e = (double)y[i] - (double)t[i];
        lane[0] += e * e;
    }
    double sum = 0;
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

static void sum_elements(const struct op_run *r, const struct node *n, int64_t at, int64_t items,
                         struct op_loss *out)
{
    float tile[KERN_TILE];
    struct view y = op_view(r, n->in[0]);
    const float *t = op_loss_targets(r, n);
    for (int64_t end = at + items; at < end; at += KERN_TILE) {
        int64_t now = end - at < KERN_TILE ? end - at : KERN_TILE;
        out->sum += square_sum(now, kern_load(y, at, now, tile), t + at);
        out->count += now;
    }
}

static void forward(const struct op_run *r, const struct node *n)
{
    op_loss_sum(r, n, op_elements(r, n->in[0]), 1, sum_elements);
}

struct job {
    struct view y, d_y;
    const float *t;
    double factor;
    bool add;
};

static void grad_tile(void *context, int64_t at, int64_t n)
{
    const struct job *j = context;
    float tile[KERN_TILE], out[KERN_TILE];
    const float *y = kern_load(j->y, at, n, tile), *t = j->t + at;
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)(((double)y[i] - (double)t[i]) * j->factor);
    (j->add ? kern_store_add : kern_store)(j->d_y, at, n, out);
}

static void backward(const struct op_run *r, const struct node *n)
{
    struct job job = {op_view(r, n->in[0]), op_d_in(r, n, 0), op_loss_targets(r, n),
                      2 * r->loss_seed, n->grad_adds[0]};
    if (job.d_y.data)
        op_tiles(op_elements(r, n->in[0]), grad_tile, &job);
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {5, 7}}}, 0},
    {NULL, 1, {{2, {4, 1}}}, 0},
    {NULL, 1, {{3, {3, 11, 41}}}, 0},
    {0},
};

const struct op op_mse = {
    .name = "mse",
    .help = "Mean of (prediction - target)^2 over all elements.",
    .kind = OP_LOSS,
    .class = OP_DENY,
    .in_min = 2,
    .in_max = 2,
    .reads = OP_READS_IN,
    .shape = op_loss_shape,
    .plan = op_loss_plan,
    .forward = forward,
    .backward = backward,
    .target = TARGET_REAL,
    .count = op_loss_count,
    .ignored_label = op_loss_ignores_none,
    .cases = cases,
};
