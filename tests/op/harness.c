/* harness.c: see harness.h. */
#include "config.h"

#include "harness.h"

#include "config/yaml_tree.h"
#include "op/init.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void must(bool good)
{
    if (!good)
        abort();
}

struct node *harness_node(const struct harness *h)
{
    return &h->graph.nodes[0];
}

/* A tensor and its gradient. */
static int add_pair(struct graph *g, const char *name, enum role role, enum dtype dtype, int rank,
                    const int64_t *dims)
{
    char d_name[32];
    snprintf(d_name, sizeof(d_name), "d_%s", name);
    int x = graph_add_tensor(g, name, role, dtype, true, rank, dims);
    int d_x = graph_add_tensor(g, d_name, ROLE_GRAD, dtype, true, rank, dims);
    must(x != TENSOR_NONE && d_x != TENSOR_NONE);
    graph_tensor(g, x)->grad = d_x;
    graph_tensor(g, d_x)->of = x;
    return x;
}

static int add_target(struct graph *g, const struct op *op, const struct op_case *c)
{
    bool labels = op->target == TARGET_CLASS;
    int64_t dims[TENSOR_MAX_RANK];
    memcpy(dims, c->in[0].dims, sizeof(dims));
    dims[0] = g->batch;
    int t = graph_add_tensor(g, "target", ROLE_INPUT, labels ? DTYPE_I32 : DTYPE_F32, true,
                             c->in[0].rank - labels, dims);
    must(t != TENSOR_NONE);
    return t;
}

static enum rc add_node(struct harness *h, const struct op *op, const struct op_case *c,
                        enum dtype in)
{
    struct graph *g = &h->graph;
    struct node *n = graph_insert_node(g, 0, op, "n");
    must(n != NULL);
    n->n_in = h->n_x = c->n_in;
    for (int i = 0; i < c->n_in; i++) {
        char name[16];
        int64_t dims[TENSOR_MAX_RANK];
        snprintf(name, sizeof(name), "x%d", i);
        memcpy(dims, c->in[i].dims, sizeof(dims));
        dims[0] = g->batch;
        n->in[i] = add_pair(g, name, ROLE_ACT, in, c->in[i].rank, dims);
    }
    if (op->kind == OP_LOSS)
        n->in[n->n_in++] = add_target(g, op, c);
    const struct value *attrs = NULL;
    if (c->attrs)
        TRY(yaml_tree_parse_value(&attrs, c->attrs, NOWHERE, &h->pool, &h->diag));
    TRY(keys_read(&n->attrs, "case", op->keys, op->attrs_size, attrs, NOWHERE, NULL, &h->pool,
                  &h->diag));
    return op->shape(g, n, &h->diag);
}

/* Uniform in [-1.5, 1.5], and no nearer to 0 than kink. */
static void randomise(struct harness *h, int tensor, double kink)
{
    struct rng_key key = rng_key(7, RNG_SYNTHETIC, (uint64_t)tensor, 0);
    for (int64_t i = 0; i < harness_size(h, tensor); i++) {
        float u;
        rng_uniform(key, (uint64_t)i, 1, &u);
        float x = 3 * u - 1.5F;
        if (fabs((double)x) < 2 * kink)
            x = x < 0 ? x - 2 * (float)kink : x + 2 * (float)kink;
        harness_set(h, tensor, i, x);
    }
}

/* Labels of all classes in turn; real targets 0, 1/2, 1 in turn: good for every loss. */
static void make_targets(struct harness *h)
{
    const struct node *n = harness_node(h);
    const struct tensor *t = graph_tensor(&h->graph, n->in[1]);
    int64_t classes = tensor_columns(graph_tensor(&h->graph, n->in[0]));
    for (int64_t i = 0; i < tensor_elements(t); i++)
        if (t->dtype == DTYPE_I32)
            ((int32_t *)t->data)[i] = (int32_t)(i * 7 % classes);
        else
            ((float *)t->data)[i] = (float)(i % 3) / 2;
}

static void bind(struct harness *h)
{
    for (int i = 0; i < h->graph.n_tensors; i++) {
        struct tensor *t = graph_tensor(&h->graph, i);
        if (t->role != ROLE_SHADOW)
            t->bytes = (size_t)tensor_elements(t) * dtype_size(t->dtype);
        must(posix_memalign(&t->data, 64, t->bytes) == 0);
        memset(t->data, 0xFF, t->bytes);
    }
    struct node *n = harness_node(h);
    must(posix_memalign(&h->run.scratch, 64, n->scratch_bytes) == 0);
}

enum rc harness_init(struct harness *h, const struct op *op, const struct op_case *c, enum dtype in,
                     enum dtype dtype, int64_t batch)
{
    return harness_init_act(h, op, c, in, dtype, batch, GEMM_ACT_NONE);
}

