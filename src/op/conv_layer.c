/* conv_layer.c: see conv_layer.h. */
#include "config.h"

#include "op/conv_layer.h"

#include "base/par.h"
#include "op/depthwise.h"

#include <math.h>

enum { SLOT_OUT, SLOT_D_IN, SLOT_D_WEIGHT };
enum { WEIGHT, BIAS };

/* The geometry of a node that shape() accepted. */
static struct conv conv_of(const struct conv_layer *l, const struct graph *g, const struct node *n)
{
    struct conv c;
    struct diag unused = {0};
    BUG_IF(l->fit(n, graph_tensor(g, n->in[0]), &c, &unused) != RC_OK);
    return c;
}

static enum rc check_groups(const struct node *n, const struct conv *c, struct diag *d)
{
    if (c->image_c % c->groups == 0 && c->map_c % c->groups == 0)
        return RC_OK;
    return diag_error(d, RC_CONFIG, n->loc,
                      "%s '%s': 'groups' is %lld and must divide %lld and %lld, the channels of "
                      "both sides",
                      n->op->name, n->name, (long long)c->groups, (long long)c->image_c,
                      (long long)c->map_c);
}

enum rc conv_layer_shape(const struct conv_layer *l, const struct conv_attrs *a, struct graph *g,
                         struct node *n, struct diag *d)
{
    struct conv c;
    const struct tensor *in = graph_tensor(g, n->in[0]);
    const struct window *w = &c.window;
    int64_t batch = in->dims[0];
    TRY(op_check_init(n, &a->init, d));
    TRY(l->fit(n, in, &c, d));
    TRY(check_groups(n, &c, d));
    int64_t weight[4] = {w->kernel_h, w->kernel_w, c.image_c / c.groups, c.map_c};
    int64_t area = w->kernel_h * w->kernel_w;
    struct init init = op_init(&a->init, area * c.image_c / c.groups, area * c.map_c / c.groups);
    TRY(op_add_param(g, n, "weight", 4, weight, init, d));
    bool to_map = l->out == CONV_MAP;
    int64_t out[4] = {batch, to_map ? w->out_h : w->h, to_map ? w->out_w : w->w,
                      to_map ? c.map_c : c.image_c};
    if (a->bias) {
        struct init start = {.kind = INIT_ZEROS, .fan_in = init.fan_in, .fan_out = init.fan_out};
        if (init.kind == INIT_KAIMING) {
            start.kind = INIT_UNIFORM;
            start.scale = 1 / sqrt((double)init.fan_in);
        }
        TRY(op_add_param(g, n, "bias", 1, &out[3], start, d));
    }
    return op_add_out(g, n, 4, out, d);
}

/* One channel in, one out, in each group. */
static bool is_depthwise(const struct conv_layer *l, const struct conv *c)
{
    return l->out == CONV_MAP && c->groups > 1 && c->groups == c->image_c && c->groups == c->map_c;
}

static enum dtype dtype_or(const struct graph *g, int tensor, enum dtype otherwise)
{
    return tensor != TENSOR_NONE ? graph_tensor(g, tensor)->dtype : otherwise;
}

void conv_layer_plan(const struct conv_layer *l, struct op_planner *p, struct node *n)
{
    const struct graph *g = p->graph;
    struct conv c = conv_of(l, g, n);
    const struct tensor *in = graph_tensor(g, n->in[0]), *out = graph_tensor(g, n->out);
    enum dtype x = in->dtype, y = out->dtype;
    enum dtype dy = dtype_or(g, out->grad, y), dx = dtype_or(g, in->grad, x);
    bool wants_dx = in->grad != TENSOR_NONE;
    if (is_depthwise(l, &c)) {
        op_plan_scratch(n, depthwise_scratch(&c.window, c.image_c, par_threads()));
        return;
    }

    struct gemm_desc forward = conv_desc(&c, l->out, g->batch);
    forward.a = x;
    forward.c = y;
    forward.compute = n->dtype;
    forward.bias = n->n_params > BIAS;
    forward.act = (enum gemm_act)n->act;
    op_plan_gemm(p, n, SLOT_OUT, &forward, WEIGHT);
    if (!p->training)
        return;
    if (wants_dx) {
        struct gemm_desc back = conv_desc(&c, l->d_in, g->batch);
        back.a = dy;
        back.c = dx;
        back.compute = n->dtype;
        op_plan_gemm(p, n, SLOT_D_IN, &back, WEIGHT);
    }
    bool to_map = l->out == CONV_MAP;
    struct gemm_desc weight = conv_desc(&c, CONV_WEIGHT, g->batch);
    weight.a = to_map ? x : dy;
    weight.b = to_map ? dy : x;
    weight.c = DTYPE_F32;
    weight.compute = n->dtype;
    op_plan_gemm(p, n, SLOT_D_WEIGHT, &weight, WEIGHT);
}

