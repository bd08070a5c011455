/* pooling.c: see pooling.h. Forward goes by rows of the output. Backward goes by images, since
 * windows may overlap: the gradient of an image is summed in FP32 and written once.
 *
 * Scratch of a thread, f32: an input row (W,C), three output rows (W',C), a gradient image
 * (H,W,C). */
#include "config.h"

#include "op/pooling.h"

#include "base/par.h"
#include "kern/kern_vec.h"

#include <math.h>
#include <string.h>

struct job {
    const struct pooling *p;
    struct window w;
    int64_t c;
    bool counts_padding, add;
    struct view x, y, dy, dx;
    char *scratch;
    size_t scratch_step;
};

struct buffers {
    float *in, *out, *top, *left, *image;
};

static struct window window_of(const struct pooling *p, const struct graph *g, const struct node *n)
{
    struct window w;
    struct diag unused = {0};
    BUG_IF(window_fit(&w, p->attrs(n), n, graph_tensor(g, n->in[0]), &unused) != RC_OK);
    return w;
}

enum rc pooling_shape(const struct pooling *p, struct graph *g, struct node *n, struct diag *d)
{
    struct window w;
    struct tensor in = *graph_tensor(g, n->in[0]);
    TRY(window_fit(&w, p->attrs(n), n, &in, d));
    bool all_pixels = w.pad_h < w.kernel_h && w.pad_w < w.kernel_w &&
                      (w.out_h - 1) * w.stride_h - w.pad_h < w.h &&
                      (w.out_w - 1) * w.stride_w - w.pad_w < w.w;
    if (!all_pixels)
        return diag_error(d, RC_CONFIG, n->loc,
                          "%s '%s': its padding is as large as its window, which would see nothing "
                          "else there",
                          n->op->name, n->name);
    int64_t dims[4] = {in.dims[0], w.out_h, w.out_w, in.dims[3]};
    return op_add_out(g, n, 4, dims, d);
}

static size_t thread_bytes(const struct window *w, int64_t c, bool training)
{
    int64_t elements = (w->w + 3 * w->out_w + (training ? w->h * w->w : 0)) * c;
    return ((size_t)elements * sizeof(float) + 63) / 64 * 64;
}

void pooling_plan(const struct pooling *p, struct op_planner *planner, struct node *n)
{
    struct window w = window_of(p, planner->graph, n);
    int64_t c = tensor_columns(graph_tensor(planner->graph, n->in[0]));
    op_plan_scratch(n, thread_bytes(&w, c, planner->training) * (size_t)par_threads());
}

static struct job job_of(const struct pooling *p, const struct op_run *r, const struct node *n)
{
    struct job j = {.p = p,
                    .w = window_of(p, r->graph, n),
                    .c = tensor_columns(graph_tensor(r->graph, n->in[0])),
                    .counts_padding = p->mean && p->counts_padding(n),
                    .x = op_view(r, n->in[0]),
                    .y = op_view(r, n->out),
                    .scratch = r->scratch};
    j.scratch_step = thread_bytes(&j.w, j.c, r->training);
    return j;
}

static struct buffers buffers_of(const struct job *j)
{
    struct buffers b;
    b.in = (float *)(void *)(j->scratch + (size_t)par_thread() * j->scratch_step);
    b.out = b.in + j->w.w * j->c;
    b.top = b.out + j->w.out_w * j->c;
    b.left = b.top + j->w.out_w * j->c;
    b.image = b.left + j->w.out_w * j->c;
    return b;
}

/* How many pixels the window of output (oy,ox) counts. */
static int64_t pixels(const struct job *j, int64_t oy, int64_t ox)
{
    const struct window *w = &j->w;
    int64_t rows = 0, cols = 0, y;
    if (j->counts_padding)
        return w->kernel_h * w->kernel_w;
    for (int64_t k = 0; k < w->kernel_h; k++)
        rows += window_row(w, oy, k, &y);
    for (int64_t k = 0; k < w->kernel_w; k++) {
        int64_t x = ox * w->stride_w - w->pad_w + k * w->dilation_w;
        cols += x >= 0 && x < w->w;
    }
    return rows * cols;
}

