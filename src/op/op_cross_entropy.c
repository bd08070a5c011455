/* op_cross_entropy.c: -log softmax(x)[t] of logits (B,...,K) and labels (B,...), fused. With m the
 * largest logit of a row, e_j = exp(x_j - m) and rest = the sum of e_j without the largest:
 *
 *     loss = m - x_t + log(1 + rest),     p_j = e_j/(1 + rest),     d x_j = (p_j - y_j) seed
 *
 * Leaving the largest (an exact 1) out of the sum keeps all digits of small losses, and 1 - p of a
 * confident and right answer is rest/(1 + rest). Forward keeps m and rest for backward.
 * Label smoothing s: y_j = s/K, y_t = 1 - s + s/K. Rows with the ignored label have loss and
 * gradient 0 and do not count. Accuracy: the largest logit, ties to the lowest index. */
#include "config.h"

#include "base/par.h"
#include "kern/kern_vec.h"
#include "op/op_loss.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

enum { STATS = 2 }; /* saved for each row: m, rest */

struct cross_entropy {
    double label_smoothing;
    int64_t ignore_label;
};

static const struct key keys[] = {
    {"label_smoothing", KEY_FLOAT, offsetof(struct cross_entropy, label_smoothing), "0", 0, 1,
     KEY_BELOW_MAX, NULL, "Share of the target that is spread evenly over all classes."},
    {"ignore_label", KEY_INT, offsetof(struct cross_entropy, ignore_label), "-1", -1, INT32_MAX, 0,
     NULL, "Rows with this label do not count; -1: none."},
    {0},
};

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    struct tensor x = *graph_tensor(g, n->in[0]);
    int64_t classes = tensor_columns(&x);
    if (x.rank < 2 || classes < 2)
        return diag_error(d, RC_CONFIG, n->loc,
                          "loss cross_entropy: '%s' must give one value for each class, so at "
                          "least 2 a row; for a single yes or no use bce_with_logits",
                          x.name);
    int64_t predicted = tensor_row_elements(&x) / classes;
    int64_t wanted = tensor_row_elements(graph_tensor(g, n->in[1]));
    if (predicted != wanted)
        return diag_error(d, RC_CONFIG, n->loc,
                          "loss cross_entropy: '%s' makes %" PRId64 " predictions a row, the data "
                          "has %" PRId64 " labels a row; they must be as many (is a flatten "
                          "missing?)",
                          x.name, predicted, wanted);
    x.dims[x.rank - 1] = STATS;
    return op_add_saved(g, n, "stats", true, x.rank, x.dims, d);
}

/* Rows of logits in `batch` rows of the batch. */
static int64_t n_rows(const struct graph *g, const struct node *n, int64_t batch)
{
    return batch * tensor_row_elements(graph_tensor(g, n->in[1]));
}

static int64_t n_classes(const struct graph *g, const struct node *n)
{
    return tensor_columns(graph_tensor(g, n->in[0]));
}

static void plan(struct op_planner *p, struct node *n)
{
    op_loss_book(n, n_rows(p->graph, n, p->graph->batch), n_classes(p->graph, n));
}

static int64_t tile_size(int64_t left)
{
    return left < KERN_TILE ? left : KERN_TILE;
}

/* One row of logits at element `at` of x. */
struct row {
    struct view x;
    int64_t at, classes;
    float max;       /* NaN where any logit is */
    int64_t largest; /* the lowest index that has max; -1: none */
};

static struct row find_max(struct view x, int64_t at, int64_t classes)
{
    struct row row = {x, at, classes, -INFINITY, -1};
    float tile[KERN_TILE];
    for (int64_t k = 0; k < classes; k += KERN_TILE) {
        int64_t now = tile_size(classes - k);
        const float *v = kern_load(x, at + k, now, tile);
        float max = kern_vec()->max(now, v);
        if (max <= row.max)
            continue;
        row.max = max;
        row.largest = -1;
        if (isnan(max))
            return row;
        for (row.largest = k; v[row.largest - k] != max; row.largest++)
            continue;
    }
    return row;
}

/* x - m of columns k .. k+n-1 */
static void shifted(const struct row *row, int64_t k, int64_t n, float *out)
{
    const float *v = kern_load(row->x, row->at + k, n, out);
    for (int64_t i = 0; i < n; i++)
        out[i] = v[i] - row->max;
}

static float one_logit(const struct row *row, int64_t k)
{
    float tile[1];
    return *kern_load(row->x, row->at + k, 1, tile);
}

/* The sum of exp(x - m) without the largest; *below: the sum of m - x. */
static double sum_rest(const struct row *row, double *below)
{
    const struct vec_row *vec = kern_vec();
    float e[KERN_TILE];
    double rest = 0;
    *below = 0;
    for (int64_t k = 0; k < row->classes; k += KERN_TILE) {
        int64_t now = tile_size(row->classes - k);
        shifted(row, k, now, e);
        *below -= vec->sum(now, e);
        vec->exp(now, e, e);
        if (row->largest >= k && row->largest < k + now)
            e[row->largest - k] = 0;
        rest += vec->sum(now, e);
    }
    return rest;
}

