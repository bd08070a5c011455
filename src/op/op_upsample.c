/* op_upsample.c: (B,H,W,C) -> (B,H s,W s,C): each pixel becomes a square of s x s (nearest). Moves
 * values; the gradient of a pixel is the sum over its square, in FP32. */
#include "config.h"

#include "base/par.h"
#include "kern/kern_vec.h"
#include "op/op.h"

#include <string.h>

struct upsample {
    int64_t scale;
};

static const struct key keys[] = {
    {"scale", KEY_INT, offsetof(struct upsample, scale), "2", 1, 1024, 0, NULL,
     "How many times higher and wider the image becomes."},
    {0},
};

static enum rc shape(struct graph *g, struct node *n, struct diag *d)
{
    const struct upsample *a = n->attrs.at;
    struct tensor in = *graph_tensor(g, n->in[0]);
    char text[TENSOR_SHAPE_ROOM];
    if (in.rank != 4)
        return diag_error(d, RC_CONFIG, n->loc,
                          "upsample '%s': it needs images (B,H,W,C); its input '%s' is %s", n->name,
                          in.name, tensor_shape(text, &in));
    in.dims[1] *= a->scale;
    in.dims[2] *= a->scale;
    return op_add_out(g, n, 4, in.dims, d);
}

/* Scratch of a thread: a row of the input and one of the output's gradient, f32. */
static size_t thread_bytes(const struct graph *g, const struct node *n)
{
    const struct tensor *in = graph_tensor(g, n->in[0]), *out = graph_tensor(g, n->out);
    size_t elements = (size_t)((in->dims[2] + out->dims[2]) * in->dims[3]);
    return (elements * sizeof(float) + 63) / 64 * 64;
}

static void plan(struct op_planner *p, struct node *n)
{
    op_plan_scratch(n, thread_bytes(p->graph, n) * (size_t)par_threads());
}

struct job {
    int64_t w, c, scale;
    struct view x, y, dy, dx;
    bool add;
    char *scratch;
    size_t scratch_step;
};

static struct job job_of(const struct op_run *r, const struct node *n)
{
    const struct tensor *in = graph_tensor(r->graph, n->in[0]);
    return (struct job){.w = in->dims[2],
                        .c = in->dims[3],
                        .scale = ((const struct upsample *)n->attrs.at)->scale,
                        .x = op_view(r, n->in[0]),
                        .y = op_view(r, n->out),
                        .scratch = r->scratch,
                        .scratch_step = thread_bytes(r->graph, n)};
}

/* Row `index` of all images' rows. */
static void forward_row(void *context, int64_t index)
{
    const struct job *j = context;
    size_t item = dtype_size(j->x.dtype), pixel = (size_t)j->c * item;
    size_t row = (size_t)(j->w * j->scale) * pixel;
    const char *from = (const char *)j->x.data + (size_t)(index * j->w) * pixel;
    char *to = (char *)j->y.data + (size_t)(index * j->scale) * row;
    for (int64_t s = 0; s < j->scale; s++)
        kern_vec()->rows_copy(j->w, pixel, to + (size_t)s * pixel, (size_t)j->scale * pixel, from,
                              pixel);
    for (int64_t s = 1; s < j->scale; s++)
        memcpy(to + (size_t)s * row, to, row);
}

static void forward(const struct op_run *r, const struct node *n)
{
    struct job j = job_of(r, n);
    par_for(op_elements(r, n->in[0]) / (j.w * j.c), forward_row, &j);
}

static void backward_row(void *context, int64_t index)
{
    const struct job *j = context;
    int64_t n = j->w * j->c, wide = n * j->scale;
    float *sum = (float *)(void *)(j->scratch + (size_t)par_thread() * j->scratch_step);
    float *room = sum + n;
    memset(sum, 0, (size_t)n * sizeof(*sum));
    for (int64_t y = 0; y < j->scale; y++) {
        const float *dy = kern_load(j->dy, (index * j->scale + y) * wide, wide, room);
        for (int64_t x = 0; x < j->scale; x++)
            kern_vec()->rows_add(j->w, j->c, j->scale * j->c, dy + x * j->c, sum);
    }
    (j->add ? kern_store_add : kern_store)(j->dx, index * n, n, sum);
}

static void backward(const struct op_run *r, const struct node *n)
{
    struct job j = job_of(r, n);
    j.dy = op_d_out(r, n);
    j.dx = op_d_in(r, n, 0);
    j.add = n->grad_adds[0];
    if (j.dx.data)
        par_for(op_elements(r, n->in[0]) / (j.w * j.c), backward_row, &j);
}

static const struct op_case cases[] = {
    {NULL, 1, {{4, {2, 3, 2, 5}}}, 0},
    {"{scale: 3}", 1, {{4, {3, 1, 4, 1}}}, 0},
    {0},
};

const struct op op_upsample = {
    .name = "upsample",
    .help = "Images larger by a whole number: each pixel becomes a square.",
    .kind = OP_LAYER,
    .class = OP_CLEAR,
    .in_min = 1,
    .in_max = 1,
    .keys = keys,
    .attrs_size = sizeof(struct upsample),
    .shape = shape,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
