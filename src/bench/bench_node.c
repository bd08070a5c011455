/* bench_node.c: see bench_node.h. */
#include "config.h"

#include "bench/bench_node.h"

#include "config/yaml_tree.h"

#include <string.h>

static struct graph *graph_of(const struct bench_node *b)
{
    return (struct graph *)&b->plan.graph;
}

static const struct node *node_of(const struct bench_node *b)
{
    return &b->plan.graph.nodes[0];
}

static enum rc add_gradient(struct graph *g, int of, const char *name, struct diag *d)
{
    struct tensor t = *graph_tensor(g, of);
    int id = graph_add_tensor(g, name, ROLE_GRAD, t.dtype, true, t.rank, t.dims);
    if (id == TENSOR_NONE)
        return diag_no_memory(d);
    graph_tensor(g, of)->grad = id;
    graph_tensor(g, id)->of = of;
    return RC_OK;
}

static enum rc add_inputs(struct bench_node *b, struct node *n, const struct bench_node_case *c,
                          struct diag *d)
{
    struct graph *g = graph_of(b);
    enum dtype dtype = c->op == op_get(OP_cast) ? DTYPE_F32 : c->dtype;
    n->n_in = c->n_in;
    for (int i = 0; i < c->n_in; i++) {
        const char *name = pool_printf(&b->pool, "x%d", i);
        const char *d_name = pool_printf(&b->pool, "d_x%d", i);
        TRY_ALLOC(name, d);
        TRY_ALLOC(d_name, d);
        n->in[i] = graph_add_tensor(g, name, ROLE_ACT, dtype, true, c->rank[i], c->dims[i]);
        if (n->in[i] == TENSOR_NONE)
            return diag_no_memory(d);
        TRY(add_gradient(g, n->in[i], d_name, d));
    }
    if (c->op->kind != OP_LOSS)
        return RC_OK;
    bool labels = c->op->target == TARGET_CLASS;
    n->in[n->n_in] = graph_add_tensor(g, "target", ROLE_INPUT, labels ? DTYPE_I32 : DTYPE_F32, true,
                                      c->rank[0] - labels, c->dims[0]);
    return n->in[n->n_in++] == TENSOR_NONE ? diag_no_memory(d) : RC_OK;
}

static enum rc build(struct bench_node *b, const struct bench_node_case *c, struct diag *d)
{
    struct graph *g = graph_of(b);
    struct node *n = graph_insert_node(g, 0, c->op, c->op->name);
    const struct value *attrs = NULL;
    struct loc loc = {
        c->attrs ? pool_printf(&b->pool, "%s %s", c->op->name, c->attrs) : c->op->name, 0, 0};
    TRY_ALLOC(n, d);
    TRY_ALLOC(loc.file, d);
    n->loc = loc;
    n->dtype = c->dtype;
    n->has_backward = true;
    TRY(add_inputs(b, n, c, d));
    if (c->attrs)
        TRY(yaml_tree_parse_value(&attrs, c->attrs, loc, &b->pool, d));
    TRY(keys_read(&n->attrs, c->op->name, c->op->keys, c->op->attrs_size, attrs, loc, NULL,
                  &b->pool, d));
    TRY(c->op->shape(g, n, d));
    if (n->out != TENSOR_NONE) {
        graph_tensor(g, n->out)->dtype = c->dtype;
        TRY(add_gradient(g, n->out, "d_out", d));
    }
    struct op_planner planner = {g, &b->pool, true, false};
    if (c->op->plan)
        c->op->plan(&planner, n);
    return planner.failed ? diag_no_memory(d) : RC_OK;
}

static enum rc bind(struct bench_node *b, struct diag *d)
{
    struct graph *g = graph_of(b);
    size_t end = 0;
    for (int i = 0; i < g->n_tensors; i++) {
        struct tensor *t = graph_tensor(g, i);
        if (t->role != ROLE_SHADOW)
            t->bytes = (size_t)tensor_elements(t) * dtype_size(t->dtype);
        t->offset = end;
        end += arena_round(t->bytes);
    }
    if (arena_init(&b->memory, end + node_of(b)->scratch_bytes) != RC_OK)
        return diag_no_memory(d);
    for (int i = 0; i < g->n_tensors; i++)
        graph_tensor(g, i)->data = b->memory.base + graph_tensor(g, i)->offset;
    b->run.scratch = b->memory.base + end;
    return RC_OK;
}

