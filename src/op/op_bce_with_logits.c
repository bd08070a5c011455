/* op_bce_with_logits.c: binary cross entropy of sigmoid(x) against targets t in [0, 1], the mean
 * over all elements. With e = exp(-|x|), which never overflows:
 *
 *     loss = log(1 + e) + (x > 0 ? (1 - t) x : -t x)
 *     d x  = x > 0 ? (1 - t) - q : q - t,    q = e/(1 + e) = sigmoid(-|x|)
 *
 * so that neither cancels for a confident and right answer. Accuracy: an element is right when
 * (x > 0) == (t > 1/2). */
#include "config.h"

#include "kern/kern_vec.h"
#include "op/op_loss.h"

#include <math.h>

/* e = exp(-|x|) */
static void exp_minus_abs(int64_t n, const float *x, float *e)
{
    for (int64_t i = 0; i < n; i++)
        e[i] = -fabsf(x[i]);
    kern_vec()->exp(n, e, e);
}

/* log(1 + e) for e in [0, 1], without the loss of digits of 1 + e: the rounding error of u = 1 + e
 * is taken out again by e/(u - 1) (Kahan). u is e's workspace. */
static void log_one_plus(int64_t n, const float *e, float *u, float *out)
{
    for (int64_t i = 0; i < n; i++)
        u[i] = 1 + e[i];
    kern_vec()->log(n, u, out);
    for (int64_t i = 0; i < n; i++)
        out[i] = u[i] == 1 ? e[i] : out[i] * (e[i] / (u[i] - 1));
}

/* Right answers; selects without branches, since x is random. */
static int64_t count_right(int64_t n, const float *x, const float *t)
{
    int right = 0; /* n is at most a tile */
    for (int64_t i = 0; i < n; i++) {
        int yes = x[i] > 0, no = x[i] <= 0, wanted = t[i] > 0.5F;
        right += (yes & wanted) | (no & (wanted ^ 1)); /* NaN is neither */
    }
    return right;
}

static void sum_tile(int64_t n, const float *x, const float *t, struct op_loss *out)
{
    float e[KERN_TILE], u[KERN_TILE], l[KERN_TILE];
    exp_minus_abs(n, x, e);
    log_one_plus(n, e, u, l);
    for (int64_t i = 0; i < n; i++)
        u[i] = (x[i] > 0 ? 1 - t[i] : -t[i]);
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)l[i] + (double)u[i] * (double)x[i];
    out->sum += sum;
    out->correct += count_right(n, x, t);
    out->count += n;
}

static void sum_elements(const struct op_run *r, const struct node *n, int64_t at, int64_t items,
                         struct op_loss *out)
{
    float tile[KERN_TILE];
    struct view x = op_view(r, n->in[0]);
    const float *t = op_loss_targets(r, n);
    for (int64_t end = at + items; at < end; at += KERN_TILE) {
        int64_t now = end - at < KERN_TILE ? end - at : KERN_TILE;
        sum_tile(now, kern_load(x, at, now, tile), t + at, out);
    }
}

static void forward(const struct op_run *r, const struct node *n)
{
    op_loss_sum(r, n, op_elements(r, n->in[0]), 1, sum_elements);
}

struct job {
    struct view x, d_x;
    const float *t;
    double seed;
    bool add;
};

static void grad_tile(void *context, int64_t at, int64_t n)
{
    const struct job *j = context;
    float tile[KERN_TILE], e[KERN_TILE], out[KERN_TILE];
    const float *x = kern_load(j->x, at, n, tile), *t = j->t + at;
    exp_minus_abs(n, x, e);
    for (int64_t i = 0; i < n; i++) {
        float q = e[i] / (1 + e[i]);
        float g = x[i] > 0 ? 1 - t[i] - q : q - t[i];
        out[i] = (float)((double)g * j->seed);
    }
    (j->add ? kern_store_add : kern_store)(j->d_x, at, n, out);
}

static void backward(const struct op_run *r, const struct node *n)
{
    struct job job = {op_view(r, n->in[0]), op_d_in(r, n, 0), op_loss_targets(r, n), r->loss_seed,
                      n->grad_adds[0]};
    if (job.d_x.data)
        op_tiles(op_elements(r, n->in[0]), grad_tile, &job);
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {5, 7}}}, 0},
    {NULL, 1, {{2, {4, 1}}}, 0},
    {NULL, 1, {{3, {3, 11, 41}}}, 0},
    {0},
};

const struct op op_bce_with_logits = {
    .name = "bce_with_logits",
    .help = "Binary cross entropy of logits against targets in [0, 1], mean over all elements.",
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
    .has_accuracy = true,
    .ignored_label = op_loss_ignores_none,
    .cases = cases,
};