/* A row of means, from sums; or of gradients, from those of means. */
static void divide(const struct job *j, int64_t oy, float *row)
{
    for (int64_t ox = 0; ox < j->w.out_w; ox++)
        kern_vec()->scale(j->c, row + ox * j->c, 1 / (float)pixels(j, oy, ox), row + ox * j->c);
}

/* Row y of image b as FP32. */
static const float *input_row(const struct job *j, int64_t b, int64_t y, float *room)
{
    return kern_load(j->x, (b * j->w.h + y) * j->w.w * j->c, j->w.w * j->c, room);
}

static void forward_row(void *context, int64_t index)
{
    const struct job *j = context;
    const struct window *w = &j->w;
    int64_t b = index / w->out_h, oy = index % w->out_h, n = w->out_w * j->c, c = j->c, y;
    struct buffers t = buffers_of(j);
    for (int64_t i = 0; i < n; i++)
        t.out[i] = j->p->mean ? 0 : -INFINITY;
    for (int64_t ky = 0; ky < w->kernel_h; ky++) {
        if (!window_row(w, oy, ky, &y))
            continue;
        const float *row = input_row(j, b, y, t.in);
        for (int64_t kx = 0; kx < w->kernel_w; kx++) {
            int64_t from, to, at;
            window_columns(w, kx, &from, &to, &at);
            (j->p->mean ? kern_vec()->rows_add : kern_vec()->rows_max)(
                to - from, c, w->stride_w * c, row + at * c, t.out + from * c);
        }
    }
    if (j->p->mean)
        divide(j, oy, t.out);
    kern_store(j->y, index * n, n, t.out);
}

void pooling_forward(const struct pooling *p, const struct op_run *r, const struct node *n)
{
    struct job j = job_of(p, r, n);
    par_for(r->rows * j.w.out_h, forward_row, &j);
}

/* One row of the output's gradient into the image's: of a maximum the first pixel that has it, in
 * the order of the window, takes all. */
static void backward_row(const struct job *j, int64_t b, int64_t oy, const struct buffers *t)
{
    const struct window *w = &j->w;
    int64_t n = w->out_w * j->c, place = (b * w->out_h + oy) * n, c = j->c, y;
    const float *top = j->p->mean ? NULL : kern_load(j->y, place, n, t->top);
    const float *dy = kern_load(j->dy, place, n, t->left);
    if (dy != t->left)
        memcpy(t->left, dy, (size_t)n * sizeof(float));
    if (j->p->mean)
        divide(j, oy, t->left);
    for (int64_t ky = 0; ky < w->kernel_h; ky++) {
        if (!window_row(w, oy, ky, &y))
            continue;
        const float *row = j->p->mean ? NULL : input_row(j, b, y, t->in);
        float *dx = t->image + y * w->w * c;
        for (int64_t kx = 0; kx < w->kernel_w; kx++) {
            int64_t from, to, at;
            window_columns(w, kx, &from, &to, &at);
            if (j->p->mean)
                kern_vec()->rows_spread(to - from, c, w->stride_w * c, t->left + from * c,
                                        dx + at * c);
            else
                kern_vec()->rows_max_grad(to - from, c, w->stride_w * c, row + at * c,
                                          top + from * c, t->left + from * c, dx + at * c);
        }
    }
}

static void backward_image(void *context, int64_t b)
{
    const struct job *j = context;
    int64_t n = j->w.h * j->w.w * j->c;
    struct buffers t = buffers_of(j);
    memset(t.image, 0, (size_t)n * sizeof(float));
    for (int64_t oy = 0; oy < j->w.out_h; oy++)
        backward_row(j, b, oy, &t);
    (j->add ? kern_store_add : kern_store)(j->dx, b * n, n, t.image);
}

void pooling_backward(const struct pooling *p, const struct op_run *r, const struct node *n)
{
    struct job j = job_of(p, r, n);
    j.dy = op_d_out(r, n);
    j.dx = op_d_in(r, n, 0);
    j.add = n->grad_adds[0];
    if (j.dx.data)
        par_for(r->rows, backward_image, &j);
}