/* Uniform in [-1.5, 1.5): normal numbers, so that no pass is slow for another reason. */
static void randomise(const struct bench_node *b, int tensor)
{
    const struct tensor *t = graph_tensor(&b->plan.graph, tensor);
    struct rng_key key = rng_key(1, RNG_SYNTHETIC, (uint64_t)tensor, 0);
    int64_t total = tensor_elements(t);
    float tile[KERN_TILE];
    for (int64_t at = 0; at < total; at += KERN_TILE) {
        int64_t n = total - at < KERN_TILE ? total - at : KERN_TILE;
        rng_uniform(key, (uint64_t)at, n, tile);
        for (int64_t i = 0; i < n; i++)
            tile[i] = 3 * tile[i] - 1.5F;
        kern_store((struct view){t->data, t->dtype}, at, n, tile);
    }
}

/* Labels of all classes in turn; real targets 0, 1/2, 1 in turn: good for every loss. */
static void make_targets(const struct bench_node *b)
{
    const struct node *n = node_of(b);
    const struct tensor *t = graph_tensor(&b->plan.graph, n->in[1]);
    int64_t classes = tensor_columns(graph_tensor(&b->plan.graph, n->in[0]));
    for (int64_t i = 0; i < tensor_elements(t); i++)
        if (t->dtype == DTYPE_I32)
            ((int32_t *)t->data)[i] = (int32_t)(i * 7 % classes);
        else
            ((float *)t->data)[i] = (float)(i % 3) / 2;
}

static void fill(struct bench_node *b)
{
    const struct node *n = node_of(b);
    bool is_loss = n->op->kind == OP_LOSS;
    for (int i = 0; i < n->n_in - is_loss; i++)
        randomise(b, n->in[i]);
    for (int i = 0; i < n->n_params; i++)
        randomise(b, n->param[i]);
    if (n->out != TENSOR_NONE)
        randomise(b, graph_tensor(&b->plan.graph, n->out)->grad);
    if (is_loss)
        make_targets(b);
    plan_pack_shadows(&b->plan);
}

enum rc bench_node_init(struct bench_node *b, const struct bench_node_case *c, struct diag *d)
{
    memset(b, 0, sizeof(*b));
    pool_init(&b->pool);
    graph_init(graph_of(b), &b->pool, c->dims[0][0]);
    enum rc rc = build(b, c, d);
    if (rc == RC_OK)
        rc = bind(b, d);
    if (rc != RC_OK) {
        bench_node_release(b);
        return rc;
    }
    fill(b);
    b->run = (struct op_run){.graph = graph_of(b),
                             .rows = c->dims[0][0],
                             .training = true,
                             .seed = 1,
                             .loss_seed = 1,
                             .loss = &b->loss,
                             .scratch = b->run.scratch};
    return RC_OK;
}

void bench_node_release(struct bench_node *b)
{
    arena_release(&b->memory);
    pool_release(&b->pool);
}

void bench_node_forward(void *bench_node)
{
    const struct bench_node *b = bench_node;
    node_of(b)->op->forward(&b->run, node_of(b));
}

void bench_node_backward(void *bench_node)
{
    const struct bench_node *b = bench_node;
    node_of(b)->op->backward(&b->run, node_of(b));
}

static double sum_bytes(const struct bench_node *b, const int *ids, int n, bool gradients)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const struct tensor *t = graph_tensor(&b->plan.graph, ids[i]);
        if (gradients && t->grad == TENSOR_NONE)
            continue;
        sum += (double)(gradients ? graph_tensor(&b->plan.graph, t->grad) : t)->bytes;
    }
    return sum;
}

double bench_node_bytes(const struct bench_node *b, bool backward)
{
    const struct node *n = node_of(b);
    int n_out = n->out != TENSOR_NONE;
    double in = sum_bytes(b, n->in, n->n_in, false), out = sum_bytes(b, &n->out, n_out, false);
    double kept = sum_bytes(b, n->saved, n->n_saved, false);
    double params = sum_bytes(b, n->param, n->n_params, false);
    if (!backward)
        return in + params + out + kept;
    return (n->op->reads & OP_READS_IN ? in : 0) + (n->op->reads & OP_READS_OUT ? out : 0) + kept +
           params + sum_bytes(b, &n->out, n_out, true) + sum_bytes(b, n->in, n->n_in, true) +
           sum_bytes(b, n->param, n->n_params, true);
}