/* The weight as GEMM `slot` wants it: f32, or the packed panel. */
static struct view weight_of(const struct op_run *r, const struct node *n, int slot)
{
    int id = n->shadow[slot] != TENSOR_NONE ? n->shadow[slot] : n->param[WEIGHT];
    return (struct view){graph_tensor(r->graph, id)->data, DTYPE_F32};
}

static struct depthwise depthwise_of(const struct op_run *r, const struct node *n,
                                     const struct conv *c)
{
    return (struct depthwise){.window = c->window,
                              .c = c->image_c,
                              .x = op_view(r, n->in[0]),
                              .y = op_view(r, n->out),
                              .w = op_f32(r, n->param[WEIGHT]),
                              .bias = n->n_params > BIAS ? op_f32(r, n->param[BIAS]) : NULL,
                              .act = (enum gemm_act)n->act,
                              .pre = n->pre != TENSOR_NONE ? op_view(r, n->pre)
                                                           : (struct view){NULL, DTYPE_F32},
                              .images = r->rows,
                              .scratch = r->scratch};
}

void conv_layer_forward(const struct conv_layer *l, const struct op_run *r, const struct node *n)
{
    struct conv c = conv_of(l, r->graph, n);
    if (is_depthwise(l, &c)) {
        struct depthwise d = depthwise_of(r, n, &c);
        depthwise_forward(&d);
        return;
    }
    struct conv_operands o = {.a = op_view(r, n->in[0]),
                              .b = weight_of(r, n, SLOT_OUT),
                              .c = op_view(r, n->out),
                              .bias = n->n_params > BIAS ? op_f32(r, n->param[BIAS]) : NULL,
                              .pre = n->pre != TENSOR_NONE ? op_view(r, n->pre).data : NULL};
    conv_run(r, n->gemm[SLOT_OUT], &c, l->out, &o);
}

void conv_layer_backward(const struct conv_layer *l, const struct op_run *r, const struct node *n)
{
    const struct graph *g = r->graph;
    struct conv c = conv_of(l, g, n);
    struct view x = op_view(r, n->in[0]), dy = op_undo_act(r, n), dx = op_d_in(r, n, 0);
    int64_t columns = tensor_columns(graph_tensor(g, n->out));
    if (n->n_params > BIAS)
        op_column_sum(dy, op_elements(r, n->out) / columns, columns, op_d_param(r, n, BIAS),
                      r->add_dparams);
    if (is_depthwise(l, &c)) {
        struct depthwise d = depthwise_of(r, n, &c);
        d.dy = dy;
        d.dx = dx;
        d.dw = op_d_param(r, n, WEIGHT);
        d.add_dw = r->add_dparams;
        d.add_dx = n->grad_adds[0];
        depthwise_backward(&d);
        return;
    }
    bool to_map = l->out == CONV_MAP;
    struct conv_operands weight = {.a = to_map ? x : dy,
                                   .b = to_map ? dy : x,
                                   .c = {op_d_param(r, n, WEIGHT), DTYPE_F32},
                                   .add = r->add_dparams};
    conv_run(r, n->gemm[SLOT_D_WEIGHT], &c, CONV_WEIGHT, &weight);
    if (!dx.data)
        return;
    struct conv_operands back = {
        .a = dy, .b = weight_of(r, n, SLOT_D_IN), .c = dx, .add = n->grad_adds[0]};
    conv_run(r, n->gemm[SLOT_D_IN], &c, l->d_in, &back);
}

double conv_layer_flops(const struct conv_layer *l, const struct graph *g, const struct node *n)
{
    struct conv c = conv_of(l, g, n);
    return conv_flops(&c, g->batch);
}
