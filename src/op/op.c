/* op.c: the table of ops, and what their shape() and plan() functions share. See op.h.
 * To add an op: op.list. */
#include "config.h"

#include "op/op.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct op *const table[] = {
#define OP(name) &op_##name,
#include "op/op.list"
#undef OP
};

const char *op_class_name(enum op_class c)
{
    static const char *const names[] = {
        [OP_ALLOW] = "allow", [OP_DENY] = "deny", [OP_INFER] = "infer", [OP_CLEAR] = "clear"};
    return names[c];
}

const struct op *op_get(enum op_id id)
{
    return table[id];
}

const struct op *op_at(int i)
{
    return i >= 0 && i < OP_COUNT ? table[i] : NULL;
}

const struct op *op_find(const char *name)
{
    for (int i = 0; i < OP_COUNT; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

/* ---- shape() ---- */

/* Far above any memory, far below an overflow of bytes or FLOP counts. */
static const int64_t max_elements = (int64_t)1 << 40;

static enum rc check_size(const struct node *n, const char *name, int rank, const int64_t *dims,
                          struct diag *d)
{
    int64_t elements = 1;
    for (int i = 0; i < rank; i++) {
        BUG_IF(dims[i] <= 0);
        if (dims[i] > max_elements / elements)
            return diag_error(d, RC_CONFIG, n->loc,
                              "%s '%s': tensor '%s' would have more than 2^40 elements",
                              n->op->name, n->name, name);
        elements *= dims[i];
    }
    return RC_OK;
}

enum rc op_add_out(struct graph *g, struct node *n, int rank, const int64_t *dims, struct diag *d)
{
    if (rank > TENSOR_MAX_RANK)
        return diag_error(d, RC_CONFIG, n->loc,
                          "%s '%s': its output would have %d dimensions, "
                          "at most %d are possible",
                          n->op->name, n->name, rank, TENSOR_MAX_RANK);
    TRY(check_size(n, n->name, rank, dims, d));
    n->out = graph_add_tensor(g, n->name, ROLE_ACT, DTYPE_F32, true, rank, dims);
    return n->out == TENSOR_NONE ? diag_no_memory(d) : RC_OK;
}

enum rc op_add_out_like(struct graph *g, struct node *n, int input, struct diag *d)
{
    /* a copy: the tensor moves when one is added */
    struct tensor like = *graph_tensor(g, n->in[input]);
    return op_add_out(g, n, like.rank, like.dims, d);
}

enum rc op_shape_same(struct graph *g, struct node *n, struct diag *d)
{
    return op_add_out_like(g, n, 0, d);
}

enum rc op_add_param(struct graph *g, struct node *n, const char *suffix, int rank,
                     const int64_t *dims, struct init init, struct diag *d)
{
    BUG_IF(n->n_params >= NODE_MAX_PARAMS);
    const char *name = pool_printf(g->pool, "%s.%s", n->name, suffix);
    TRY_ALLOC(name, d);
    TRY(check_size(n, name, rank, dims, d));
    const char *d_name = pool_printf(g->pool, "d_%s", name);
    TRY_ALLOC(d_name, d);
    int param = graph_add_tensor(g, name, ROLE_PARAM, DTYPE_F32, false, rank, dims);
    int grad = graph_add_tensor(g, d_name, ROLE_DPARAM, DTYPE_F32, false, rank, dims);
    if (param == TENSOR_NONE || grad == TENSOR_NONE)
        return diag_no_memory(d);
    struct tensor *t = graph_tensor(g, param);
    t->init = init;
    t->grad = grad;
    t->no_decay = rank == 1;
    graph_tensor(g, grad)->of = param;
    n->param[n->n_params++] = param;
    return RC_OK;
}

enum rc op_add_saved(struct graph *g, struct node *n, const char *suffix, bool batched, int rank,
                     const int64_t *dims, struct diag *d)
{
    BUG_IF(n->n_saved >= NODE_MAX_SAVED);
    const char *name = pool_printf(g->pool, "%s.%s", n->name, suffix);
    TRY_ALLOC(name, d);
    TRY(check_size(n, name, rank, dims, d));
    int id = graph_add_tensor(g, name, ROLE_SAVED, DTYPE_F32, batched, rank, dims);
    if (id == TENSOR_NONE)
        return diag_no_memory(d);
    n->saved[n->n_saved++] = id;
    return RC_OK;
}

enum rc op_add_statistic(struct graph *g, struct node *n, const char *suffix, int64_t c,
                         double start, struct diag *d)
{
    BUG_IF(n->n_statistics >= NODE_MAX_STATISTICS);
    const char *name = pool_printf(g->pool, "%s.%s", n->name, suffix);
    TRY_ALLOC(name, d);
    const char *staged_name = pool_printf(g->pool, "%s.staged", name);
    TRY_ALLOC(staged_name, d);
    int id = graph_add_tensor(g, name, ROLE_STATISTIC, DTYPE_F32, false, 1, &c);
    int staged = graph_add_tensor(g, staged_name, ROLE_STAGED, DTYPE_F32, false, 1, &c);
    if (id == TENSOR_NONE || staged == TENSOR_NONE)
        return diag_no_memory(d);
    graph_tensor(g, id)->init = (struct init){.kind = INIT_CONSTANT, .scale = start};
    graph_tensor(g, staged)->of = id;
    n->statistic[n->n_statistics] = id;
    n->staged[n->n_statistics++] = staged;
    return RC_OK;
}

/* ---- how weights start ---- */

/* Of each enum init_kind where init_scale is 0. kaiming: the bound 1/sqrt(fan_in) of PyTorch's
 * layers; He et al. 2015 for ReLU is sqrt(2). */
static double usual_scale(enum init_kind kind)
{
    switch (kind) {
    case INIT_KAIMING:
        return sqrt(1.0 / 3);
    case INIT_XAVIER:
        return 1;
    case INIT_NORMAL:
        return 0.02;
    case INIT_UNIFORM:
        return 0.05;
    default:
        return 0;
    }
}

enum rc op_check_init(const struct node *n, const struct op_init_attrs *a, struct diag *d)
{
    struct loc loc = keys_origin(&n->attrs, "init_scale").loc;
    if (a->kind == INIT_ZEROS && a->scale != 0)
        return diag_error(d, RC_CONFIG, loc,
                          "%s '%s': init_scale has no effect with init: zeros; "
                          "leave it out, or use init: constant",
                          n->op->name, n->name);
    if (a->kind != INIT_CONSTANT && a->scale < 0)
        return diag_error(d, RC_CONFIG, loc,
                          "%s '%s': init_scale must not be negative, except "
                          "with init: constant",
                          n->op->name, n->name);
    return RC_OK;
}

struct init op_init(const struct op_init_attrs *a, int64_t fan_in, int64_t fan_out)
{
    enum init_kind kind = (enum init_kind)a->kind;
    double scale = a->scale != 0 ? a->scale : usual_scale(kind);
    return (struct init){.kind = kind, .scale = scale, .fan_in = fan_in, .fan_out = fan_out};
}

/* ---- plan() ---- */

void op_plan_scratch(struct node *n, size_t bytes)
{
    if (bytes > n->scratch_bytes)
        n->scratch_bytes = bytes;
}

static void add_shadow(struct op_planner *p, struct node *n, int slot, size_t bytes, int param)
{
    const char *of = graph_tensor(p->graph, n->param[param])->name;
    const char *name = pool_printf(p->pool, "%s.packed%d", of, slot);
    int64_t dims[1] = {(int64_t)bytes};
    int id = name ? graph_add_tensor(p->graph, name, ROLE_SHADOW, DTYPE_U8, false, 1, dims)
                  : TENSOR_NONE;
    if (id == TENSOR_NONE) {
        p->failed = true;
        return;
    }
    struct tensor *t = graph_tensor(p->graph, id);
    t->of = n->param[param];
    t->bytes = bytes;
    n->shadow[slot] = id;
}

void op_plan_gemm(struct op_planner *p, struct node *n, int slot, const struct gemm_desc *desc,
                  int param)
{
    BUG_IF(slot < 0 || slot >= NODE_MAX_GEMMS);
    struct gemm_plan *plan = pool_zalloc(p->pool, sizeof(*plan));
    if (!plan) {
        p->failed = true;
        return;
    }
    kern_gemm_plan(plan, desc);
    n->gemm[slot] = plan;
    if (slot >= n->n_gemms)
        n->n_gemms = slot + 1;
    op_plan_scratch(n, plan->scratch_bytes);
    if (desc->b_is_weight && plan->packed_bytes > 0)
        add_shadow(p, n, slot, plan->packed_bytes, param);
}
