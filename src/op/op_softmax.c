/* op_softmax.c: y = exp(x - max) / sum exp(x - max) over the last dimension. FP32 inside; half in
 * and out where its input is half. A row that is -inf throughout gives zeros.
 *
 *     dx = y (dy - sum dy y)
 *
 * Not before cross_entropy, which has a softmax of its own. Scratch: of each thread two rows (C)
 * f32. */
#include "config.h"

#include "base/par.h"
#include "kern/kern_vec.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

enum { ROOMS = 2, PARTS = 64, PART = 32 * KERN_TILE };

static size_t room_bytes(int64_t c)
{
    return ((size_t)(ROOMS * c) * sizeof(float) + 63) / 64 * 64;
}

static void plan(struct op_planner *p, struct node *n)
{
    int64_t c = tensor_columns(graph_tensor(p->graph, n->in[0]));
    op_plan_scratch(n, room_bytes(c) * (size_t)par_threads());
}

struct job {
    int64_t rows, c, parts;
    struct view x, y, dy, dx;
    bool back, add;
    char *scratch;
};

static struct job job_of(const struct op_run *r, const struct node *n)
{
    struct job j = {.c = tensor_columns(graph_tensor(r->graph, n->out)),
                    .y = op_view(r, n->out),
                    .scratch = r->scratch};
    j.rows = op_elements(r, n->out) / j.c;
    int64_t parts = j.rows * j.c / PART + 1;
    j.parts = parts < PARTS ? parts : PARTS;
    return j;
}

static void forward_row(const struct job *j, int64_t row, float *in, float *out)
{
    const struct vec_row *vec = kern_vec();
    const float *x = kern_load(j->x, row * j->c, j->c, in);
    float top = vec->max(j->c, x);
    if (top == -INFINITY) {
        memset(out, 0, (size_t)j->c * sizeof(*out));
    } else {
        vec->shift(j->c, x, -top, out);
        vec->exp(j->c, out, out);
        vec->scale(j->c, out, (float)(1 / vec->sum(j->c, out)), out);
    }
    kern_store(j->y, row * j->c, j->c, out);
}

static void backward_row(const struct job *j, int64_t row, float *y_room, float *out)
{
    const struct vec_row *vec = kern_vec();
    const float *y = kern_load(j->y, row * j->c, j->c, y_room);
    const float *dy = kern_load(j->dy, row * j->c, j->c, out);
    vec->shift(j->c, dy, (float)-vec->dot(j->c, dy, y), out);
    vec->mul(j->c, out, y, out);
    (j->add ? kern_store_add : kern_store)(j->dx, row * j->c, j->c, out);
}

static void one_part(void *context, int64_t part)
{
    const struct job *j = context;
    float *first = (float *)(void *)(j->scratch + (size_t)par_thread() * room_bytes(j->c));
    for (int64_t row = j->rows * part / j->parts; row < j->rows * (part + 1) / j->parts; row++)
        (j->back ? backward_row : forward_row)(j, row, first, first + j->c);
}

static void forward(const struct op_run *r, const struct node *n)
{
    struct job j = job_of(r, n);
    j.x = op_view(r, n->in[0]);
    par_for(j.parts, one_part, &j);
}

static void backward(const struct op_run *r, const struct node *n)
{
    struct job j = job_of(r, n);
    j.back = true;
    j.dy = op_d_out(r, n);
    j.dx = op_d_in(r, n, 0);
    j.add = n->grad_adds[0];
    if (j.dx.data)
        par_for(j.parts, one_part, &j);
}

static const struct op_case cases[] = {
    {NULL, 1, {{2, {5, 7}}}, 0},
    {NULL, 1, {{3, {2, 3, 33}}}, 0},
    {NULL, 1, {{2, {3, 1}}}, 0},
    {0},
};

const struct op op_softmax = {
    .name = "softmax",
    .help = "Exponentials of the last dimension, which add up to 1.",
    .kind = OP_LAYER,
    .class = OP_INFER,
    .in_min = 1,
    .in_max = 1,
    .reads = OP_READS_OUT,
    .shape = op_shape_same,
    .plan = plan,
    .forward = forward,
    .backward = backward,
    .cases = cases,
};
