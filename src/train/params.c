/* params.c: see params.h.
 *
 * A weight is cut into rectangles of whole packing units, so that a block can be packed in both
 * layouts, forward and backward, by the thread that updated it. */
#include "config.h"

#include "train/params.h"

#include "base/par.h"
#include "kern/kern_cast.h"

#include <math.h>

enum {
    BLOCK = 32768,    /* elements: a few hundred KiB with state, so it stays in L2 */
    BLOCK_COLS = 1024, /* most, where a row is longer */
};

/* A packed copy of a weight that one GEMM reads. */
struct params_shadow {
    int param;
    const struct gemm_plan *gemm;
    void *packed;
};

struct params_block {
    int param;
    struct gemm_part part; /* of the param as a matrix (rows, tensor_columns) */
    int64_t ld;
    float *w;       /* masters, of the block's first element */
    const float *g; /* their gradients */
    float *state[OPTIM_MAX_STATES];
    bool decays;
    enum dtype narrow; /* fp32: not at all */
    struct params_check check;
};

/* A block row by row; one stretch where whole rows are taken. */
static int64_t n_stretches(const struct params_block *b)
{
    return b->part.cols == b->ld ? 1 : b->part.rows;
}

static int64_t stretch_length(const struct params_block *b)
{
    return b->part.cols == b->ld ? b->part.rows * b->ld : b->part.cols;
}

static void find_states(const struct plan *plan, int param, float *state[OPTIM_MAX_STATES])
{
    int n = 0;
    for (int i = 0; i < plan->graph.n_tensors; i++) {
        const struct tensor *t = graph_tensor(&plan->graph, i);
        if (t->role == ROLE_STATE && t->of == param)
            state[n++] = t->data;
    }
}

