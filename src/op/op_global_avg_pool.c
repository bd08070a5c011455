/* op_global_avg_pool.c: (B,...,C) -> (B,C): the mean of each channel over all inner dimensions.
 * Summed in FP32, in groups, rounded once. */
#include "config.h"

#include "base/par.h"
#include "kern/kern_vec.h"
#include "op/op.h"

#include <string.h>

enum { GROUP = 64 }; /* pixels whose sum is formed first, so that no running sum gets long */

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    const struct tensor *in = graph_tensor(g, n->in[0]);
    int64_t dims[2] = {in->dims[0], tensor_columns(in)};
    char text[TENSOR_SHAPE_ROOM];
    if (in->rank < 3)
        return diag_error(d, RC_CONFIG, n->loc,
                          "global_avg_pool '%s': there is nothing to average over in '%s' %s",
                          n->name, in->name, tensor_shape(text, in));
    return op_add_out(g, n, 2, dims, d);
}

struct job {
    int64_t pixels, c;
    struct view x, y, dy, dx;
    bool add;
};

static struct job job_of(const struct op_run *r, const struct node *n)
{
    const struct tensor *in = graph_tensor(r->graph, n->in[0]);
    int64_t c = tensor_columns(in);
    return (struct job){.pixels = tensor_row_elements(in) / c,
                        .c = c,
                        .x = op_view(r, n->in[0]),
                        .y = op_view(r, n->out)};
}

/* Channels at .. at+n-1 of image b. */
static void mean_of(const struct job *j, int64_t b, int64_t at, int64_t n)
{
    const struct vec_row *vec = kern_vec();
    float all[KERN_TILE] = {0}, group[KERN_TILE], tile[KERN_TILE];
    for (int64_t p = 0; p < j->pixels; p += GROUP) {
        memset(group, 0, (size_t)n * sizeof(float));
        for (int64_t i = p; i < j->pixels && i < p + GROUP; i++)
            vec->add(n, group, kern_load(j->x, (b * j->pixels + i) * j->c + at, n, tile), group);
        vec->add(n, all, group, all);
    }
    vec->scale(n, all, 1 / (float)j->pixels, all);
    kern_store(j->y, b * j->c + at, n, all);
}

static void forward_image(void *context, int64_t b)
{
    const struct job *j = context;
    for (int64_t at = 0; at < j->c; at += KERN_TILE)
        mean_of(j, b, at, j->c - at < KERN_TILE ? j->c - at : KERN_TILE);
}

static void forward(const struct op_run *r, const struct node *n)
{
    struct job j = job_of(r, n);
    par_for(r->rows, forward_image, &j);
}

static void backward_image(void *context, int64_t b)
{
    const struct job *j = context;
    float tile[KERN_TILE], share[KERN_TILE];
    for (int64_t at = 0; at < j->c; at += KERN_TILE) {
        int64_t n = j->c - at < KERN_TILE ? j->c - at : KERN_TILE;
        kern_vec()->scale(n, kern_load(j->dy, b * j->c + at, n, tile), 1 / (float)j->pixels, share);
        for (int64_t i = 0; i < j->pixels; i++)
            (j->add ? kern_store_add : kern_store)(j->dx, (b * j->pixels + i) * j->c + at, n,
                                                   share);
    }
}

static void backward(const struct op_run *r, const struct node *n)
{
    struct job j = job_of(r, n);
    j.dy = op_d_out(r, n);
    j.dx = op_d_in(r, n, 0);
    j.add = n->grad_adds[0];
    if (j.dx.data)
        par_for(r->rows, backward_image, &j);
}

static const struct op_case cases[] = {
    {NULL, 1, {{4, {2, 3, 4, 5}}}, 0},
    {NULL, 1, {{3, {3, 70, 2}}}, 0},
    {0},
};

const struct op op_global_avg_pool = {
    .name = "global_avg_pool",
    .help = "Mean of each channel over all inner dimensions: (B,H,W,C) to (B,C).",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 1,
    .in_max = 1,
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