static void sum_rows(const struct op_run *r, const struct node *n, int64_t at, int64_t items,
                     struct op_loss *out)
{
    const struct cross_entropy *a = n->attrs.at;
    int64_t classes = n_classes(r->graph, n);
    const int32_t *labels = graph_tensor(r->graph, n->in[1])->data;
    float *stats = r->training ? op_f32(r, n->saved[0]) : NULL;
    for (int64_t i = at; i < at + items; i++) {
        if (labels[i] == a->ignore_label && a->ignore_label >= 0)
            continue;
        struct row row = find_max(op_view(r, n->in[0]), i * classes, classes);
        double below, rest = sum_rest(&row, &below);
        /* the data is checked before step 1: no label is outside, and none is read outside */
        bool inside = labels[i] >= 0 && labels[i] < classes;
        double x = inside ? (double)one_logit(&row, labels[i]) : NAN;
        double s = a->label_smoothing;
        double loss = log1p(rest) + (1 - s) * ((double)row.max - x);
        if (s > 0)
            loss += s / (double)classes * below;
        out->sum += loss;
        out->count++;
        out->correct += inside && labels[i] == row.largest;
        if (stats) {
            stats[i * STATS] = row.max;
            stats[i * STATS + 1] = (float)rest;
        }
    }
}

static void forward(const struct op_run *r, const struct node *n)
{
    op_loss_sum(r, n, n_rows(r->graph, n, r->rows), n_classes(r->graph, n), sum_rows);
}

struct grad_job {
    const struct op_run *r;
    const struct node *n;
    struct view d_x;
    int64_t rows, block;
};

/* (p - y) seed of a row, formed in FP64 where it can cancel, narrowed once. */
static void grad_row(const struct grad_job *j, const struct row *row, float rest, int64_t label)
{
    const struct cross_entropy *a = j->n->attrs.at;
    double seed = j->r->loss_seed, inverse = 1 / (1 + (double)rest);
    double off = a->label_smoothing / (double)row->classes;
    float scale = (float)inverse, minus = (float)off;
    float out[KERN_TILE];
    for (int64_t k = 0; k < row->classes; k += KERN_TILE) {
        int64_t now = tile_size(row->classes - k), target = label - k;
        bool here = target >= 0 && target < now;
        shifted(row, k, now, out);
        double x = here ? (double)out[target] : 0;
        kern_vec()->exp(now, out, out);
        double e = here ? (double)out[target] : 0;
        for (int64_t i = 0; i < now; i++)
            out[i] = (float)((double)(out[i] * scale - minus) * seed);
        if (here) {
            double on = 1 - a->label_smoothing + off;
            double g = x == 0 ? 1 - on - (double)rest * inverse : e * inverse - on;
            out[target] = (float)(g * seed);
        }
        (j->n->grad_adds[0] ? kern_store_add : kern_store)(j->d_x, row->at + k, now, out);
    }
}

static void zero_row(const struct grad_job *j, int64_t at, int64_t classes)
{
    static const float zeros[KERN_TILE];
    for (int64_t k = 0; k < classes; k += KERN_TILE)
        kern_store(j->d_x, at + k, tile_size(classes - k), zeros);
}

static void grad_block(void *context, int64_t b)
{
    const struct grad_job *j = context;
    const struct cross_entropy *a = j->n->attrs.at;
    int64_t classes = n_classes(j->r->graph, j->n);
    const int32_t *labels = graph_tensor(j->r->graph, j->n->in[1])->data;
    const float *stats = op_f32(j->r, j->n->saved[0]);
    struct view x = op_view(j->r, j->n->in[0]);
    int64_t end = (b + 1) * j->block < j->rows ? (b + 1) * j->block : j->rows;
    for (int64_t i = b * j->block; i < end; i++) {
        bool ignored = labels[i] == a->ignore_label && a->ignore_label >= 0;
        struct row row = {x, i * classes, classes, stats[i * STATS], -1};
        if (!ignored)
            grad_row(j, &row, stats[i * STATS + 1], labels[i]);
        else if (!j->n->grad_adds[0])
            zero_row(j, row.at, classes);
    }
}

static void backward(const struct op_run *r, const struct node *n)
{
    int64_t rows = n_rows(r->graph, n, r->rows);
    int64_t block = op_loss_block(n_classes(r->graph, n));
    struct grad_job job = {r, n, op_d_in(r, n, 0), rows, block};
    if (job.d_x.data)
        par_for((rows + block - 1) / block, grad_block, &job);
}

static int64_t count(const struct graph *g, const struct node *n, const void *targets, int64_t rows)
{
    const struct cross_entropy *a = n->attrs.at;
    const int32_t *labels = targets;
    int64_t all = n_rows(g, n, rows), valid = 0;
    for (int64_t i = 0; i < all; i++)
        valid += a->ignore_label < 0 || labels[i] != a->ignore_label;
    return valid;
}

static int64_t ignored_label(const struct node *n)
{
    const struct cross_entropy *a = n->attrs.at;
    return a->ignore_label;
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {5, 3}}}, 0},
    {"{label_smoothing: 0.1}", 1, {{2, {4, 7}}}, 0},
    {"{ignore_label: 1}", 1, {{2, {9, 4}}}, 0},
    {NULL, 1, {{3, {3, 4, 5}}}, 0},
    {"{label_smoothing: 0.2, ignore_label: 0}", 1, {{2, {3, 1031}}}, 0},
    {0},
};

const struct op op_cross_entropy = {
    .name = "cross_entropy",
    .help = "Softmax and negative log-likelihood of class labels.",
    .kind = OP_LOSS,
    .class = OP_DENY,
    .in_min = 2,
    .in_max = 2,
    .keys = keys,
    .attrs_size = sizeof(struct cross_entropy),
    .reads = OP_READS_IN,
    .shape = shape,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .target = TARGET_CLASS,
    .count = count,
    .has_accuracy = true,
    .ignored_label = ignored_label,
    .cases = cases,
};