static enum dtype narrow_type(const struct plan *plan, int param)
{
    if (plan->spec->precision.param_grads == 0)
        return DTYPE_F32;
    for (int i = 0; i < plan->graph.n_nodes; i++)
        for (int k = 0; k < plan->graph.nodes[i].n_params; k++)
            if (plan->graph.nodes[i].param[k] == param)
                return plan->graph.nodes[i].dtype;
    return DTYPE_F32;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The rectangles of a param into parts, where that is not NULL; returns how many. */
static int64_t cut(const struct tensor *t, struct gemm_part *parts)
{
    int64_t cols = tensor_columns(t), rows = cols > 0 ? tensor_elements(t) / cols : 0, n = 0;
    int64_t wide = least(cols, rows > 1 ? BLOCK_COLS : BLOCK);
    int64_t high = (BLOCK / wide + GEMM_PACK_UNIT - 1) / GEMM_PACK_UNIT * GEMM_PACK_UNIT;
    for (int64_t row = 0; row < rows; row += high)
        for (int64_t col = 0; col < cols; col += wide) {
            struct gemm_part part = {row, least(high, rows - row), col, least(wide, cols - col)};
            if (parts)
                parts[n] = part;
            n++;
        }
    return n;
}

static void add_block(struct params *p, int param, const struct gemm_part *part,
                      float *const state[OPTIM_MAX_STATES])
{
    const struct plan *plan = p->plan;
    const struct tensor *t = graph_tensor(&plan->graph, param);
    struct params_block *b = &p->blocks[p->n_blocks++];
    b->param = param;
    b->part = *part;
    b->ld = tensor_columns(t);
    int64_t at = part->row * b->ld + part->col;
    b->w = (float *)t->data + at;
    b->g = (const float *)graph_tensor(&plan->graph, t->grad)->data + at;
    for (int s = 0; s < OPTIM_MAX_STATES; s++)
        b->state[s] = state[s] ? state[s] + at : NULL;
    b->decays = !(plan->spec->optimizer.decay == 1 && t->no_decay);
    b->narrow = narrow_type(plan, param);
}

static enum rc add_blocks(struct params *p, struct pool *pool, struct diag *d)
{
    const struct graph *g = &p->plan->graph;
    int64_t most = 0, all = 0;
    for (int i = 0; i < g->n_tensors; i++) {
        int64_t n = g->tensors[i].role == ROLE_PARAM ? cut(&g->tensors[i], NULL) : 0;
        most = n > most ? n : most;
        all += n;
    }
    struct gemm_part *parts = pool_array(pool, (size_t)most, sizeof(*parts));
    p->blocks = pool_array(pool, (size_t)all, sizeof(*p->blocks));
    TRY_ALLOC(parts, d);
    TRY_ALLOC(p->blocks, d);
    for (int i = 0; i < g->n_tensors; i++) {
        if (g->tensors[i].role != ROLE_PARAM)
            continue;
        float *state[OPTIM_MAX_STATES] = {NULL};
        find_states(p->plan, i, state);
        int64_t n = cut(&g->tensors[i], parts);
        for (int64_t k = 0; k < n; k++)
            add_block(p, i, &parts[k], state);
    }
    return RC_OK;
}

static enum rc add_shadows(struct params *p, struct pool *pool, struct diag *d)
{
    const struct graph *g = &p->plan->graph;
    p->shadows = pool_array(pool, (size_t)g->n_nodes * NODE_MAX_GEMMS, sizeof(*p->shadows));
    TRY_ALLOC(p->shadows, d);
    for (int i = 0; i < g->n_nodes; i++) {
        const struct node *n = &g->nodes[i];
        for (int slot = 0; slot < n->n_gemms; slot++) {
            if (n->shadow[slot] == TENSOR_NONE)
                continue;
            const struct tensor *t = graph_tensor(g, n->shadow[slot]);
            p->shadows[p->n_shadows++] = (struct params_shadow){t->of, n->gemm[slot], t->data};
        }
    }
    return RC_OK;
}

enum rc params_init(struct params *p, const struct plan *plan, struct pool *pool, struct diag *d)
{
    *p = (struct params){.plan = plan};
    TRY(add_blocks(p, pool, d));
    return add_shadows(p, pool, d);
}

static void narrow_stretch(enum dtype t, float *g, int64_t total)
{
    uint16_t half[KERN_TILE];
    for (int64_t at = 0; at < total; at += KERN_TILE) {
        int64_t n = least(total - at, KERN_TILE);
        kern_cast(t, half, DTYPE_F32, g + at, n);
        kern_cast(DTYPE_F32, g + at, t, half, n);
    }
}

static void narrow_block(void *context, int64_t i)
{
    const struct params_block *b = &((const struct params *)context)->blocks[i];
    if (b->narrow == DTYPE_F32)
        return;
    for (int64_t r = 0; r < n_stretches(b); r++)
        narrow_stretch(b->narrow, (float *)b->g + r * b->ld, stretch_length(b));
}

void params_narrow(const struct params *p)
{
    if (p->plan->spec->precision.param_grads != 0)
        par_for(p->n_blocks, narrow_block, (void *)p);
}

static void check_block(void *context, int64_t i)
{
    struct params_block *b = &((const struct params *)context)->blocks[i];
    const struct vec_row *v = kern_vec();
    int64_t length = stretch_length(b);
    struct params_check c = {0};
    for (int64_t r = 0; r < n_stretches(b); r++)
        for (int64_t at = 0; at < length; at += KERN_TILE) {
            const float *g = b->g + r * b->ld + at;
            int64_t n = least(length - at, KERN_TILE);
            c.square_sum += v->square_sum(n, g);
            c.max_abs = fmax(c.max_abs, (double)v->max_abs(n, g));
        }
    if (!isfinite(c.square_sum)) /* rare, so that the common pass need not count */
        for (int64_t r = 0; r < n_stretches(b); r++)
            c.nonfinite += kern_count_nonfinite(
                (struct view){(void *)(b->g + r * b->ld), DTYPE_F32}, length);
    b->check = c;
}

struct params_check params_check(const struct params *p)
{
    struct params_check all = {0};
    double of_param = 0;
    par_for(p->n_blocks, check_block, (void *)p);
    for (int i = 0; i < p->n_blocks; i++) {
        const struct params_check *c = &p->blocks[i].check;
        of_param += c->max_abs;
        if (i == p->n_blocks - 1 || p->blocks[i + 1].param != p->blocks[i].param) {
            all.zero += of_param == 0;
            of_param = 0;
        }
        all.nonfinite += c->nonfinite;
        all.square_sum += c->square_sum;
        all.max_abs = fmax(all.max_abs, c->max_abs);
    }
    return all;
}

struct update {
    const struct params *params;
    struct optim_update decaying, spared; /* params with and without weight decay */
};

static void update_block(void *context, int64_t i)
{
    const struct update *u = context;
    const struct params *p = u->params;
    const struct params_block *b = &p->blocks[i];
    const struct optim_update *how = b->decays ? &u->decaying : &u->spared;
    for (int64_t r = 0; r < n_stretches(b); r++) {
        float *state[OPTIM_MAX_STATES];
        for (int s = 0; s < OPTIM_MAX_STATES; s++)
            state[s] = b->state[s] ? b->state[s] + r * b->ld : NULL;
        how->run(&how->factors, stretch_length(b), b->w + r * b->ld, b->g + r * b->ld, state);
    }
    for (int k = 0; k < p->n_shadows; k++) {
        const struct params_shadow *s = &p->shadows[k];
        if (s->param == b->param && kern_gemm_packs_parts(s->gemm))
            kern_gemm_pack_part(s->gemm, graph_tensor(&p->plan->graph, b->param)->data, b->ld,
                                s->packed, &b->part);
    }
}

void params_update(const struct params *p, const struct optim_step *step)
{
    const struct optimizer_spec *o = &p->plan->spec->optimizer;
    struct update u = {.params = p};
    o->optim->prepare(o->attrs.at, step, o->weight_decay, &u.decaying);
    o->optim->prepare(o->attrs.at, step, 0, &u.spared);
    for (int k = 0; k < p->n_shadows; k++)
        if (kern_gemm_packs_parts(p->shadows[k].gemm))
            kern_gemm_pack_begin(p->shadows[k].gemm, p->shadows[k].packed);
    par_for(p->n_blocks, update_block, &u);
    for (int k = 0; k < p->n_shadows; k++) {
        const struct params_shadow *s = &p->shadows[k];
        const struct tensor *w = graph_tensor(&p->plan->graph, s->param);
        if (!kern_gemm_packs_parts(s->gemm))
            kern_gemm_pack(s->gemm, w->data, tensor_columns(w), s->packed);
    }
}