enum rc harness_init_act(struct harness *h, const struct op *op, const struct op_case *c,
                         enum dtype in, enum dtype dtype, int64_t batch, enum gemm_act act)
{
    memset(h, 0, sizeof(*h));
    pool_init(&h->pool);
    diag_init(&h->diag);
    graph_init(&h->graph, &h->pool, batch ? batch : c->in[0].dims[0]);
    TRY(add_node(h, op, c, in));
    struct node *n = harness_node(h);
    n->dtype = dtype;
    n->act = (int)act;
    if (act != GEMM_ACT_NONE && !kern_gemm_act_reads_out(act)) {
        struct tensor out = *graph_tensor(&h->graph, n->out);
        n->pre = graph_add_tensor(&h->graph, "pre", ROLE_SAVED, dtype, true, out.rank, out.dims);
        must(n->pre != TENSOR_NONE);
    }
    if (n->out != TENSOR_NONE) {
        struct tensor out = *graph_tensor(&h->graph, n->out);
        int d_out = graph_add_tensor(&h->graph, "d_n", ROLE_GRAD, dtype, true, out.rank, out.dims);
        must(d_out != TENSOR_NONE);
        graph_tensor(&h->graph, n->out)->dtype = dtype;
        graph_tensor(&h->graph, n->out)->grad = d_out;
    }
    struct op_planner planner = {&h->graph, &h->pool, true, false};
    if (op->plan)
        op->plan(&planner, n);
    must(!planner.failed);
    bind(h);
    h->run = (struct op_run){.graph = &h->graph,
                             .training = true,
                             .seed = 1,
                             .draw = 3,
                             .loss_seed = 0.75,
                             .loss = &h->loss,
                             .scratch = h->run.scratch};
    for (int i = 0; i < h->n_x; i++)
        randomise(h, n->in[i], c->kink);
    for (int i = 0; i < n->n_params; i++)
        randomise(h, n->param[i], 0);
    for (int i = 0; i < n->n_statistics; i++) {
        const struct tensor *t = graph_tensor(&h->graph, n->statistic[i]);
        init_fill(t, 0, t->data);
        init_fill(t, 0, graph_tensor(&h->graph, n->staged[i])->data);
    }
    if (n->out != TENSOR_NONE)
        randomise(h, harness_grad(h, n->out), 0);
    if (op->kind == OP_LOSS)
        make_targets(h);
    return RC_OK;
}

void harness_release(struct harness *h)
{
    for (int i = 0; i < h->graph.n_tensors; i++)
        free(h->graph.tensors[i].data);
    free(h->run.scratch);
    pool_release(&h->pool);
}

static void pack(const struct harness *h)
{
    const struct node *n = harness_node(h);
    for (int i = 0; i < n->n_gemms; i++) {
        if (n->shadow[i] == TENSOR_NONE)
            continue;
        const struct tensor *shadow = graph_tensor(&h->graph, n->shadow[i]);
        const struct tensor *param = graph_tensor(&h->graph, shadow->of);
        kern_gemm_pack(n->gemm[i], param->data, tensor_columns(param), shadow->data);
    }
}

void harness_forward(struct harness *h, int64_t rows)
{
    pack(h);
    h->run.rows = rows;
    harness_node(h)->op->forward(&h->run, harness_node(h));
}

void harness_backward(struct harness *h, int64_t rows)
{
    struct node *n = harness_node(h);
    h->run.rows = rows;
    if (n->act == GEMM_ACT_NONE) {
        n->op->backward(&h->run, n);
        return;
    }
    const struct tensor *d_out = graph_tensor(&h->graph, harness_grad(h, n->out));
    void *before = malloc(d_out->bytes); /* backward may change it; tests go on to read it */
    must(before != NULL);
    memcpy(before, d_out->data, d_out->bytes);
    n->op->backward(&h->run, n);
    memcpy(d_out->data, before, d_out->bytes);
    free(before);
}

static struct view view_at(const struct harness *h, int tensor, int64_t i)
{
    const struct tensor *t = graph_tensor(&h->graph, tensor);
    return (struct view){(char *)t->data + (size_t)i * dtype_size(t->dtype), t->dtype};
}

float harness_get(const struct harness *h, int tensor, int64_t i)
{
    struct view v = view_at(h, tensor, i);
    float x;
    kern_cast(DTYPE_F32, &x, v.dtype, v.data, 1);
    return x;
}

void harness_set(struct harness *h, int tensor, int64_t i, float x)
{
    struct view v = view_at(h, tensor, i);
    kern_cast(v.dtype, v.data, DTYPE_F32, &x, 1);
}

void harness_fill(struct harness *h, int tensor, float x)
{
    const struct tensor *t = graph_tensor(&h->graph, tensor);
    if (isnan(x))
        memset(t->data, 0xFF, t->bytes);
    for (int64_t i = 0; !isnan(x) && i < tensor_elements(t); i++)
        harness_set(h, tensor, i, x);
}

void harness_copy(struct harness *h, int tensor, const struct harness *from, int from_tensor)
{
    for (int64_t i = 0; i < harness_size(h, tensor); i++)
        harness_set(h, tensor, i, harness_get(from, from_tensor, i));
}

int64_t harness_size(const struct harness *h, int tensor)
{
    return tensor_elements(graph_tensor(&h->graph, tensor));
}

int harness_grad(const struct harness *h, int tensor)
{
    return graph_tensor(&h->graph, tensor)->grad;
}
